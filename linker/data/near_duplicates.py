"""Near-duplicates: copies, retweets, and texts that differ by a word or a link."""

import re
import string
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from linker.common.text_keys import keys_of
from linker.data.characters import plain
from linker.data.links.link_key import link_key
from linker.data.tokenizers.patterns import LINK, without_links

_MENTION = re.compile(r"(?<!\w)[@＠]\w+")
_RETWEET = re.compile(r"^\W*(?:rt|mt)\b", re.IGNORECASE)
# 2:1, 7.1, 4pm; not those inside words and names (G20), nor of a heart (<3).
_NUMBER = re.compile(r"(?<![\w<])\d+(?:[.,:/–-]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_WIDE = re.compile("[぀-ヿ㐀-鿿가-힣]")
_ASCII_MARKS = string.punctuation.replace("#", "").encode()
_MARKS = re.compile(f"[{re.escape(_ASCII_MARKS.decode())}“”„«»‘’‚`´–—―…]+")

_SHINGLE = 5
# Twelve bands of four: two texts with Jaccard 0.8 share one with probability 0.998, with 0.5 in half the cases.
BANDS, BAND = 12, 4
SIGNATURE = BANDS * BAND
_TEXTS_AT_ONCE = 10_000
#: Minimum Jaccard index of near-duplicates, as MinHash estimates it (48 hash functions, ± 0.06).
LIKE = 0.8
#: Length of a text below which links and numbers decide, in characters of its normal form; those of Chinese, Japanese
#: and Korean count three times. See decision 163.
SHORT = 40
# Few enough for all their shingles to stay in the CPU's cache.
_BLOCK = 1_000


def normal_form(text: str) -> str:
    """Remove links, mentions, `RT`, punctuation, case and repeated spaces."""
    text = without_links(plain(text))
    if "@" in text or "＠" in text:
        text = _MENTION.sub(" ", text)
    text = _RETWEET.sub(" ", text).lower()
    text = text.encode().translate(None, _ASCII_MARKS).decode() if text.isascii() else _MARKS.sub("", text)
    return " ".join(text.split())


def _details(text: str, form: str) -> str:
    """Return the links and numbers of a short text, without which it does not say what it is about; else nothing."""
    if len(form) >= SHORT or len(form) + 2 * len(_WIDE.findall(form)) >= SHORT:
        return ""
    text = plain(text)
    links = {link_key(link) or link for link in LINK.findall(text) if "…" not in link}
    numbers = _NUMBER.findall(_THOUSANDS.sub("", _MENTION.sub(" ", LINK.sub(" ", text))))
    return " ".join([*sorted(links), *re.findall(r"\d+", " ".join(numbers))])


def _compared(texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return the normal forms, and what their hashes are mixed with: uint64, made from `_details`; 0 without any."""
    forms = [normal_form(text) for text in texts]
    details = [_details(text, form) for text, form in zip(texts, forms)]
    salts, short = np.zeros(len(texts), np.uint64), [i for i, some in enumerate(details) if some]
    salts[short] = keys_of([details[i] for i in short])[:, 0]
    # A text of nothing but links has an empty form; one of nothing but punctuation is compared as a whole.
    return [form or ("" if some else text) for text, form, some in zip(texts, forms, details)], salts


def signatures(texts: Sequence[str]) -> np.ndarray:
    """Compute MinHash signatures over shingles of five characters of the normal forms.

    The share of equal numbers in two rows estimates the Jaccard index of the two texts within 0.06. Those of short
    texts (see `SHORT`) whose links or numbers differ have no numbers in common.

    Returns:
        uint32, texts × 48.
    """
    return _signatures(*_compared(texts))


def _signatures(forms: Sequence[str], salts: np.ndarray) -> np.ndarray:
    parts = [slice(i, i + _BLOCK) for i in range(0, len(forms), _BLOCK)]
    blocks = [_signed(forms[part]) ^ _hashed(salts[part, None], _factors()) for part in parts]
    return np.concatenate([np.empty((0, SIGNATURE), dtype=np.uint32), *blocks])


def _signed(forms: Sequence[str]) -> np.ndarray:
    lengths = np.array([len(form) for form in forms], dtype=np.int64)
    signed = np.full((len(forms), SIGNATURE), np.iinfo(np.uint32).max, dtype=np.uint32)
    factors = _factors()
    top = np.iinfo(np.uint64).max
    for i in np.flatnonzero(lengths < _SHINGLE).tolist():  # one shingle
        signed[i] = _hashed(_runs(forms[i], len(forms[i])), factors)
    long = np.flatnonzero(lengths >= _SHINGLE)
    if len(long):
        runs = _runs("".join(forms[i] for i in long.tolist()), _SHINGLE)
        ends = lengths[long].cumsum()
        # Shingles that reach into the next text belong to neither.
        across = (ends[:-1, None] - np.arange(1, _SHINGLE)).ravel()
        products = np.empty_like(runs)
        for number, factor in enumerate(factors):
            np.multiply(runs, factor, out=products)
            products[across] = top
            # The least product has the least upper half, so that only one per text is shifted.
            signed[long, number] = np.minimum.reduceat(products, ends - lengths[long]) >> np.uint64(32)
    return signed


def linked_groups(signed: np.ndarray) -> np.ndarray:
    """Group near-duplicates by their signatures, with single linkage.

    Unlike `duplicate_groups`, which compares texts, this compares signatures band by band, so that millions of texts
    need little memory. In each band a text is compared with one of those that share its numbers. If a is similar to b
    and b to c, all three are in one group. The groups do not depend on the order of the texts.

    Args:
        signed: uint32, texts × 48, from `signatures`; may be memory-mapped.

    Returns:
        int64, one per text: index of the first text of its group.
    """
    keys = _in_blocks(signed, slice(None), row_keys)
    leaders = np.arange(len(signed), dtype=np.int64)
    keys_of_leaders = np.full(len(signed), np.iinfo(np.uint64).max, dtype=np.uint64)
    for number in range(BANDS):
        columns = slice(BAND * number, BAND * (number + 1))
        band = _in_blocks(signed, columns, lambda some: band_keys(some)[:, 0])
        texts, firsts = _band_links(signed, keys, band)
        # Of several bands, the first leader counts.
        there, found = keys_of_leaders[texts], keys[firsts]
        is_first = (found < there) | ((found == there) & (firsts < leaders[texts]))
        leaders[texts[is_first]], keys_of_leaders[texts[is_first]] = firsts[is_first], found[is_first]
    earliest = np.arange(len(signed), dtype=np.int64)
    linked = np.flatnonzero(leaders != earliest)
    while len(linked) and not np.array_equal(again := leaders[leaders[linked]], leaders[linked]):
        leaders[linked] = again
    np.minimum.at(earliest, leaders[linked], linked)
    return earliest[leaders]


def _band_links(signed: np.ndarray, keys: np.ndarray, band: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Link texts with the first of those with the same numbers in a band, if they are near-duplicates.

    First in the order of `row_keys`, so that groups do not depend on the order of the texts.

    Args:
        signed: the signatures.
        keys: their `row_keys`.
        band: a value of each text that represents its numbers in the band.

    Returns:
        Texts with a link, and the texts that they are linked with: int64.
    """
    texts = np.argsort(band, kind="stable")
    band = band[texts]
    same = np.zeros(len(band) + 1, dtype=bool)
    same[1:-1] = band[1:] == band[:-1]
    shared = np.flatnonzero(same[1:] | same[:-1])
    starts = np.flatnonzero(~same[shared])
    texts = texts[shared]
    firsts = texts[_first_least(keys[texts], starts)]
    firsts = np.repeat(firsts, np.diff(np.append(starts, len(texts))))
    texts, firsts = texts[texts != firsts], firsts[texts != firsts]
    parts = [slice(i, i + _TEXTS_AT_ONCE) for i in range(0, len(texts), _TEXTS_AT_ONCE)]
    alike = [(signed[texts[part]] == signed[firsts[part]]).mean(axis=1) >= LIKE for part in parts]
    linked = np.flatnonzero(np.concatenate([np.zeros(0, dtype=bool), *alike]))
    return texts[linked], firsts[linked]


def _first_least(keys: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return where the least key of each run is, the first of several: int64, one per run."""
    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    least = np.repeat(np.minimum.reduceat(keys, starts), np.diff(np.append(starts, len(keys))))
    at = np.flatnonzero(keys == least)
    return at[np.searchsorted(at, starts)]


def _in_blocks(signed: np.ndarray, columns: slice, keys: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    parts = [keys(signed[i : i + _TEXTS_AT_ONCE, columns]) for i in range(0, len(signed), _TEXTS_AT_ONCE)]
    return np.concatenate([np.zeros(0, dtype=np.uint64), *parts])


def row_keys(signed: np.ndarray) -> np.ndarray:
    """Hash whole signatures: uint64, one per text."""
    keys = np.zeros(len(signed), dtype=np.uint64)
    for key in band_keys(signed).T:
        keys = _mixed(keys * np.uint64(0x100000001B3) + key)
    return keys


def duplicate_groups(texts: Sequence[str]) -> np.ndarray:
    """Group near-duplicates around representatives.

    A text joins the most similar earlier representative if the Jaccard index of their normal forms' shingles of five
    characters is at least 0.8; otherwise it becomes a representative. So every text of a group is similar to the first
    one. Candidates come from MinHash (Broder 1997) with banding: of pairs that just reach 0.8, 1 in 500 is missed; no
    pair below is joined, nor short texts (see `SHORT`) whose links or numbers differ.

    Returns:
        int64, one per text: index of its representative, its own if it is one.
    """
    forms, salts = _compared(texts)
    first: dict[tuple[str, int], int] = {}
    at = np.array([first.setdefault(key, i) for i, key in enumerate(zip(forms, salts.tolist()))], np.int64)
    distinct = np.array([*first.values()], dtype=np.int64)
    return distinct[_leaders([forms[i] for i in distinct], salts[distinct])][np.searchsorted(distinct, at)]


def _leaders(forms: Sequence[str], salts: np.ndarray) -> np.ndarray:
    """For each of the distinct normal forms the index of its representative."""
    leaders = np.arange(len(forms))
    buckets: list[defaultdict[int, list[int]]] = [defaultdict(list) for _ in range(BANDS)]
    shingles: dict[int, np.ndarray] = {}
    signed = _signatures(forms, salts)
    for i, bands in enumerate(band_keys(signed)):
        # A text that is shorter than a shingle is one.
        of_text = np.unique(_runs(forms[i], min(_SHINGLE, len(forms[i]))) ^ salts[i])
        keys = bands.tolist()
        candidates = sorted({other for bucket, key in zip(buckets, keys) for other in bucket.get(key, ())})
        estimates = (signed[candidates] == signed[i]).mean(axis=1) if candidates else np.zeros(0)
        best, highest = None, LIKE
        # Estimates from 48 numbers have a standard error of 0.06; more than three of them below, no exact comparison.
        for at in np.flatnonzero(estimates >= LIKE - 0.2):
            other = shingles[candidates[at]]
            shared = len(np.intersect1d(of_text, other, assume_unique=True))
            jaccard = shared / (len(of_text) + len(other) - shared)
            if jaccard > highest or (best is None and jaccard == highest):  # the earliest on ties
                best, highest = candidates[at], jaccard
        if best is not None:
            leaders[i] = best
            continue
        shingles[i] = of_text
        for bucket, key in zip(buckets, keys):
            bucket[key].append(i)
    return leaders


def _runs(text: str, size: int) -> np.ndarray:
    """uint64: a hash of every substring of `size` characters, in order."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    runs = np.zeros(max(0, len(codes) - size + 1), dtype=np.uint64)
    for shift in range(size):
        runs = runs * np.uint64(0x100000001B3) + codes[shift : shift + len(runs)]
    return _mixed(runs)


def _factors() -> np.ndarray:
    numbers = np.random.default_rng(20_200_801).integers(1, 1 << 63, size=SIGNATURE, dtype=np.uint64)
    return numbers * np.uint64(2) + np.uint64(1)


def _hashed(numbers: np.ndarray, factor: np.uint64 | np.ndarray) -> np.ndarray:
    return ((numbers * factor) >> np.uint64(32)).astype(np.uint32)  # multiply-shift


def band_keys(signed: np.ndarray) -> np.ndarray:
    """Hash the numbers of each band: uint64, texts × bands of `signed`."""
    keys = np.zeros((len(signed), signed.shape[1] // BAND), dtype=np.uint64)
    for row in range(BAND):
        keys = _mixed(keys * np.uint64(0x100000001B3) + signed[:, row::BAND])
    return keys


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """The finalizer of SplitMix64: every output bit depends on every input bit."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
