"""Recognize the encoding of text that is not UTF-8, and recode it."""

import codecs
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from linker.common.errors import DataError
from linker.common.files import read_sections

UTF_8 = "utf-8"
_MARK, _BROKEN = codecs.BOM_UTF8, "\ufffd".encode()
#: Bytes of lines with other characters than ASCII that decide the encoding, and bytes read at most to find them.
_EVIDENCE, _AHEAD = 1 << 15, 4 << 20
#: Bytes of the longest character.
_SHORTEST = 8
_LISTS = read_sections(Path(__file__).with_name("encodings.ini"))
#: Codec → letters of its languages, or the pattern of a word in its script. The first of equals is chosen.
_SINGLE_BYTES: dict[str, tuple[str, ...] | re.Pattern[str]] = {
    **{codec: tuple(letters) for codec, *letters in map(str.split, _LISTS["letters"])},
    **{codec: re.compile(word) for codec, word in map(str.split, _LISTS["scripts"])},
}
# A file in several languages is less likely than one in one language.
_SEVERAL_LANGUAGES = 0.15
#: Codec → its usual characters beside ideographs, and the first bytes of its usual ideographs.
_SEVERAL_BYTES = {
    "cp949": ("[가-힣]", range(0)),
    "cp932": ("[぀-ヿ]", range(0x88, 0x98)),
    "gb18030": ("", range(0xB0, 0xD8)),
    "big5": ("", range(0xA4, 0xC7)),
}
_FULL_WIDTH = re.compile("[\u3000-\u3011\uff01-\uff5e…“”‘’—·]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_WORD_OR_SIGN = re.compile(r"[^\W\d_]+|[^\x00-\x7f]")
_SIGNS = frozenset("“”„‘’‚«»‹›–—…€£§°·•™©®¿¡´²³½×№،؟؛\xa0\xad\u200e\u200f")
_LONE_LETTERS = frozenset("àéèêóáâôíåæøöäüÀÉÈÊÓÁÂÔÍÅÆØÖÄÜ")
# Signs that may be between two letters.
_JOINING = frozenset("’‘·—\xad\u200e\u200f")
#: Codec → the name by which it is shown, and can be typed.
_SHOWN = {
    **{f"cp{page}": f"windows-{page}" for page in range(1250, 1259)},
    **{"cp932": "shift_jis", "cp949": "euc-kr", "cp874": "windows-874", "mac_roman": "mac-roman"},
}
#: Names of encodings that browsers read as a larger one; Excel and Windows write the larger one.
_LARGER = {
    **dict.fromkeys(("latin-1", "iso8859-1", "ascii"), "cp1252"),
    **{"shift_jis": "cp932", "euc_kr": "cp949", "gb2312": "gb18030", "gbk": "gb18030"},
    **{"iso8859-9": "cp1254", "utf-8-sig": UTF_8},
}


def codec_of(name: str) -> str:
    """Return Python's codec for the name of an encoding.

    Raises:
        DataError: if there is none of this name.
    """
    try:
        codec = codecs.lookup(name)
        b"".decode(codec.name)
    except (LookupError, ValueError) as error:
        raise DataError(
            f"--encoding {name}: unknown; use a name such as windows-1252, windows-1251, mac-roman, gb18030, "
            "shift_jis, euc-kr or utf-16"
        ) from error
    return _LARGER.get(codec.name, codec.name)


def shown_encoding(codec: str) -> str:
    """Return the name of a codec for messages, which `--encoding` accepts."""
    return _SHOWN.get(codec, codec)


def encoding_of(sample: bytes) -> str:
    """Return the codec of some text with other characters than ASCII: `utf-8` unless another fits better.

    Each codec's text is judged by its words: letters of its languages, one script in a word, no capital after a small
    letter; in Chinese, Japanese and Korean by the share of common characters.
    """
    decoded = sample.decode("utf-8", "replace")
    broken = decoded.count("\ufffd")
    whole = sum(character > "\x7f" for character in decoded) - broken
    if whole >= 2 * broken:
        return UTF_8
    scores = {codec: _score_of_words(sample, codec, letters) for codec, letters in _SINGLE_BYTES.items()}
    scores |= {codec: _score_of_characters(sample, codec) for codec in _SEVERAL_BYTES}
    best = max(scores, key=lambda codec: scores[codec])
    return best if scores[best] > 0 else UTF_8


def _score_of_words(sample: bytes, codec: str, usual: tuple[str, ...] | re.Pattern[str]) -> float:
    """How plausible a text is, from -2 to 1."""
    text = sample.decode(codec, "replace")
    good = bad = 0.0
    letters: Counter[str] = Counter()
    for match in _WORD_OR_SIGN.finditer(text):
        word = match[0]
        foreign = [letter for letter in word if letter > "\x7f"]
        if not foreign:
            continue
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        # Marks are words here, but no mark of another script is on a letter of ours.
        on_latin = not word.isalpha() and "a" <= before.lower() <= "z"
        in_script = isinstance(usual, re.Pattern) and usual.fullmatch(word)
        if in_script and not on_latin and not _has_odd_case(word):
            good += len(foreign)
        elif not word.isalpha():
            is_sign = word in _SIGNS and (word in _JOINING or not (before.isalpha() and after.isalpha()))
            good, bad = good + is_sign, bad + (not is_sign)
        elif (
            isinstance(usual, re.Pattern)
            or _has_odd_case(word)
            or max(map(len, _NOT_ASCII.findall(word)), default=0) > 3
        ):
            bad += len(foreign)
        elif len(word) == 1 and word not in _LONE_LETTERS:
            bad += 1
        else:
            letters.update(letter.lower() for letter in foreign)
    if not isinstance(usual, re.Pattern):
        # Letters that are not of the language that fits best, or of none.
        outside = [sum(letters[letter] for letter in letters if letter not in some) for some in usual]
        of_none = sum(letters[letter] for letter in letters if letter not in "".join(usual))
        unusual = min(*outside, of_none + _SEVERAL_LANGUAGES * letters.total())
        good, bad = good + letters.total() - unusual, bad + unusual
    return (good - 2 * bad) / max(good + bad, 1)


def _has_odd_case(word: str) -> bool:
    """Whether a capital follows a small letter, and one of them is not ASCII."""
    return any(
        first.islower() and second.isupper() and max(first, second) > "\x7f"
        for first, second in pairwise(word)
    )


def _score_of_characters(sample: bytes, codec: str) -> float:
    """How plausible a text in Chinese, Japanese or Korean is, from -2 to 1."""
    usual, first_bytes = _SEVERAL_BYTES[codec]
    text = re.sub(r"[\x00-\x7f]+", "", sample.decode(codec, "replace"))
    usual_count = len(re.findall(usual, text)) if usual else 0
    common = sum(
        "一" <= character <= "鿿" and character.encode(codec)[0] in first_bytes for character in text
    )
    if codec == "gb18030":  # characters that only the larger GBK has are rare
        common -= sum("一" <= character <= "鿿" and character.encode(codec)[1] < 0xA1 for character in text)
    if codec == "cp932" and not usual_count:
        common = 0
    good = usual_count + common + len(_FULL_WIDTH.findall(text))
    bad = len(text) - good
    return (good - 2 * bad) / max(len(text), 1)


class Recoder:
    """Changes text in any encoding into UTF-8, piece by piece, without byte order marks and NUL.

    The encoding is recognized at the first piece that is not ASCII.

    Args:
        forced: the codec; None: recognize it.
        chosen: called with the codec as soon as it is known.
        changed: counts characters that were changed, by what became of them.
    """

    def __init__(self, forced: str | None, chosen: Callable[[str], None], changed: Counter[str]) -> None:
        self._chosen, self._changed = chosen, changed
        self._decoder: codecs.IncrementalDecoder | None = None
        self._kept, self._evidence = b"", b""
        self._codec = ""
        self._begun = False
        if forced:
            self._choose(forced)

    def __call__(self, piece: bytes, final: bool) -> bytes:
        """Return the next piece in UTF-8; empty while the encoding is unknown."""
        if self._decoder is None:
            if piece.isascii() and not self._kept:
                return self._finished(piece, piece)
            self._kept += piece
            if not self._decided(piece, final):
                return b""
            piece, self._kept = self._kept, b""
        assert self._decoder is not None
        return self._finished(self._decoder.decode(piece, final).encode("utf-8", "replace"), piece)

    def _decided(self, piece: bytes, final: bool) -> bool:
        """Choose the codec by what was kept: UTF-8 if it is, else by enough lines that are not ASCII."""
        try:
            codecs.getincrementaldecoder(UTF_8)().decode(self._kept, final)
        except UnicodeDecodeError:
            lines = piece.splitlines(keepends=True)
            self._evidence += b"".join(line for line in lines if not line.isascii())
            if not final and len(self._evidence) < _EVIDENCE and len(self._kept) < _AHEAD:
                return False
            self._choose(encoding_of(self._evidence))
        else:
            if not final and len(self._kept) < _SHORTEST:
                return False  # perhaps no more than the beginning of a character
            self._choose(UTF_8)
        return True

    def _choose(self, codec: str) -> None:
        self._codec = codec
        self._decoder = codecs.getincrementaldecoder(codec)("replace")
        self._chosen(codec)

    def _finished(self, text: bytes, piece: bytes) -> bytes:
        if not self._begun and text:
            self._begun = True
            while text.startswith(_MARK):
                text = text[len(_MARK) :]
        if _BROKEN in text:
            replacements = piece.count(_BROKEN) if self._codec == UTF_8 else 0
            if (broken := text.count(_BROKEN) - replacements) > 0:
                shown = shown_encoding(self._codec).upper()
                self._changed[f"bytes that are not {shown} read as \ufffd"] += broken
        if zeros := text.count(b"\0"):
            self._changed["NUL characters dropped"] += zeros
        return text.replace(b"\0", b"")
