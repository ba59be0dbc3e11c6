"""Tests for the characters of texts as models read them."""

import random
import unicodedata
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from linker.data.characters import folded, plain, plain_pieces
from linker.models.features.words import lexical_words

_LONG = 2_001
_BOLD = str.maketrans({chr(97 + i): chr(0x1D41A + i) for i in range(26)})
_WIDE = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)} | {" ": "\u3000"})
_FORMS: list[Literal["NFC", "NFD", "NFKC", "NFKD"]] = ["NFC", "NFD", "NFKC", "NFKD"]

_ALPHABETS = st.sampled_from(
    ["abcé ñöåß'’#", "привет йё ", "한국어 가각", "がぱプ漢字、", "हिन्दी क़ि ", "ไทย ก่ำ", "عَرَبِي لا"]
)
_WORDS = _ALPHABETS.flatmap(lambda letters: st.text(letters, max_size=30))


def test_plain() -> None:
    for text, expected in [
        ("Hafnarfjo\u0308r\u00f0ur", "Hafnarfjörður"),
        ("Ferry crews".lower().translate(_BOLD), "ferry crews"),
        ("Strike, no!".translate(_WIDE), "Strike, no!"),
        (
            "Fer\u00adry cr\u200bews st\u2060ri\ufeffke \u200eto\u200f \u202abe\u202c",
            "Ferry crews strike to be",
        ),
        ("w\u200co\u200dr\ufe0ed", "word"),
        ("o\ufb03cial \ufb01re", "official fire"),
        ("no\u00a0break\u202fspace\u3000wide", "no break space wide"),
        ("ﾌｪﾘｰ ﾊﾟﾝ", "フェリー パン"),
        (unicodedata.normalize("NFD", "파업 한국"), "파업 한국"),
        ("ﻻ ﺑﺎﺏ", "لا باب"),
        ("caf&eacute; &amp; bar&shy;keeper", "café & barkeeper"),
        ("ⅷ m² ① Ⓐ №", "viii m2 1 A No"),
        ("🅵🅔🄡⒭⒴ ꜱᴛʀɪᴋᴇ f\u0336e\u0336r\u0332r\u0305y\u0332 a ≠ b", "FERry strike ferry a ≠ b"),
        ("❷⓿❷❻ ②⓪②⑥ ➊➀ ✔", "2026 2026 11 ✔"),
        ("٢٠٢٣ ۲۰۲۳ २०२३", "2023 2023 2023"),
        # Punctuation, emojis and joiners that choose shapes of letters stay.
        ("“well” … it’s ´ ™ ℹ", "“well” … it’s ´ ™ ℹ"),
        (
            "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 🏴\U000e0067\U000e007f",
            "👩\u200d👩\u200d👧 ❤\u200d🔥 🏴\U000e0067\U000e007f",
        ),
        ("می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"),
    ]:
        assert plain(text) == expected
        assert plain(expected) == expected


@given(st.text(max_size=60))
def test_plain_text_is_the_same_for_composed_and_decomposed_letters(text: str) -> None:
    text = text.replace("&", "")

    assert (
        plain(unicodedata.normalize("NFD", text)) == plain(unicodedata.normalize("NFC", text)) == plain(text)
    )
    assert plain(plain(text)) == plain(text)


@given(_WORDS, st.sampled_from("\u00ad\u200b\u2060\ufeff\u200e\u202e\ufe0f"), st.integers(0, 30))
def test_words_are_the_same_in_each_form_and_with_invisible_characters(text: str, char: str, at: int) -> None:
    words = lexical_words(text)

    for form in _FORMS:
        assert lexical_words(unicodedata.normalize(form, text)) == words
    assert lexical_words(text[:at] + char + text[at:]) == words


@given(_WORDS | st.text(max_size=60))
def test_pieces_are_the_plain_text_in_order(text: str) -> None:
    pieces = list(plain_pieces(text.replace("&", "")))

    assert "".join(piece for piece, _, _ in pieces) == plain(text.replace("&", ""))
    assert [start for _, start, _ in pieces][1:] == [end for _, _, end in pieces][:-1]


def test_spellings_of_the_same_word() -> None:
    for one, other in [
        ("İSTANBUL", "istanbul"), ("DİYARBAKIR", "diyarbakır"), ("ΟΔΟΣ", "οδος"), ("п’ять", "пʼять"),
        ("don’t", "don‘t"), ("مـــرحبا", "مرحبا"), ("كَتَبَ", "كتب"), ("שָׁלוֹם", "שלום"),
        ("می\u200cخواهم", "میخواهم"), ("STRASSE", "Straße"), ("GROẞ", "groß"), ("o´brien", "o'brien"),
        ("o`brien", "o'brien"), ("știri", "ştiri"), ("ещё", "еще"), ("علی کتاب", "علي كتاب"),
        ("أحمد", "احمد"),
    ]:  # fmt: skip
        assert folded(plain(one)) == folded(plain(other))


def test_plain_form_of_all_characters_in_any_order_takes_linear_time() -> None:
    characters = [chr(code) for code in range(0x110000) if chr(code) != "&"]
    random.Random(0).shuffle(characters)

    assert len(plain("".join(characters))) > 1_000_000
    assert len(plain("a" + "\u0301\u0316" * 500_000)) < 300


def test_no_text_grows_without_end() -> None:
    assert len(plain("\ufdfa" * 600_000)) == 10_000_000
    assert plain("e\u0301" * 6_000_000) == "é" * 6_000_000
    assert all(len(plain("x" * at + "\u0316" * 300)) == at + 256 for at in range(260))


def test_long_texts_are_composed_across_characters() -> None:
    # Wide letters with an accent, half-width letters of Hangul, and a ligature that becomes 18 characters.
    text = "\uff45\u0301" * _LONG + "\uffa1\uffc2" * _LONG + "\ufdfa" * _LONG

    assert plain(text) == "é" * _LONG + "가" * _LONG + "صلى الله عليه وسلم" * _LONG
