"""Languages of articles and posts: identified by CLD2 (decision 170), or as the source of a post states them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, lru_cache

from linker.common.errors import DataError
from linker.data.characters import folded, is_latin, plain
from linker.data.types import Article, Post

#: Least bytes of an article that are identified, without and with a hint: short headlines are mostly names.
_LEAST_BYTES, _LEAST_BYTES_WITH_HINT = 50, 20
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
#: Codes that sources and CLD2 use otherwise than the Unicode Consortium.
_ALSO = {"nb": "no", "fil": "tl"}
#: Languages of hardly any news or posts, which CLD2 finds in short English texts full of names.
_UNLIKELY = frozenset({"la", "ia", "ie", "vo", "gv", "kl", "rm", "to"})
#: Language → its function words in bm25s, where it has any.
_WORD_LISTS = {
    "da": "DANISH", "de": "GERMAN", "es": "SPANISH", "fr": "FRENCH", "it": "ITALIAN", "nl": "DUTCH", "no": "NORWEGIAN",
    "pt": "PORTUGUESE", "ru": "RUSSIAN", "sv": "SWEDISH", "tr": "TURKISH",
}  # fmt: skip


def language_of(article: Article, most: str | None = None) -> str | None:
    """Return the ISO 639-1 code of an article's language; None: unknown, as of many headlines.

    The language of most posts, if given, tells it from close ones (Indonesian from Malay), and shorter texts suffice.
    """
    least = _LEAST_BYTES_WITH_HINT if most else _LEAST_BYTES
    return article.language or _identified(article.full_text[:_MOST_CHARACTERS], least, most)


def language_of_most(of_posts: Counter[str]) -> str | None:
    """Return the language of more than half of the posts that were counted by `languages_of`; None: there is none."""
    language, count = next(iter(of_posts.most_common(1)), ("", 0))
    return language if count * 2 > of_posts.total() else None


def among_posts(articles: Sequence[Article], of_posts: Counter[str]) -> Sequence[Article]:
    """Return the articles; one of unknown language counts as in the language of most posts, if its script is theirs.

    Args:
        articles: the articles.
        of_posts: languages of some of the posts, from `languages_of`.
    """
    most = language_of_most(of_posts)
    return [_among(article, most) for article in articles] if most else articles


def languages_of(posts: Sequence[Post]) -> Counter[str]:
    """Count the languages of a sample of posts, evenly spaced, at most 300.

    Args:
        posts: the posts; where a post states its language, that counts.

    Returns:
        ISO 639-1 code → posts of the sample; those of unknown language are left out.
    """
    step = max(1, -(-len(posts) // _MOST_POSTS))
    return Counter(language for post in posts[::step] if (language := language_of_post(post)))


def language_of_post(post: Post) -> str | None:
    """Return the ISO 639-1 code of a post's language: as its source states it, else identified; None: unknown."""
    return language_code(post.language or "") or _identified(post.text[:_MOST_CHARACTERS], 0)


@lru_cache(maxsize=1024)
def language_code(name: str) -> str | None:
    """Return the code of a language as people and sources write it; None if it is none.

    Args:
        name: a code of ISO 639 (`en`, `eng`), also with a region or script (`en-US`, `EN_gb`), or an English name.

    Returns:
        Its ISO 639-1 code, without region; a longer one of a language that has no such code.
    """
    from babel.core import get_global

    written = name.strip(" \t\r\n[]'\"").casefold()  # tables have lists with one language as text
    first = re.split(r"[-_]", written, maxsplit=1)[0]
    code = get_global("language_aliases").get(first, first).split("_")[0]
    code = _FORMER.get(first, _ALSO.get(code, code))
    return code if code in _codes().values() and len(first) < 4 else _codes().get(written)


def known_languages(names: Sequence[str]) -> tuple[str, ...]:
    """Return the codes of languages that a user names, each once.

    Raises:
        DataError: if some are unknown.
    """
    codes = {name: language_code(name) for name in names}
    if unknown := [name for name, code in codes.items() if code is None]:
        near = get_close_matches(unknown[0].casefold(), _codes(), n=1)
        meant = f"; did you mean {language_code(near[0])} ({near[0].title()})?" if near else ""
        raise DataError(
            f"--lang {' '.join(unknown)}: not a language; write its code of ISO 639, such as en, or its English name "
            f"(repeat --lang for several){meant}"
        )
    return tuple(dict.fromkeys(code for code in codes.values() if code))


def language_name(code: str) -> str:
    """Return the English name of a language, such as `German`; the code itself if it has none."""
    from babel import Locale

    return Locale("en").languages.get(code, code)


@cache
def function_words(code: str) -> frozenset[str]:
    """Return the function words (stop words) of a language other than English, `folded`; empty if no list is known."""
    if code not in _WORD_LISTS:
        return frozenset()
    from bm25s import stopwords  # imports numba if installed, which takes seconds

    return frozenset(map(folded, getattr(stopwords, f"STOPWORDS_{_WORD_LISTS[code]}", ())))


def _among(article: Article, most: str) -> Article:
    language = language_of(article, most)
    if language is None and is_latin(article.full_text) == (_script(most) == "Latn"):
        language = most
    return article if language == language_of(article) else replace(article, language=language)


@cache
def _script(code: str) -> str:
    """Return the script that a language is usually written in, such as `Latn`; empty if it is not known."""
    from babel.core import get_global

    return next(
        (part for part in get_global("likely_subtags").get(code, "").split("_") if len(part) == 4), ""
    )


@cache
def _codes() -> dict[str, str]:
    """English name, in lower case → code."""
    from babel import Locale

    none = ("und", "mul", "zxx", "mis")
    names = {
        name.casefold(): _ALSO.get(code, code)
        for code, name in Locale("en").languages.items()
        if "_" not in code and code not in none
    }
    return {**names, "norwegian": "no", "filipino": "tl", "tagalog": "tl"}


@lru_cache(maxsize=1 << 17)
def _identified(text: str, least_bytes: int, hint: str | None = None) -> str | None:
    """Return the ISO 639-1 code of the language of most of a text; None if it is unknown or too short."""
    try:
        import pycld2
    except ImportError:  # has no wheel for this platform
        return None
    # Letters in bold or decomposed ones would hide the language, and so change which scores count how much.
    words = _CONTROL.sub(" ", _NOT_WORDS.sub(" ", plain(text)))
    try:
        known = hint is not None and hint in {code for _, code in pycld2.LANGUAGES}
        _, length, languages = pycld2.detect(words, hintLanguage=hint if known else None)
    except pycld2.error:
        return None
    _, code, percent, _ = languages[0]
    code = _FORMER.get(code, code).split("-")[0]
    if percent < _LEAST_PERCENT or length < least_bytes or len(code) != 2 or code in _UNLIKELY:
        return None
    return code
