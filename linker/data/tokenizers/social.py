"""The default tokenizer: one regular expression for tweets and news."""

import re
import unicodedata
from typing import Literal

from typing_extensions import override

from linker.data.characters import plain
from linker.data.tokenizers.patterns import EMOJI, EMOTICON, KEYCAP, LINK, URL, WORD, hashtag_words
from linker.data.tokenizers.tokenizer import Tokenizer

_NUMBER = r"\d(?:\d|[.,:]\d)*(?!\w)"
_ACRONYM = r"[A-Za-z]\.(?:[A-Za-z]\.)*[A-Za-z](?!\w)\.?"
_WORDS = rf"{WORD}(?:['’\-]{WORD})*(?:@[\w.-]+\.\w+)?"
_TOKEN = re.compile(
    # The first alternative is the most common case of _WORDS, for speed.
    rf"[A-Za-z]+(?= )|{URL}|[@＠]\w+|{KEYCAP}|[#＃]{WORD}|{_NUMBER}|{_ACRONYM}|{_WORDS}|{EMOTICON}|{EMOJI}"
    r"|['’](?:s|re|ve|ll|d|m)(?!\w)"  # after a mention, hashtag or number
    r"|!+|\?+|\.\.+|…+|\S"
)

_IS_EMOJI = re.compile(f"{EMOJI}|{KEYCAP}")
_IS_EMOTICON = re.compile(EMOTICON)
_IS_NUMBER = re.compile(_NUMBER)
_IS_ACRONYM = re.compile(_ACRONYM)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_EASTERN = re.compile(f"[{_HAN}]|[\u3040-\u309f]+|[\u30a0-\u30ff]+")
_IS_EASTERN = re.compile(f"[{_HAN}\u3040-\u30ff]")
_REPEATED = re.compile(r"(.)\1\1")  # several times faster than _ELONGATED, which it precedes
_ELONGATED = re.compile(r"([^\W\d_])\1{2,}")
_NOT_ELONGATED = re.compile(r"[ivx]+|(.)\1\1")  # Roman numerals; www, kkk, zzz
_CLITIC = re.compile(r"(.+?)(n't|'(?:s|re|ve|ll|d|m))", re.IGNORECASE)
_STEMS = {"ca": "can", "wo": "will", "sha": "shall"}
_UNSEEN = {"Cc", "Cf", "Cs", "Co"}  # control, format, surrogate and private characters
_PUNCTUATION = str.maketrans(
    dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’‚`´", "'") | dict.fromkeys("–—―", "-")
)

_REMEMBERED, _LONGEST_REMEMBERED = 1 << 17, 40


@Tokenizer.register("social")
class SocialTokenizer(Tokenizer):
    """Tokenizes tweets and news of any language.

    Args:
        lowercase: lower-case words, hashtags and mentions.
        hashtags: "split": the words of the hashtag (`#BostonMarathon` → `boston marathon`); "keep": `#bostonmarathon`;
            "both": the words and, if there are several, the hashtag.
        mentions: "mask": `<user>`; "keep": `@name`.
        numbers: "keep": the number, without grouping commas; "mask": `<number>`.
        contractions: "split": `obama's` → `obama 's`, `don't` → `do n't`; "keep": one token.
        punctuation: whether punctuation marks are tokens; emoticons and emojis always are.
    """

    def __init__(
        self,
        lowercase: bool = True,
        hashtags: Literal["split", "keep", "both"] = "split",
        mentions: Literal["mask", "keep"] = "mask",
        numbers: Literal["keep", "mask"] = "keep",
        contractions: Literal["split", "keep"] = "split",
        punctuation: bool = False,
    ) -> None:
        self.lowercase, self.hashtags, self.mentions = lowercase, hashtags, mentions
        self.numbers, self.contractions, self.punctuation = numbers, contractions, punctuation
        self._normal_forms = _NormalForms(self)

    @override
    def tokenize(self, text: str) -> list[str]:
        text = plain(text)
        if "://" in text:  # a link may follow a word without a space
            text = text.replace("https://", " https://").replace("http://", " http://")
        # Normal forms are cached by piece. Joining and splitting drops empty forms and splits long ones, both in C.
        return " ".join(map(self._normal_forms.__getitem__, _TOKEN.findall(text))).split()

    def normal_form(self, piece: str) -> str:
        """Return the tokens of a `piece` of text, separated by spaces; empty if it is dropped."""
        if LINK.fullmatch(piece):
            return "<url>"
        first = piece[0]
        if first in "@＠" and len(piece) > 1:
            return "<user>" if self.mentions == "mask" else self._cased("@" + piece[1:])
        if _IS_EMOJI.fullmatch(piece):
            return piece
        if first in "#＃" and len(piece) > 1:
            return self._hashtag(piece[1:])
        if _IS_NUMBER.fullmatch(piece):
            return self._number(piece)
        if _IS_ACRONYM.fullmatch(piece):
            return self._cased(piece.rstrip(".") + ".")
        if _IS_EMOTICON.fullmatch(piece):
            return piece.replace("-", "", 1) if len(piece) == 3 and piece[1] == "-" else piece
        if any(map(str.isalnum, piece)):
            return "<email>" if "@" in piece else " ".join(map(self._word, re.split("[-_]", piece)))
        return self._mark(piece)

    def _cased(self, word: str) -> str:
        return word.lower() if self.lowercase else word

    def _number(self, piece: str) -> str:
        if self.numbers == "mask":
            return "<number>"
        return piece.replace(",", "") if _GROUPED.fullmatch(piece) else piece

    def _hashtag(self, tag: str) -> str:
        whole = "#" + self._cased(tag)
        if self.hashtags == "keep":
            return whole
        parts = [self._word(part) for part in hashtag_words(tag)]
        return " ".join([*parts, whole] if self.hashtags == "both" and len(parts) > 1 else parts)

    def _word(self, word: str) -> str:
        if _IS_NUMBER.fullmatch(word):
            return self._number(word)
        word = self._cased(word).replace("’", "'")
        if not word.isascii() and _IS_EASTERN.search(word):
            word = _EASTERN.sub(r" \g<0> ", word)
        if _REPEATED.search(word) and not _NOT_ELONGATED.fullmatch(word.lower()):
            word = _ELONGATED.sub(r"\1\1", word)
        if self.contractions == "split" and "'" in word and (match := _CLITIC.fullmatch(word)):
            stem, clitic = match.groups()
            word = f"{_STEMS.get(stem.lower(), stem) if clitic[0] in 'nN' else stem} {clitic}"
        return word

    def _mark(self, piece: str) -> str:
        if (
            not self.punctuation
            or unicodedata.category(piece[0]) in _UNSEEN
            or "\ufe00" <= piece[0] <= "\ufe0f"
        ):
            return ""
        if piece[0] == "…" or piece.startswith(".."):
            return "..."
        return piece[0].translate(_PUNCTUATION)


class _NormalForms(dict[str, str]):
    """A bounded cache of normal forms by piece."""

    def __init__(self, tokenizer: SocialTokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, piece: str) -> str:
        form = self._tokenizer.normal_form(piece)
        if len(piece) <= _LONGEST_REMEMBERED:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[piece] = form
        return form
