"""The characters of texts that strangers wrote, as all models read them: in linear time, without errors."""

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache


def character_class(codes: set[int]) -> str:
    """Return the inside of a regular expression's character class for these characters."""
    starts = sorted(code for code in codes if code - 1 not in codes)
    ends = sorted(code for code in codes if code + 1 not in codes)
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))


def _signs() -> str:
    """Vowel signs, accents and joiners inside words.

    Python's `\\w` lacks these, which would split words of Hindi, Tamil or Thai.
    """
    plane = range(0x300, 0xFE00)
    codes = {code for code in plane if unicodedata.category(chr(code)) in ("Mn", "Mc")}
    # Outside the basic plane the Indic blocks as a whole, because many small ranges slow down every search.
    return character_class(codes | {0x200C, 0x200D} | set(range(0x11000, 0x12000)))


#: Inside of a character class.
MARKS = _signs()

#: Characters of Chinese, Japanese and Thai, which have no spaces between words; a word has about two characters.
UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")

# Python refuses whole numbers of more than 4,300 digits.
_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{1000,};?")
# Composing takes quadratic time in a run of marks. A letter has some dozens at most, also where people overdo it.
_MOST_MARKS = 256
# Ligatures become up to 18 characters: no text grows beyond this length.
_LONGEST = 10_000_000
#: What no reader sees, and Unicode calls ignorable: soft hyphens, spaces of no width, marks of direction, variation
#: selectors, fillers. Joiners and tags are parts of emojis.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0100-\U000e01ef"
)
_IS_INVISIBLE = re.compile(f"[{_INVISIBLE}]")
# Most texts have only characters of this class, all of which are plain already: this one search is all they need.
_NOT_PLAIN = re.compile(
    "[^\x00-\x9f¡-§©«¬®°±¶·»¿-ıĴ-ľŁ-ňŊ-žΑ-ΡΣ-ΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώА-ҁא-תء-غف-ي"
    "‐‒-‖‘-•…‰‱‹›€☀-❵➔-➿、。〈-】ぁ-ゖァ-ヺー一-鿿가-힣\U0001f300-\U0001faff]"
)
# Joiners choose the shape of letters in Arabic and Indic scripts and connect emojis; elsewhere they do nothing.
_IDLE_JOINERS = re.compile(
    "(?<![\u0590-\u1cff\u2100-\u2bff\ua800-\uabff\U00010a00-\U00011fff\U0001e900-\U0001faff])[\u200c\u200d]+"
)
#: Emojis that Unicode would replace by letters.
_EMOJIS = re.compile("[™ℹⓂ㊗㊙\U0001f200-\U0001f2ff]")
_PIECE = re.compile(
    r"&#\w+;?|&[^\s<&#;]{1,32};?"
    rf"|.(?:[{MARKS}{_INVISIBLE}\u1100-\u11ff\uff9e\uff9f\U0001d165-\U0001d172\U0001e000-\U0001e94f]|(?<=\u0e4d)\u0e32|(?<=\u0ecd)\u0eb2|\u200d.)*",
    re.DOTALL,
)
# Anything but Latin letters, punctuation and emojis; Turkish i, and apostrophes other than the common ones.
_NOT_LATIN = re.compile(
    "[^\x00-\u012f\u0132-\u0217\u021c-\u02af\u2000-\u201a\u201c-\u2031\u2033-\u20cf\u2100-\u2bff\U0001f000-\U0001faff]"
)
# What differs between spellings of a word that are the same to its readers: the kind of apostrophe, letters of Turkish,
# Greek, Romanian and Russian that capitals, keyboards or habit do not tell apart, Arabic letters of Persian keyboards,
# the hamza on an alef, the tatweel and vowel signs of Arabic, the points of Hebrew.
_FOLDED = str.maketrans(
    dict.fromkeys("’‘‛ʼ′ꞌ´`", "'")
    | dict(zip("ıςșțёیکأإآٱ", "iσşţеيكاااا", strict=True))
    | dict.fromkeys("\u0640\u0670\u200c\u200d")
    | dict.fromkeys(
        map(chr, [*range(0x64B, 0x653), *range(0x591, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x5C4, 0x5C5, 0x5C7])
    )
)
# Lines through, under and over letters, with which people format texts where a platform cannot.
_LINES = re.compile("[\u0305\u0332-\u0338\u033f]")
#: Letters that people write in boxes, parentheses and small capitals, which have no such compatibility forms.
_SHAPED = str.maketrans(
    {chr(start + at): chr(ord("A") + at) for start in (0x1F110, 0x1F150, 0x1F170) for at in range(26)}
    | {chr(0x249C + at): chr(ord("a") + at) for at in range(26)}
    | dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True))
)


