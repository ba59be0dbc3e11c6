"""Filters of posts."""

from datetime import datetime, timedelta, timezone

import pytest

from linker.common.errors import DataError
from linker.data.post_filter import Filter, in_utc
from linker.data.types import Post

EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))


def test_times_beyond_the_calendar_become_its_ends() -> None:
    for at, year in [(datetime(1, 1, 1, tzinfo=EAST), 1), (datetime(9999, 12, 31, 23, tzinfo=WEST), 9999)]:
        assert in_utc(at).year == year
        assert in_utc(at).utcoffset() == timedelta(0)


def test_a_start_before_all_times_excludes_only_posts_without_a_time() -> None:
    posts = [Post("a", "an otter", created_at=datetime(2014, 1, 1)), Post("b", "an otter")]
    found = Filter(since=datetime(1, 1, 1, tzinfo=EAST)).passing(posts)
    assert found is not None
    assert found.tolist() == [0]


@pytest.mark.parametrize("name", ["en", "EN", "en-US", "en_GB", "eng", "English", "english"])
def test_a_language_has_many_names(name: str) -> None:
    stated = ["en", "EN", "en-US", "en_GB", "eng", "English", "de-AT", "ger", "und"]
    posts = [Post(str(i), "42", extra={"lang": lang}) for i, lang in enumerate(stated)]
    conditions = Filter(languages=(name,))
    found = conditions.passing(posts)
    assert found is not None
    assert found.tolist() == [0, 1, 2, 3, 4, 5]
    assert conditions.left_out(posts) == [
        "left out by --lang en: 2 posts in other languages (de 2), 1 of unknown language"
    ]


def test_what_is_no_language_is_refused() -> None:
    for name, meant in [
        ("englisch", "did you mean en (English)?"),
        ("en,de", "repeat --lang"),
        ("xx", "such as en"),
    ]:
        with pytest.raises(DataError, match=f"--lang {name}: not a language") as caught:
            Filter(languages=(name,))
        assert meant in str(caught.value)


def test_the_language_of_a_post_without_one_is_identified() -> None:
    pytest.importorskip("pycld2", reason="has no wheel for this platform")
    posts = [
        Post("a", "Die Lokführer legen von Mittwoch an die Arbeit nieder."),
        Post("b", "The river has left its banks, and nobody is at home."),
    ]
    found = Filter(languages=("German",)).passing(posts)
    assert found is not None
    assert found.tolist() == [0]
