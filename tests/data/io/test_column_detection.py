"""Files with other column names are read, and the columns used are reported."""

import csv
import io
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.common.errors import DataError
from linker.data import PostColumns, read_posts
from linker.data.files.known_columns import KNOWN_NAMES, normal
from linker.data.identity import content_id
from linker.data.io.columns import MissingColumnsError
from tests.data.io.test_records import all_of, write

MOMENT = datetime(2024, 5, 1, 12, 30, tzinfo=timezone.utc)


def write_csv(path: Path, *rows: list[str]) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return str(path)


EXPORTS = [
    # minet, YouTube comments
    (
        ["comment_id", "video_id", "author_name", "text", "published_at", "like_count"],
        ["c9", "v1", "kim", "the dam broke", "2024-05-01T12:30:00Z", "3"],
        ("c9", "the dam broke", MOMENT, None),
        'id from "comment_id" (ignored: "video_id"), time from "published_at"',
    ),
    # Reddit, comments of a dump
    (
        ["author", "body", "created_utc", "id", "link_id", "score"],
        ["kim", "the dam broke", "1714566600", "abc", "t3_xyz", "4"],
        ("abc", "the dam broke", MOMENT, None),
        'text from "body", time from "created_utc"',
    ),
    # By hand, in German
    (
        ["Nr.", "Beitrag", "Datum", "Sprache"],
        ["1", "der Damm ist gebrochen", "01.05.2024 12:30", "de"],
        (content_id(None, None, MOMENT, "der Damm ist gebrochen"), "der Damm ist gebrochen", MOMENT, "de"),
        'text from "Beitrag", ids are made from the content of posts, time from "Datum", language from "Sprache"',
    ),
    # By hand in Excel
    (
        ["Tweet Text", "Tweet ID", "Time Posted", "Likes"],
        ["the dam broke", "77", "x", "4"],
        ("77", "the dam broke", None, None),
        'text from "Tweet Text", id from "Tweet ID"',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("header", "row", "expected", "note"), EXPORTS)
def test_exports_are_read(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    header: list[str],
    row: list[str],
    expected: tuple,
    note: str,
) -> None:
    path = write_csv(tmp_path / "p.csv", header, row)
    (post,) = read_posts(path)
    assert (post.id, post.text, post.created_at, post.extra.get("lang")) == expected
    assert capsys.readouterr().err == (f"{path}: {note}\n" if note else "")
    # The same as JSON lines, whose columns no header tells.
    lines = write(tmp_path / "p.jsonl", dict(zip(header, row)))
    (again,) = read_posts(lines)
    assert (again.text, again.created_at) == (post.text, post.created_at)


def test_what_was_named_is_not_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "p.csv", ["post_id", "body", "title"], ["1", "the dam", "not this"])
    (post,) = read_posts(path, PostColumns(text="body", id=None, created_at=None))
    assert (post.id, post.text, post.extra) == (
        content_id(None, None, None, "the dam"),
        "the dam",
        {"post_id": "1", "title": "not this"},
    )
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("ours", ["text", "id", "created_at", "lang"])
def test_every_known_name_is_taken_in_any_spelling(tmp_path: Path, ours: str) -> None:
    value = {"text": "the dam broke", "id": "x1", "created_at": "2024-05-01", "lang": "en"}[ours]
    expected = datetime(2024, 5, 1, tzinfo=timezone.utc) if ours == "created_at" else value
    for name in KNOWN_NAMES[ours]:
        assert normal(name) == name  # or it would never be found
        spelling = name.upper() if name.isascii() else name
        row: dict = {"id": 1, "text": "a text"}
        row.pop(ours, None)
        row[spelling] = value
        (post,) = read_posts(write(tmp_path / "p.jsonl", row))
        read = {
            "text": post.text,
            "id": post.id,
            "created_at": post.created_at,
            "lang": post.extra.get("lang"),
        }
        assert read[ours] == expected or (normal(name) == "language" and post.extra[spelling] == value)


def test_a_name_alone_does_not_make_a_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"comment": n, "tweet": f"https://x.org/{n}", "caption": text, "post_id": "a", "date": date}
        for n, text, date in ((3, "the dam broke", "soon"), (4, "the dam held", "later"))
    ]
    path = write(tmp_path / "p.jsonl", *rows)
    posts = read_posts(path)
    assert [(post.id, post.text, post.created_at) for post in posts] == [
        (content_id(None, None, None, text), text, None) for text in ("the dam broke", "the dam held")
    ]
    assert capsys.readouterr().err == (
        f'{path}: text from "caption", ids are made from the content of posts ("post_id" has empty or repeated '
        "values), no time: \"date\" has too few dates that can be read (not 'soon'); "
        "name another column with --column created_at=NAME\n"
    )


@pytest.mark.parametrize(
    ("header", "row", "read", "note"),
    [
        (["text", "Post Date"], ["the dam broke", "2024-05-01 12:30"], True, ', time from "Post Date"'),
        (["text", "user since"], ["the dam broke", "2024-05-01 12:30"], False, ""),
        (["text", "article_date"], ["the dam broke", "2024-05-01 12:30"], False, ""),
        # Numbers with unknown names are counts.
        (["text", "views"], ["the dam broke", "1714566600"], False, ""),
        (["text", "status"], ["the dam broke", "soon"], False, ""),
    ],
)
def test_the_time_is_a_column_of_dates_with_a_known_name(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    header: list[str],
    row: list[str],
    read: bool,
    note: str,
) -> None:
    path = write_csv(tmp_path / "p.csv", header, row)
    (post,) = read_posts(path)
    assert post.created_at == (MOMENT if read else None)
    assert capsys.readouterr().err == f"{path}: ids are made from the content of posts{note}\n"


