"""Dates in all the ways they are written."""

from datetime import date, datetime, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.data.io.dates import parse_date

MOMENT = datetime(2014, 1, 2, 16, 52, 48, tzinfo=timezone.utc)


def test_a_moment() -> None:
    for written in [
        "2014-01-02T16:52:48Z", "2014-01-02T16:52:48", "2014-01-02 17:52:48.000000+01:00",
        "2014-01-02 16:52:48.000+00:00", "2014-01-02T17:52:48+0100", "2014-01-01T21:52:48-19:00",
        " Thu Jan 02 16:52:48 +0000 2014 ", "Thu, 02 Jan 2014 16:52:48 GMT", "2 January 2014, 16:52:48",
        "Jan 2, 2014 16:52:48", 1388681568, 1388681568.0, 1388681568000, "1388681568", MOMENT,
        MOMENT.replace(tzinfo=None),
    ]:  # fmt: skip
        assert parse_date(written) == MOMENT
        assert parse_date(written).tzinfo == timezone.utc


def test_a_day() -> None:
    for written in [
        "2015-05-26", "26 May 2015", "26May 2015", "May 26, 2015", "26th May 2015",
        date(2015, 5, 26),
    ]:  # fmt: skip
        assert parse_date(written) == datetime(2015, 5, 26, tzinfo=timezone.utc)


def test_not_a_date() -> None:
    for written in [
        "5/6/2015", "2015", "2015-13-01", "2015-02-30", "yesterday", "", "Mayonnaise 3, 2015",
        "2015-05-26T25:00", "2015-05-26T25:00:00Z", "0001-01-01T00:00+05:00", "0001-01-01T00:00:00+05:00", 12,
        True, float("nan"), float("inf"), 10**400, None, [], {}, {"$date": None},
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=r"is not a date|is ambiguous"):
            parse_date(written)


def test_a_moment_as_exports_write_it() -> None:
    for written in [
        "Mar 15, 2023 · 9:38 PM UTC",  # Nitter
        "2023-03-15T213800Z",
        "2023-03-15_21-38-00",
        "20230315-213800",
        "2023:03:15 21:38:00",  # pictures
        "15/Mar/2023:21:38:00 +0000",  # logs of web servers
        "15MAR2023:21:38:00",  # SAS
        "2023-03-15T21:38:00Z[UTC]",  # Java
        "'2023-03-15 21:38:00",  # Excel's mark of text
        "٢٠٢٣-٠٣-١٥ ٢١:٣٨:٠٠",
        "9:38 PM · Mar 15, 2023",  # the page of X
        "9:38 PM - 15 Mar 2023",
        "March 15, 2023 at 09:38PM",  # IFTTT
        "2023-03-15 21:38:00 +0000 UTC",  # Go
        "2023-03-15 21:38:00.000000001 +0000 UTC m=+0.000000001",
        "Wed Mar 15 2023 22:38:00 GMT+0100 (CET)",  # JavaScript
        "Wed Mar 15 2023 22:38:00 GMT+0100 (Central European Standard Time)",
        "3/15/2023, 9:38:00 PM",
        "3/15/2023, 9:38:00\u202fPM",
        "/Date(1678916280000)/",
        "/Date(1678916280000+0100)/",
        "2023-03-15T22:38:00+01:00[Europe/Berlin]",  # Java
        "202303152138", "20230315213800", 202303152138, "20230315T213800Z", "20230315T223800+0100",
        "2023-03-15T21:38:00,000Z", "1678916280000000", "1678916280000000000", "15.03.2023 21:38",
        "15.3.23, 21:38", "15-Mar-23 21:38", "21:38, 15 March 2023 (UTC)",
        "Wed Mar 15 16:38:00 EST 2023", "2023-03-15 22:38 MEZ", "9:38 p. m. · 15 mar. 2023",
        "Mittwoch, 15. März 2023, 21:38 Uhr", "Mi, 15.03.2023 um 21.38 Uhr",
        "mercredi 15 mars 2023 à 21h38", "mer. 15/03/2023 à 21:38",
        "miércoles, 15 de marzo de 2023, 21:38", "mercoledì 15 marzo 2023 ore 21:38",
        "15 de março de 2023 às 21:38", "woensdag 15 maart 2023 om 21:38 uur",
        "15 марта 2023 г., 21:38", "２０２３-０３-１５ ２１：３８", "2023年3月15日(水) 午後9時38分",
        "2023年3月15日 下午9:38", "2023년 3월 15일 수요일 21:38", "2023. 3. 15. 오후 9:38:00",
        "2023/3/15 下午9:38:00",
    ]:  # fmt: skip
        assert parse_date(written) == datetime(2023, 3, 15, 21, 38, tzinfo=timezone.utc)


def test_a_day_as_exports_write_it() -> None:
    for written, expected in [
        ("202405011230", datetime(2024, 5, 1, 12, 30)),  # not milliseconds of 1976
        ("20230315", datetime(2023, 3, 15)),
        (20230315, datetime(2023, 3, 15)),
        ("1.5.24", datetime(2024, 5, 1)),
        ("15. Jänner 2023", datetime(2023, 1, 15)),
        ("mar 14 mar 2023", datetime(2023, 3, 14)),  # Tuesday in Spanish and Italian
        ("5 mai 2023", datetime(2023, 5, 5)),
        ("45000.9", datetime(2023, 3, 15, 21, 36)),
        ("45000,9", datetime(2023, 3, 15, 21, 36)),
    ]:
        assert parse_date(written) == expected.replace(tzinfo=timezone.utc)


def test_what_is_not_exact_is_no_date() -> None:
    for written in [
        "2h", "vor 2 Stunden", "Mar 15", "12:00 IST 15 Mar 2023", "21:38 XYZ 15 Mar 2023", "20230399",
        "1.57e12", "36525",
    ]:  # fmt: skip
        with pytest.raises(ValueError, match="is not a date"):
            parse_date(written)


@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)),
    st.sampled_from(["de", "en", "es", "fr", "it", "nl"]),
)
@settings(max_examples=40)
def test_every_long_date(moment: datetime, language: str) -> None:
    from babel.dates import format_datetime as in_language

    written = in_language(moment, "EEEE d MMMM y HH:mm", locale=language)
    assert parse_date(written) == moment.replace(second=0, microsecond=0, tzinfo=timezone.utc)


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.timezones()))
def test_every_iso_and_mail_date(moment: datetime) -> None:
    assert parse_date(moment.isoformat()[:19] + "Z") == moment.replace(microsecond=0, tzinfo=timezone.utc)
    assert parse_date(format_datetime(moment.replace(tzinfo=timezone.utc))) == moment.replace(
        microsecond=0, tzinfo=timezone.utc
    )