def word_count(text: str) -> int:
    """Count words; in scripts without spaces, two characters count as one."""
    unspaced = len(UNSPACED.findall(text))
    return len(UNSPACED.sub(" ", text).split()) + (unspaced + 1) // 2


def plain(text: str) -> str:
    """Return a text as all models read it: the same for all code points that show the same letters.

    Entities of HTML are replaced by their characters. Letters are composed with their marks. Bold, wide and other
    compatibility forms of letters and digits become plain ones, as in the form NFKC, and so do letters in boxes, small
    capitals, letters with a line through or under them, and the digits of other scripts. Every kind of space becomes a
    space. Characters that no reader sees are removed. Punctuation and emojis stay as they are.
    """
    if "&" in text:
        text = unescaped(text)
    if text.isascii() or not _NOT_PLAIN.search(text):
        return text
    if len(text) > _MOST_MARKS and _marks().search(text[::_MOST_MARKS]):  # where every run of so many has one
        text = _marks().sub(lambda run: run[0][:_MOST_MARKS], text)
    most = max(_LONGEST, len(text))
    text = unicodedata.normalize("NFD", text).translate(_PLAIN_FORMS)
    if "\u200c" in text or "\u200d" in text:
        text = _IDLE_JOINERS.sub("", text)
    text = unicodedata.normalize("NFC", text)[:most]
    if _LINES.search(text):
        text = unicodedata.normalize("NFC", _LINES.sub("", text))
    return text.replace("\u0e4d\u0e32", "\u0e33").replace("\u0ecd\u0eb2", "\u0eb3")


def folded(text: str) -> str:
    """Return a plain text in lower case, without what differs between spellings of the same word."""
    if is_latin(text):
        for apostrophe in "’‘´`":
            text = text.replace(apostrophe, "'")
        return text.casefold()
    return text.casefold().replace("i\u0307", "i").translate(_FOLDED)


def is_latin(text: str) -> bool:
    """Return whether a text has no other letters than Latin ones without separate marks."""
    return text.isascii() or not _NOT_LATIN.search(text)


def plain_pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the pieces of a plain text, each with the start and end of its characters in the text.

    A piece is a letter with its marks, or one character of an entity's text.
    """
    for match in _PIECE.finditer(text):
        start, end = match.span()
        piece = plain(match[0])
        if piece == match[0]:
            yield from ((character, at, at + 1) for at, character in enumerate(piece, start))
        else:
            yield piece, start, end


def unescaped(text: str) -> str:
    """Replace the entities of HTML by their characters; numbers of a thousand digits by U+FFFD."""
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text))


class _PlainForms(dict[int, str]):
    """The plain form of single characters of decomposed texts, made when `str.translate` first asks for one."""

    def __missing__(self, code: int) -> str:
        return self.setdefault(code, _plain_form(chr(code)))


_PLAIN_FORMS = _PlainForms()


def _plain_form(character: str) -> str:
    if _IS_INVISIBLE.match(character):
        return ""
    if character in "\u0e33\u0eb3":  # vowels of Thai and Lao that Unicode's form NFKC takes apart
        return character
    form = unicodedata.normalize("NFKD", character.translate(_SHAPED))
    category = unicodedata.category(character)
    if category in ("Nd", "No") and (digit := unicodedata.digit(character, None)) is not None:
        return str(digit)  # also ❷, which has no compatibility form
    if category == "Zs":
        return " "
    # `…` and accents without a letter would become several marks.
    is_word = any(map(str.isalnum, form)) and not _EMOJIS.match(character)
    return form if is_word or (len(form) == 1 and not _EMOJIS.match(character)) else character


@cache
def _marks() -> re.Pattern[str]:
    """A run of marks."""
    codes = {code for code in range(0x300, 0x1F000) if unicodedata.combining(chr(code))}
    return re.compile(f"[{character_class(codes)}]+")
