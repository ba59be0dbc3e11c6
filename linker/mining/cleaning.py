"""Texts of posts without what they copy: the link, the headline, and what share buttons add."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from linker.common.files import read_sections
from linker.data.tokenizers.patterns import URL
from linker.models.features.content_words import is_content_word

#: Minimum length in tokens of a run that counts as copied.
RUN = 4
#: Minimum number of content words of a post, and of an article's title and text.
POST_WORDS, ARTICLE_WORDS = 4, 3
_LEAD_WORDS = 60
# Scripts without spaces between words: a character is a token, and two count as a word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_TOKEN = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+(?:['’](?:(?![{_UNSPACED}])[^\W_])+)*")
_LINK = re.compile(
    rf"{URL}|(?<![\w@./])(?:https?://|www\.)\S+|"
    # Only the beginning of a name is tried: the search would take quadratic time otherwise, here and below.
    r"(?<![\w@./])(?<![a-z0-9-]-)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/\S*",
    re.IGNORECASE,
)
# Mentions, hashtags and cashtags are not words of a post's own: share buttons and bots append them.
_TAG = re.compile(r"(?<![\w@＠.])[@＠][\w.-]*\w|(?<!\w)[#＃$]\w+")
_VIA = re.compile(
    r"[(\[]?\b(?:via|from|by|h/?t|hat tip(?: to)?|durch|vía|por|par|da)(?:\s*:)?\s+[@＠][\w.-]*\w[)\]]?",
    re.IGNORECASE,
)
_VIA_SITE = re.compile(r"[(\[]?(?<!\w)via\s+[\w.'&-]+(?:\s+[A-Z][\w.'&-]*){0,3}[)\]]?\s*$", re.IGNORECASE)
_PHRASES = read_sections(Path(__file__).with_name("leftovers.ini"))["leftovers"]
_LEFTOVERS = re.compile(rf"(?<!\w)(?:{'|'.join(_PHRASES)})(?!\w)[\s:…»>→-]*", re.IGNORECASE)
_EMPTY = re.compile(r"[\"“”„«»‘’'(\[{]\s*[\"“”„«»‘’')\]}]")
_EDGE = " |:;,…→/\\~*•·—–-"
_START, _END = _EDGE + ".»>)]}", _EDGE + "«<←>([{"
_SENTENCE_END = re.compile(r"[.!?…]*")
_STRAY = re.compile(r"(?<=\s)[|:;,»→•·—–-]+(?=\s)")
_MARK_AFTER_SPACE = re.compile(r"(?<!\s)\s+(?=[.,!?;:…)](?:\s|$))")

# Brackets in brackets need a pass each.
_MOST_PASSES = 10

Gram = tuple[str, ...]


def copied_grams(title: str, text: str) -> frozenset[Gram]:
    """Return all runs of four tokens (eight characters in scripts without spaces) of a title and the lead of a text."""
    grams: set[Gram] = set()
    for part in (title, " ".join(text.split()[:_LEAD_WORDS])):
        tokens = [_folded(token) for token in _TOKEN.findall(part)]
        grams.update(gram for _, gram in _grams(tokens, range(len(tokens))))
    return frozenset(grams)


def cleaned(text: str, grams: frozenset[Gram]) -> str:
    """Return a post's text without links, share-button leftovers, and runs of tokens with `grams` of the article."""
    if "@" in text or "＠" in text:
        text = _VIA.sub(" ", text)
    text = _without_copies(_without_links(text), grams)
    text = _VIA_SITE.sub(" ", _LEFTOVERS.sub(" ", text))
    return _tidy(text)


def _without_links(text: str) -> str:
    return _LINK.sub(" ", text) if "/" in text or "…" in text or "www." in text.lower() else text


def has_words(text: str, least: int) -> bool:
    """Return whether a text has at least this number of content words beside links, mentions, hashtags and cashtags."""
    count = 0.0
    for token in _TOKEN.findall(_TAG.sub(" ", _without_links(text))):
        count += 0.5 if _IS_UNSPACED.match(token) else is_content_word(token)
        if count >= least:
            return True
    return False


def _folded(token: str) -> str:
    """A token without case and apostrophes, which posts often leave out."""
    return token.lower().replace("’", "").replace("'", "")


def _grams(tokens: list[str], starts: Iterable[int]) -> Iterator[tuple[int, Gram]]:
    for i in starts:
        size = 2 * RUN if _IS_UNSPACED.match(tokens[i]) else RUN
        if i + size <= len(tokens):
            yield i, tuple(tokens[i : i + size])


def _without_copies(text: str, grams: frozenset[Gram]) -> str:
    if not grams:
        return text
    tokens = [_folded(token) for token in _TOKEN.findall(text)]
    firsts = {gram[0] for gram in grams}  # most tokens of most posts begin no run
    copied = [False] * len(tokens)
    for i, gram in _grams(tokens, (i for i, token in enumerate(tokens) if token in firsts)):
        if gram in grams:
            copied[i : i + len(gram)] = [True] * len(gram)
    if not any(copied):
        return text
    pieces, end = [], 0
    for i, match in enumerate(_TOKEN.finditer(text)):
        if copied[i]:
            if i == 0 or not copied[i - 1]:
                pieces.append(text[end : match.start()])
            end = _SENTENCE_END.match(text, match.end()).end()  # type: ignore[union-attr]
    return " ".join([*pieces, text[end:]])


def _tidy(text: str) -> str:
    """Remove the marks that stood around what was removed, and repeated spaces."""
    for _ in range(_MOST_PASSES):
        before = text
        text = _MARK_AFTER_SPACE.sub("", _STRAY.sub("", _EMPTY.sub(" ", text)))
        text = " ".join(text.split()).lstrip(_START).rstrip(_END)
        if text == before:
            break
    return text
