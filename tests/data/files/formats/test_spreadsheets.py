"""Workbooks: cells become what other formats would hold, and nothing is lost without a word."""

import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import pytest
import xlsxwriter

from linker.common.errors import DataError
from linker.data import read_posts
from linker.data.io.columns import PostColumns


def workbook(path: Path, **sheets: Sequence[Sequence[object]]) -> str:
    book = xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    book.close()
    return str(path)


def test_cells_of_all_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[list[object]] = [
        ["Post ID", "Message", "Date", "Likes", "share"],
        [17, "the dam broke", datetime(2024, 5, 1, 12, 30), 3, 0.5],
        [None, None, None, None, None],
        ["18", "the dam\nheld", "2.5.2024", None, 1],
    ]
    path = workbook(tmp_path / "p.xlsx", Empty=[], Posts=rows, Notes=[["x"]])
    posts = read_posts(path)
    assert [(p.id, p.text, p.created_at, p.extra["Likes"], p.extra["share"]) for p in posts] == [
        ("17", "the dam broke", datetime(2024, 5, 1, 12, 30, tzinfo=timezone.utc), 3, 0.5),
        ("18", "the dam\nheld", datetime(2024, 5, 2, tzinfo=timezone.utc), None, 1),
    ]
    assert capsys.readouterr().err == (
        f'{path}: sheet "Posts" (others, for --sheet: "Notes"), text from "Message", id from "Post ID", '
        'time from "Date"\n'
    )


def test_it_is_known_by_its_content_and_by_standard_input(tmp_path: Path) -> None:
    path = Path(workbook(tmp_path / "p.xlsx", Posts=[["id", "text"], [1, "x"]]))
    for name in ("p.csv", "p", "p.jsonl"):
        (tmp_path / name).write_bytes(path.read_bytes())
        assert [post.text for post in read_posts(str(tmp_path / name))] == ["x"]


def test_numbers_that_excel_cut_are_reported(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", Posts=[["id", "text"], [1234567890123456789, "x"], [2, "y", "z"]])
    with pytest.raises(DataError) as caught:
        read_posts(path)
    lines = str(caught.value).splitlines()[1:]
    assert [line.split(", ", 1)[1].split(":")[0] for line in lines] == ["line 2", "line 3"]
    assert "Excel drops the rest; store such ids as text" in lines[0]
    assert "wrong number of fields" in lines[1]


@pytest.mark.parametrize("sheets", [{"Posts": []}, {"Posts": [[""]]}])
def test_nothing_in_it(tmp_path: Path, sheets: dict) -> None:
    with pytest.raises(DataError, match="the file is empty; add a header line"):
        read_posts(workbook(tmp_path / "p.xlsx", **sheets))


def test_damaged(tmp_path: Path) -> None:
    path = Path(workbook(tmp_path / "p.xlsx", Posts=[["id", "text"], [1, "x"]]))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match="not an Excel workbook, or damaged"):
        read_posts(str(path))


def test_text_under_the_name_of_a_workbook_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "q.xls").write_text("id\ttext\n1\tx\n")
    assert [(post.id, post.text) for post in read_posts(str(tmp_path / "q.xls"))] == [("1", "x")]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_cells_in_opposite_corners_are_one_message(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "far.xlsx")
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["id", "text"])
    sheet.write(1_048_575, 16_383, "x")
    book.close()
    with pytest.raises(DataError, match=r"far\.xlsx: damaged, or too large .*save it as CSV"):
        read_posts(str(tmp_path / "far.xlsx"))


def test_the_sheet_and_the_row_of_the_header_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about = [["Export of", "Ferry"], ["made on", "2024-01-01"]]
    posts: list[list[object]] = [
        ["Ferry strike, all posts"], [], ["From:", "2024"], [None, "id", "text"], [None, 1, "x"], [],
        [None, 2, "y"],
    ]  # fmt: skip
    path = workbook(tmp_path / "p.xlsx", About=about, Posts=posts)
    assert [(post.id, post.text) for post in read_posts(path)] == [("1", "x"), ("2", "y")]
    assert capsys.readouterr().err == (
        f'{path}: sheet "Posts" (others, for --sheet: "About"), header in row 4\n'
        f"{path}: 2 posts of 4 rows; 2 lines above the header left out\n"
    )


def test_a_sheet_can_be_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", First=[["id", "text"], [1, "x"]], Second=[["id", "text"], [2, "y"]])
    assert [post.id for post in read_posts(path)] == ["1"]
    assert [post.id for post in read_posts(path, PostColumns(sheet="second"))] == ["2"]
    with pytest.raises(
        DataError, match='no sheet "Third" with cells; name one of First, Second with --sheet'
    ):
        read_posts(path, PostColumns(sheet="Third"))
