"""Filters of posts."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from linker.data.post_filter import Filter, in_utc
from linker.data.types import Post

EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))


@pytest.mark.parametrize(
    ("at", "year"),
    [(datetime(1, 1, 1, tzinfo=EAST), 1), (datetime(9999, 12, 31, 23, tzinfo=WEST), 9999)],
)
def test_times_beyond_the_calendar_become_its_ends(at: datetime, year: int) -> None:
    assert in_utc(at).year == year
    assert in_utc(at).utcoffset() == timedelta(0)


def test_a_start_before_all_times_excludes_only_posts_without_a_time() -> None:
    posts = [Post("a", "an otter", created_at=datetime(2014, 1, 1)), Post("b", "an otter")]
    found = Filter(since=datetime(1, 1, 1, tzinfo=EAST)).passing(posts)
    assert found is not None
    assert found.tolist() == [0]
