"""Texts that say the same: copies, retweets, and what differs by a word or a link."""

from __future__ import annotations

import html
import re
import string
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from linker.data.tokenizers.patterns import URL

_URL = re.compile(URL)
_MENTION = re.compile(r"(?<!\w)[@＠]\w+")
_RETWEET = re.compile(r"^\W*(?:rt|mt)\b", re.IGNORECASE)
_MARKS = str.maketrans("", "", string.punctuation.replace("#", "") + "“”„«»‘’‚`´–—―…")

_SHINGLE = 5
# Twelve bands of four: two texts with Jaccard 0.8 share one with probability 0.998, with 0.5 in half the cases.
BANDS, BAND = 12, 4
SIGNATURE = BANDS * BAND
_TEXTS_AT_ONCE = 10_000
LIKE = 0.8
"""The least Jaccard index of near-duplicates, as MinHash estimates it (48 hash functions, ± 0.06)."""
# So few that all runs of their characters stay in the cache.
_BLOCK = 1_000


def normal_form(text: str) -> str:
    """What of a text counts: without links, mentions, `RT`, punctuation and case, single spaces."""
    if "&" in text:
        text = html.unescape(text)
    words = _RETWEET.sub(" ", _MENTION.sub(" ", _URL.sub(" ", text))).lower()
    return " ".join(words.translate(_MARKS).split())


def signatures(texts: Sequence[str]) -> np.ndarray:
    """MinHash of the normal forms' shingles of five characters: uint32, texts × 48.

    The share of equal numbers of two rows estimates the Jaccard index of the two texts, give or take 0.06.
    """
    blocks = [_signed(texts[i : i + _BLOCK]) for i in range(0, len(texts), _BLOCK)]
    return np.concatenate([np.empty((0, SIGNATURE), dtype=np.uint32), *blocks])


def _signed(texts: Sequence[str]) -> np.ndarray:
    forms = [normal_form(text) or text for text in texts]
    lengths = np.array([len(form) for form in forms], dtype=np.int64)
    signed = np.full((len(forms), SIGNATURE), np.iinfo(np.uint32).max, dtype=np.uint32)
    long = np.flatnonzero(lengths >= _SHINGLE)
    short = np.flatnonzero(lengths < _SHINGLE)
    if len(short):
        signed[short] = _signatures([_shingles(forms[i]) for i in short])
    if len(long):
        runs = _runs("".join(forms[i] for i in long), _SHINGLE)
        ends = lengths[long].cumsum()
        # Runs that reach into the next text count for neither.
        across = (ends[:-1, None] - np.arange(1, _SHINGLE)).ravel()
        for number, factor in enumerate(_factors()):
            hashed = _hashed(runs, factor)
            hashed[across] = np.iinfo(np.uint32).max
            signed[long, number] = np.minimum.reduceat(hashed, ends - lengths[long])
    return signed


def linked_groups(signed: np.ndarray) -> np.ndarray:
    """For each text the place of the first one in its group of near-duplicates; from signatures alone.

    Unlike `duplicate_groups`, which compares texts, this compares signatures band by band, so that millions of texts
    need little memory. In each band a text is compared with one of those that share its numbers. Groups are linked:
    a is in the group of c if it is like b and b like c. Which texts are in one group does not depend on their order.

    Args:
        signed: what `signatures` gives, uint32, texts × 48; may be mapped from a file.

    Returns:
        int64, one per text: its own place where no earlier text is in its group.
    """
    # In an order that the signatures alone decide, so that the leader of a band does not depend on the texts' order.
    ordered = np.argsort(_in_blocks(signed, slice(None), _row_keys), kind="stable")
    first = np.arange(len(signed), dtype=np.int64)
    for number in range(BANDS):
        columns = slice(BAND * number, BAND * (number + 1))
        band = _in_blocks(signed, columns, lambda some: band_keys(some)[:, 0])[ordered]
        order = np.argsort(band, kind="stable")
        band = band[order]
        starts = np.flatnonzero(np.concatenate([[True], band[1:] != band[:-1]])) if len(band) else order
        leaders = np.repeat(order[starts], np.diff(np.append(starts, len(order))))
        pairs = np.flatnonzero(leaders < first[order])
        for i in range(0, len(pairs), _TEXTS_AT_ONCE):
            some, others = order[pairs[i : i + _TEXTS_AT_ONCE]], leaders[pairs[i : i + _TEXTS_AT_ONCE]]
            alike = (signed[ordered[some]] == signed[ordered[others]]).mean(axis=1) >= LIKE
            first[some[alike]] = others[alike]
    while not np.array_equal(again := first[first], first):
        first = again
    groups = np.empty_like(first)
    groups[ordered] = ordered[first]
    earliest = np.full(len(groups), len(groups), dtype=np.int64)
    np.minimum.at(earliest, groups, np.arange(len(groups)))
    return earliest[groups]


