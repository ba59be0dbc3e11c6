"""Languages of articles and posts: identified by CLD2 (decision 170), or as the source of a post states them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache

from linker.data.types import Article, Post

#: Shorter texts, such as headlines full of names, are identified too unreliably to score an article by.
_LEAST_BYTES_OF_AN_ARTICLE = 50
#: Share of a text that is in its language at least; quotes and names may be in others.
_LEAST_PERCENT = 50
#: Posts without a stated language that are identified at most, evenly spaced.
_MOST_POSTS = 300
# The beginning of longer texts decides; they are kept with their language.
_MOST_CHARACTERS = 100_000

_NOT_WORDS = re.compile(r"https?://\S+|www\.\S+|@\w+|\bRT\b")
#: CLD2 rejects control characters.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
#: Former codes of ISO 639-1, which CLD2 and older posts use.
_FORMER = {"iw": "he", "in": "id", "jw": "jv", "ji": "yi", "mo": "ro"}
#: Languages of hardly any news or posts, which CLD2 finds in short English texts full of names.
_UNLIKELY = frozenset({"la", "ia", "ie", "vo", "gv", "kl", "rm", "to"})
#: Language → its function words in bm25s, where it has any.
_WORD_LISTS = {
    "da": "DANISH", "de": "GERMAN", "es": "SPANISH", "fr": "FRENCH", "it": "ITALIAN", "nl": "DUTCH", "no": "NORWEGIAN",
    "pt": "PORTUGUESE", "ru": "RUSSIAN", "sv": "SWEDISH", "tr": "TURKISH",
}  # fmt: skip


def language_of(article: Article) -> str | None:
    """Identify the language of an article: its ISO 639-1 code; None: unknown, as of most headlines alone."""
    return _identified(article.full_text[:_MOST_CHARACTERS], _LEAST_BYTES_OF_AN_ARTICLE)


def languages_of(posts: Sequence[Post]) -> Counter[str]:
    """Count the languages of a sample of posts, evenly spaced, at most 300.

    Args:
        posts: the posts; where a post states its language, that counts.

    Returns:
        ISO 639-1 code → posts of the sample; those of unknown language are left out.
    """
    step = max(1, -(-len(posts) // _MOST_POSTS))
    found = (_stated(post.language) or _identified(post.text[:_MOST_CHARACTERS], 0) for post in posts[::step])
    return Counter(language for language in found if language)


def language_name(code: str) -> str:
    """Return the English name of a language, such as `German`; the code itself if it has none."""
    return _names().get(code, code)


@cache
def function_words(code: str) -> frozenset[str]:
    """Return the function words (stop words) of a language other than English; empty if no list is known."""
    if code not in _WORD_LISTS:
        return frozenset()
    from bm25s import stopwords  # imports numba if installed, which takes seconds

    return frozenset(getattr(stopwords, f"STOPWORDS_{_WORD_LISTS[code]}", ()))


def _stated(language: str | None) -> str | None:
    """Return the code of a language as sources state it (`en`, `en-US`, `EN`, `English`); None if it is none."""
    if not language:
        return None
    first = re.split(r"[-_]", language.strip().lower(), maxsplit=1)[0]
    code = _FORMER.get(first, first)
    if code in _names():
        return code
    return next((code for code, name in _names().items() if name.lower() == first), None)


@lru_cache(maxsize=8192)
def _identified(text: str, least_bytes: int) -> str | None:
    """Return the ISO 639-1 code of the language of most of a text; None if it is unknown or too short."""
    try:
        import pycld2
    except ImportError:  # has no wheel for this platform
        return None
    words = _CONTROL.sub(" ", _NOT_WORDS.sub(" ", text))
    try:
        _, length, found = pycld2.detect(words)
    except pycld2.error:
        return None
    _, code, percent, _ = found[0]
    code = _FORMER.get(code, code).split("-")[0]
    if percent < _LEAST_PERCENT or length < least_bytes or len(code) != 2 or code in _UNLIKELY:
        return None
    return code


@cache
def _names() -> dict[str, str]:
    try:
        import pycld2
    except ImportError:
        return {}
    known = ((_FORMER.get(code, code), name) for name, code in pycld2.LANGUAGES)
    return {code: name.replace("_", " ").title() for code, name in known if len(code) == 2}
