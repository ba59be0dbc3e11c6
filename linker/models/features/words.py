"""Words of a text as BM25 and TF-IDF match them."""

import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from linker.common.files import read_sections
from linker.data.characters import MARKS, folded, is_latin, plain
from linker.data.languages import function_words
from linker.data.tokenizers.patterns import WORD

#: `function words` and `common words` of English, and function words of other languages by their codes.
WORD_LISTS = {
    name: frozenset(" ".join(lines).split())
    for name, lines in read_sections(Path(__file__).with_name("function_words.ini")).items()
}
ENGLISH, COMMON = WORD_LISTS["function words"], WORD_LISTS["common words"]

StopWords = Literal["english", "none"]
#: In the place of stop words: all words, each as its runs of four characters.
CHARACTERS = "characters"
_RUN = 4

# Scripts whose words are not separated, Thai, Lao, Burmese, Khmer, Japanese, Chinese; and Hangul, whose words carry
# particles.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
#: A run of these scripts.
UNSPACED = re.compile(rf"[{_UNSPACED}]+")
_LINK_OR_MENTION = re.compile(rf"https?://[^\s{_UNSPACED}]+|www\.[^\s{_UNSPACED}]+|@\w+")
_HASHTAG = re.compile(rf"#({WORD})")
_HASHTAG_PART = re.compile(rf"[^\W\d_]?(?:[^\W\d_A-Z]|[{MARKS}])+|[A-Z]+(?![a-z])|\d+")
_LATIN_WORD = re.compile(r"[^\W_]++(?:'[^\W_]++)*+")
#: Bytes of ASCII, with spaces for what is in no word.
_SPACED = bytes(code if chr(code).isalnum() or chr(code) == "'" else 32 for code in range(128)) * 2
_LETTERS = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
_WORD = re.compile(rf"{_LETTERS}(?:'{_LETTERS})*")
#: A character with its marks.
CHARACTER = re.compile(rf".[{MARKS}]*", re.DOTALL)


def lexical_words(text: str, stop_words: str = "english") -> list[str]:
    """Split a text into the lower-cased words that lexical models match, the same for all code points of a word.

    Links, mentions and the English genitive are removed. A hashtag counts as a whole and by its parts (#ClimateMarch
    gives climatemarch, climate and march). Scripts that do not separate words, such as Chinese, and Hangul give every
    pair of adjacent characters.

    Args:
        text: a text.
        stop_words: `english` removes English function words, `none` keeps all words. The ISO 639-1 code of another
            language removes its function words, and separates words at apostrophes (l'eau). `characters` gives every
            four adjacent characters of a word with an underscore before and after it.
    """
    if stop_words == CHARACTERS:
        return [run for word in lexical_words(text, "none") for run in runs_of(word)]
    text = plain(text)
    if "@" in text or "://" in text or "www." in text:  # a search takes longer
        text = _LINK_OR_MENTION.sub(" ", text)
    if "#" in text:
        text = _HASHTAG.sub(lambda tag: " ".join((tag[1], *_hashtag_parts(tag[1]))), text)
    text = folded(text)
    if stop_words not in ("english", "none"):
        text = text.replace("'", " ")
    if text.isascii():  # the words of the pattern, in a fifth of the time
        words = text.encode().translate(_SPACED).decode().replace("''", " ").split()
        if "'" in text:
            words = [bare for word in words if (bare := word.strip("'"))]
    elif is_latin(text):
        words = _LATIN_WORD.findall(text)
    else:
        words = _WORD.findall(UNSPACED.sub(_pairs, text))
    if "'s" in text:
        words = [word.removesuffix("'s") for word in words]
    if stop_words == "none":
        return words
    removed = ENGLISH if stop_words == "english" else function_words(stop_words)
    return [word for word in words if word not in removed]


@lru_cache(maxsize=1 << 16)
def runs_of(word: str) -> tuple[str, ...]:
    """Return every four adjacent characters of `_word_`; the whole of a shorter one."""
    spaced = f"_{word}_"  # no word contains one
    return tuple(spaced[i : i + _RUN] for i in range(max(1, len(spaced) - _RUN + 1)))


def _pairs(match: re.Match[str]) -> str:
    """Separate each pair of adjacent characters, with the marks of the second, from the others by spaces."""
    characters = CHARACTER.findall(match[0])
    pairs = [first + second for first, second in pairwise(characters)] or characters
    return f" {' '.join(pairs)} "


def _hashtag_parts(tag: str) -> list[str]:
    parts = _HASHTAG_PART.findall(tag)
    return parts if len(parts) > 1 else []