def _in_blocks(signed: np.ndarray, columns: slice, keys: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    parts = [keys(signed[i : i + _TEXTS_AT_ONCE, columns]) for i in range(0, len(signed), _TEXTS_AT_ONCE)]
    return np.concatenate([np.zeros(0, dtype=np.uint64), *parts])


def _row_keys(signed: np.ndarray) -> np.ndarray:
    keys = np.zeros(len(signed), dtype=np.uint64)
    for key in band_keys(signed).T:
        keys = _mixed(keys * np.uint64(0x100000001B3) + key)
    return keys


def duplicate_groups(texts: Sequence[str], threshold: float = 0.8) -> np.ndarray:
    """For each text the place of the first one that says the same.

    A text joins the earlier text that it is most like, if the Jaccard index of their normal forms' shingles of five
    characters is at least `threshold`; otherwise it stands for itself, and later ones may join it. So all texts of a
    group are that like the first. Candidates come from MinHash (Broder 1997) with banding; 1 text in 500 that just
    reaches a threshold of 0.8 is missed, none joins that should not.

    Returns:
        int64, one per text: its own place where no earlier text is like it.
    """
    forms = [normal_form(text) for text in texts]
    first: dict[str, int] = {}
    # Of a text that is nothing but links or marks, all counts; it is a copy of its like only.
    keys = (form or f"\n{text}" for form, text in zip(forms, texts))
    groups = np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.int64)
    distinct = np.array([i for i in first.values() if forms[i]], dtype=np.int64)
    joined = np.arange(len(texts), dtype=np.int64)
    joined[distinct] = distinct[_leaders([forms[i] for i in distinct], threshold)]
    return joined[groups]


def _leaders(forms: Sequence[str], threshold: float) -> np.ndarray:
    """For each of distinct texts the one it joins, or itself."""
    leaders = np.arange(len(forms))
    buckets: list[defaultdict[int, list[int]]] = [defaultdict(list) for _ in range(BANDS)]
    kept_shingles: dict[int, np.ndarray] = {}
    signed = np.empty((len(forms), SIGNATURE), dtype=np.uint32)
    for start in range(0, len(forms), _TEXTS_AT_ONCE):
        shingles = [_shingles(form) for form in forms[start : start + _TEXTS_AT_ONCE]]
        signed[start : start + len(shingles)] = _signatures(shingles)
        keys = band_keys(signed[start : start + len(shingles)]).tolist()
        for i, (own, bands) in enumerate(zip(shingles, keys), start):
            near = {other for bucket, key in zip(buckets, bands) for other in bucket.get(key, ())}
            best = _most_like(i, own, sorted(near), signed, kept_shingles, threshold)
            if best is not None:
                leaders[i] = best
                continue
            kept_shingles[i] = own
            for bucket, key in zip(buckets, bands):
                bucket[key].append(i)
    return leaders


def _most_like(
    place: int,
    shingles: np.ndarray,
    candidates: list[int],
    signed: np.ndarray,
    kept: dict[int, np.ndarray],
    threshold: float,
) -> int | None:
    """The candidate with the highest Jaccard index, the earliest of equals; None if all are below the threshold."""
    if not candidates:
        return None
    guessed = (signed[candidates] == signed[place]).mean(axis=1)
    best, most = None, threshold
    # Signatures of 48 numbers err by 0.06; three times that far below, an exact look is not worth it.
    for i in np.flatnonzero(guessed >= threshold - 0.2):
        other = kept[candidates[i]]
        shared = len(np.intersect1d(shingles, other, assume_unique=True))
        likeness = shared / (len(shingles) + len(other) - shared)
        if likeness > most or (best is None and likeness == most):
            best, most = candidates[i], likeness
    return best


def _shingles(form: str) -> np.ndarray:
    """uint64: hashes of all runs of five characters, sorted, each once; a shorter text is one run."""
    return np.unique(_runs(form, min(_SHINGLE, len(form))))


def _runs(text: str, size: int) -> np.ndarray:
    """uint64: a hash of every run of so many characters, in order."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    runs = np.zeros(max(0, len(codes) - size + 1), dtype=np.uint64)
    for shift in range(size):
        runs = runs * np.uint64(0x100000001B3) + codes[shift : shift + len(runs)]
    return _mixed(runs)


def _signatures(shingles: Sequence[np.ndarray]) -> np.ndarray:
    """uint32, texts × 48: the least of each of 48 hash functions over a text's shingles."""
    lengths = np.array([len(one) for one in shingles])
    signed = np.full((len(shingles), SIGNATURE), np.iinfo(np.uint32).max, dtype=np.uint32)
    if not lengths.sum():
        return signed
    everything = np.concatenate(shingles)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])[lengths > 0]
    for number, factor in enumerate(_factors()):
        signed[lengths > 0, number] = np.minimum.reduceat(_hashed(everything, factor), starts)
    return signed


def _factors() -> np.ndarray:
    generator = np.random.default_rng(20_200_801)
    return generator.integers(1, 1 << 63, size=SIGNATURE, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def _hashed(numbers: np.ndarray, factor: np.uint64) -> np.ndarray:
    return ((numbers * factor) >> np.uint64(32)).astype(np.uint32)  # multiply-shift


def band_keys(signed: np.ndarray) -> np.ndarray:
    """uint64, texts × bands: a hash of each band's numbers, of the bands that are given."""
    keys = np.zeros((len(signed), signed.shape[1] // BAND), dtype=np.uint64)
    for row in range(BAND):
        keys = _mixed(keys * np.uint64(0x100000001B3) + signed[:, row::BAND])
    return keys


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """The last step of SplitMix64: every bit depends on all."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
