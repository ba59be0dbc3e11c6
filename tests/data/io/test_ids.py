"""Ids that programs have changed: restored, or refused where digits are lost."""

import pytest

from linker.data.files.line_errors import LineError
from linker.data.io.fields import clean_id


def test_ids_lose_what_programs_add() -> None:
    for value, expected in [
        ("1571234567890124875", "1571234567890124875"),
        (1571234567890124875, "1571234567890124875"),
        (" 12 ", "12"),
        ("123.0", "123"),
        ("123,0", "123"),
        (123.0, "123"),
        ("-100123.0", "-100123"),
        ('="1571234567890124875"', "1571234567890124875"),
        ("=1571", "1571"),
        ("'1571234567890124875", "1571234567890124875"),
    ]:
        assert clean_id(value) == expected
    # Ids of platforms that look like numbers, but are none.
    kept = "1e5 12e45 1e18 5E3 1.571 1,571 12.5 -1001234/55 00042 'quoted' 3kzq7v2xq4c2a 1234_5678"
    assert [clean_id(id_) for id_ in kept.split()] == kept.split()


def test_numbers_that_lost_digits_are_refused() -> None:
    for value in [
        "1.57e+18", "1.5712345678901248e+18", "1,29403E+18", "1.2345E18", "1.2345e18", "1E+18", "1e+18",
        "1571234567890124800.0", '="1,29403E+18"', "'1.57E+18", 1.5712345678901248e18,
    ]:  # fmt: skip
        with pytest.raises(LineError, match=r"rounded id.*export ids as text"):
            clean_id(value)


def test_what_a_spreadsheet_shows_for_a_number_is_no_id() -> None:
    for value in ["#####", "#NAME?", "#REF!"]:
        with pytest.raises(LineError, match=r"unusable id.*export ids as text"):
            clean_id(value)
