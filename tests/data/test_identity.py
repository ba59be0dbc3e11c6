"""Ids made from the content of posts."""

import re
from datetime import datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from linker.data.identity import content_id
from linker.data.platforms.platform import hashed

NOON = datetime(2024, 1, 19, 12, tzinfo=timezone.utc)


def test_is_the_same_in_every_format() -> None:
    for same in [
        content_id("x", "anna", NOON, "Cafe\u0301  am\r\nHafen "),
        content_id("X", " anna", NOON.replace(microsecond=999_999), "Café am Hafen"),
        content_id("x", hashed("anna"), NOON.astimezone(timezone(timedelta(hours=2))), "Café\tam Hafen"),
        content_id("x", "anna", NOON.replace(tzinfo=None), "Café\u00a0am Hafen"),
    ]:
        assert same == content_id("x", "anna", NOON, "Café am Hafen")


def test_all_parts_count() -> None:
    found = {
        content_id(None, None, None, "a"),
        content_id("x", None, None, "a"),
        content_id(None, "x", None, "a"),
        content_id(None, None, NOON, "a"),
        content_id(None, None, NOON + timedelta(seconds=1), "a"),
        content_id(None, None, None, "A"),
    }
    assert len(found) == 6


def test_never_changes() -> None:
    """Corpora and label files hold these ids."""
    assert content_id("x", "anna", NOON, "Café") == "pyce44p4bqofdewyt"


def test_numbers_of_accounts_are_no_pseudonyms() -> None:
    number = "1234567890123456"
    assert content_id(None, number, None, "a") == content_id(None, hashed(number), None, "a")


@settings(max_examples=30, deadline=None)
@given(st.text(), st.text(), st.none() | st.datetimes(timezones=st.just(timezone.utc)), st.text())
def test_no_program_takes_it_for_a_number(
    platform: str, author: str, time: datetime | None, text: str
) -> None:
    assert re.fullmatch("p[a-z2-7]{16}", content_id(platform, author, time, text))
