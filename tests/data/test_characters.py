"""Tests for Unicode's forms of long texts."""

import random
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from linker.data.characters import compatible

_LONG = 2_001


@given(st.text(min_size=1, max_size=50))
def test_compatible_form_of_a_long_text_is_nfkc(text: str) -> None:
    long = text * (_LONG // len(text) + 1)

    assert compatible(text) == unicodedata.normalize("NFKC", text)
    assert compatible(long) == unicodedata.normalize("NFKC", long)


def test_compatible_form_of_all_characters_in_any_order_is_nfkc() -> None:
    characters = [chr(code) for code in range(0x110000)]
    random.Random(0).shuffle(characters)
    text = "".join(characters)

    assert compatible(text) == unicodedata.normalize("NFKC", text)


def test_compatible_form_composes_marks_and_syllables_across_characters() -> None:
    # Wide letters with an accent, half-width letters of Hangul, and a ligature that becomes 18 characters.
    text = "\uff45\u0301" * _LONG + "\uffa1\uffc2" * _LONG + "\ufdfa" * _LONG

    assert compatible(text) == "é" * _LONG + "가" * _LONG + "صلى الله عليه وسلم" * _LONG
