"""Dates in all the ways they are written."""

from __future__ import annotations

from datetime import date, datetime, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.data.io.dates import parse_date

MOMENT = datetime(2014, 1, 2, 16, 52, 48, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "written",
    [
        "2014-01-02T16:52:48Z",
        "2014-01-02T16:52:48",
        "2014-01-02 17:52:48.000000+01:00",
        "2014-01-02 16:52:48.000+00:00",
        "2014-01-02T17:52:48+0100",
        "2014-01-01T21:52:48-19:00",
        " Thu Jan 02 16:52:48 +0000 2014 ",
        "Thu, 02 Jan 2014 16:52:48 GMT",
        "2 January 2014, 16:52:48",
        "Jan 2, 2014 16:52:48",
        1388681568,
        1388681568.0,
        1388681568000,
        "1388681568",
        MOMENT,
        MOMENT.replace(tzinfo=None),
    ],
)
def test_a_moment(written: object) -> None:
    assert parse_date(written) == MOMENT
    assert parse_date(written).tzinfo == timezone.utc


@pytest.mark.parametrize(
    "written",
    ["2015-05-26", "26 May 2015", "26May 2015", "May 26, 2015", "26th May 2015", date(2015, 5, 26)],
)
def test_a_day(written: object) -> None:
    assert parse_date(written) == datetime(2015, 5, 26, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "written",
    [
        "5/6/2015", "2015", "2015-13-01", "2015-02-30", "yesterday", "", "Mayonnaise 3, 2015",
        "2015-05-26T25:00", "2015-05-26T25:00:00Z", "0001-01-01T00:00+05:00", "0001-01-01T00:00:00+05:00",
        12, True, float("nan"), float("inf"), 10**400, None,
        [], "٢٠١٥-٠٥-٢٦",
    ],
)  # fmt: skip
def test_not_a_date(written: object) -> None:
    with pytest.raises(ValueError, match=r"is not a date|is ambiguous"):
        parse_date(written)


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.timezones()))
def test_every_iso_and_mail_date(moment: datetime) -> None:
    assert parse_date(moment.isoformat()[:19] + "Z") == moment.replace(microsecond=0, tzinfo=timezone.utc)
    assert parse_date(format_datetime(moment.replace(tzinfo=timezone.utc))) == moment.replace(
        microsecond=0, tzinfo=timezone.utc
    )
