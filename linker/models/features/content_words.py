"""Content words of a text: where they are in it, and the text without each of them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from linker.data.characters import folded, plain_pieces
from linker.data.languages import function_words, language_of
from linker.data.types import Article, Post
from linker.models.features.words import CHARACTER, COMMON, ENGLISH, UNSPACED, WORD_LISTS, lexical_words

WordWeights = list[tuple[str, float]]
Span = tuple[int, int]

_MOST_WORDS = 24
"""Words of a post that are left out one by one to measure their contribution."""
_AHEAD = 80
"""Number of characters to search for the next token; links and invisible characters may be between."""


def align(text: str, tokens: Sequence[str]) -> list[Span | None]:
    """Return the span of each token in its text; None for tokens that are not in the text (`<user>`).

    Tokens are in the order of the text, ignoring case and code points, see `plain`. Only parts of a hashtag, and pairs
    of characters in scripts without spaces, may overlap the token before them.
    """
    if text.isascii() and "&" not in text:
        return list(_places(folded(text), tokens))
    letters, starts, ends = [], list[int](), list[int]()
    for piece, start, end in plain_pieces(text):
        form = folded(piece)
        letters.append(form)
        starts += [start] * len(form)
        ends += [end] * len(form)
    return [span and (starts[span[0]], ends[span[1] - 1]) for span in _places("".join(letters), tokens)]


def _places(text: str, tokens: Sequence[str]) -> Iterator[Span | None]:
    position, tag = 0, (0, 0)
    for token in tokens:
        token = folded(token)
        within = text.find(token, *tag) if len(token) < tag[1] - tag[0] else -1
        if within >= 0:
            yield within, within + len(token)
            continue
        start = text.find(token, position, position + _AHEAD + len(token))
        if start < 0:
            yield None
            continue
        end = start + len(token)
        position = start + 1 if UNSPACED.match(token) else end
        tag = (start, end) if "#" in (text[start], text[start - 1 : start]) else (0, 0)
        yield start, end


_LETTER = re.compile(r"[^\W\d_]")


def is_content_word(word: str, languages: Iterable[str | None] = ()) -> bool:
    """Return whether a word is a content word: not a function word, common to all topics, or a numeral.

    Args:
        word: a word as `words_of` returns it.
        languages: other languages than English whose function words are none.
    """
    word = folded(word)
    if not _LETTER.search(word) or word in ENGLISH or word in COMMON or not word[1:]:
        return False
    return not any(_is_function_word(word, code) for code in languages if code)


def _is_function_word(word: str, language: str) -> bool:
    known = _function_words(language)
    if UNSPACED.match(word):
        return word in known or any(character in known for character in CHARACTER.findall(word))
    return all(part in known for part in word.split("'") if part)  # c'est


@cache
def _function_words(language: str) -> frozenset[str]:
    listed = [*function_words(language), *map(folded, WORD_LISTS.get(language, ()))]
    return frozenset(part for word in listed for part in (word, *words_of(word)))  # pairs of characters, too


def words_of(text: str) -> list[str]:
    """Return all words of a text, in order, as lexical models match them."""
    return lexical_words(text, "none")


class Shortened(NamedTuple):
    """A text, whole and without each of its content words.

    Attributes:
        words: the content words.
        posts: the whole text, followed by one text for each word.
    """

    words: Sequence[str]
    posts: Sequence[Post]


@lru_cache(maxsize=1_000)
def shortened(text: str) -> Shortened:
    """Return a text without each of its content words, all occurrences of it."""
    words, languages = words_of(text), [language_of(Article("", text))]
    content = [word for word in dict.fromkeys(words) if is_content_word(word, languages)][:_MOST_WORDS]
    spans: dict[str, list[Span]] = {word: [] for word in words}
    for word, span in zip(words, align(text, words)):
        if span:
            spans[word].append(span)
    texts = [text, *(_without(text, spans[word]) for word in content)]
    return Shortened(content, [Post(str(i), one) for i, one in enumerate(texts)])


def _without(text: str, spans: Sequence[Span]) -> str:
    # In one pass, since a post may repeat a word a million times.
    begins = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), len(text)]
    return "".join(text[begin:end] for begin, end in zip(begins, ends))