def test_a_date_in_a_guessed_column_is_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": i, "text": "x", "date": "2024-05-01" if i else "yesterday"} for i in range(5)]
    path = write(tmp_path / "p.jsonl", *rows)
    assert [post.created_at is None for post in read_posts(path)] == [True, False, False, False, False]
    assert capsys.readouterr().err.splitlines() == [
        f'{path}: time from "date"',
        f"{path}: 1 date in \"date\" left out: 'yesterday' is not a date",
    ]


def test_missing_columns_come_at_once_with_what_is_meant(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", ["reach", "words of mouth"], ["3", "the dam broke"])
    with pytest.raises(MissingColumnsError) as caught:
        read_posts(path, PostColumns(id="key", split="fold"))
    assert caught.value.remedy == {"id": None, "split": None, "text": "words of mouth"}
    missing = 'column "key" is missing; column "fold" is missing; column "text" is missing'
    assert f'{missing}; did you mean "words of mouth"?' in str(caught.value)


def test_dotted_paths(tmp_path: Path) -> None:
    row = {
        "id": 1,
        "commit": {"record": {"text": "the dam", "langs": ["en", "fr"]}},
        "a": [{"b": "x"}],
        "d.e": "t",
    }
    path = write(tmp_path / "p.jsonl", row, {**row, "id": 2, "a": []})
    posts = read_posts(
        path, PostColumns(text=["commit.record.text", "a.0.b", "d.e"], lang="commit.record.langs")
    )
    assert [post.text for post in posts] == ["the dam\n\nx\n\nt", "the dam\n\nt"]
    assert posts[0].extra == {"commit": row["commit"], "a": row["a"], "lang": "en"}
    with pytest.raises(DataError, match=r'column "text" is missing; did you mean "commit\.record\.text"\?'):
        read_posts(path)
    with pytest.raises(DataError, match=r'column "commit\.text" is missing'):
        read_posts(path, PostColumns(text="commit.text"))


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (["5/1/2024 12:30 PM", "5/13/2024 1:30 AM"], ["2024-05-01T12:30", "2024-05-13T01:30"]),
        (["1/5/2024", "13/5/2024"], ["2024-05-01T00:00", "2024-05-13T00:00"]),
        (["1/5/24 7:05", "5/5/24 7:05"], [None, "2024-05-05T07:05"]),
        (["1/5/2024", "13/5/2024", "5/13/2024"], [None, "2024-05-13T00:00", "2024-05-13T00:00"]),
    ],
)
@pytest.mark.parametrize("between", [0, 300])
@pytest.mark.parametrize("stdin", [False, True])
def test_the_whole_column_decides_whether_the_day_is_first(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    dates: list[str],
    expected: list[str | None],
    between: int,
    stdin: bool,
) -> None:
    if between and len(dates) > 2:
        return  # a later contradiction is a bad line, see below
    first, *rest = [[str(i), "x", date] for i, date in enumerate(dates)]
    filling = [[f"f{i}", "x", ""] for i in range(between)]
    path = write_csv(tmp_path / "p.csv", ["id", "text", "created_at"], first, *filling, *rest)
    if stdin:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(path).read_bytes())))
        path = "-"
    posts = [post for post in read_posts(path) if post.id.isdecimal()]
    assert [post.created_at and post.created_at.isoformat()[:16] for post in posts] == expected
    told = capsys.readouterr().err
    assert ("day or month first" in told) == (None in expected)


def test_a_date_against_the_order_of_the_column_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [[str(i), "x", "13/5/2024"] for i in range(300)]
    path = write_csv(tmp_path / "p.csv", ["id", "text", "created_at"], *rows, ["y", "x", "5/13/2024"])
    assert read_posts(path)[-1].created_at is None
    assert capsys.readouterr().err == (
        f"{path}: 1 date in \"created_at\" left out: '5/13/2024' does not have the day first, as others do\n"
    )


names = st.sampled_from(
    ["text", "body", "Tweet Text", "id", "post_id", "date", "created_at", "lang", "title", "n"]
)
cells = st.one_of(
    st.text(st.characters(codec="utf-8", min_codepoint=32), max_size=8),
    st.sampled_from(["5/6/2024", "13/6/2024", "1714566600"]),
)


@settings(max_examples=200)
@given(st.lists(names, min_size=1, max_size=5, unique=True), st.data())
def test_whatever_the_columns_every_row_is_a_post_or_a_reported_error(
    tmp_path: Path, header: list[str], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.lists(cells, min_size=len(header), max_size=len(header)), max_size=6))
    path = write_csv(tmp_path / "p.csv", header, *rows)
    try:
        all_of(Path(path), len(rows))
    except MissingColumnsError as error:
        missing = error.remedy.keys()
        assert missing == {"text"}
