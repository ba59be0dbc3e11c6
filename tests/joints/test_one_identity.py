"""Posts without ids have the same ids and scores in every order, file, format, folder and spelling of a path."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linker
from linker.data.io.records import read_posts
from linker.data.types import Post
from linker.ranking.inputs import as_posts

Row = dict[str, str]
ARTICLE = "The ferry sank off the island. A helicopter rescued the captain."
ROWS: list[Row] = [
    {"text": "the ferry, says the captain", "created_at": "2031-03-03T07:02:45Z"},
    {"text": "the ferry, says the captain", "created_at": "2031-03-03T07:02:46Z"},
    {"text": "a helicopter over the island", "created_at": "2031-03-03T08:00:00+01:00"},
    {"text": "cafe\u0301 closed, ferry full", "created_at": "2031-03-04T08:00:00Z"},
    {"text": "nothing to see", "created_at": "2031-03-04T09:00:00Z"},
    {"text": "nothing to see", "created_at": "2031-03-04T09:00:00Z"},  # an exact repeat
    {"text": "1.57e+18", "created_at": "2031-03-05T09:00:00Z"},
]


def _table(delimiter: str) -> Callable[[Path, Sequence[Row]], None]:
    def write(path: Path, rows: Sequence[Row]) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)

    return write


def _jsonl(path: Path, rows: Sequence[Row]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _json(path: Path, rows: Sequence[Row]) -> None:
    path.write_text(json.dumps(list(rows), ensure_ascii=False), encoding="utf-8")


def _parquet(path: Path, rows: Sequence[Row]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(list(rows)), path)


def _xlsx(path: Path, rows: Sequence[Row]) -> None:
    from xlsxwriter import Workbook

    with Workbook(path) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate([dict(zip(rows[0], rows[0])), *rows]):
            for column, value in enumerate(row.values()):
                sheet.write_string(number, column, value)


WRITERS = {
    "csv": _table(","), "tsv": _table("\t"), "jsonl": _jsonl, "json": _json, "parquet": _parquet, "xlsx": _xlsx,
}  # fmt: skip


def _found(posts: Sequence[Post]) -> dict[str, tuple[str, object, float]]:
    scores = linker.load("bm25").score(ARTICLE, list(posts))[0]
    found: dict[str, tuple[str, object, float]] = {
        post.id: (post.text, post.created_at, round(float(score), 6)) for post, score in zip(posts, scores)
    }
    assert len(found) == len(posts)
    return found


@pytest.fixture
def expected(tmp_path: Path) -> dict[str, tuple[str, object, float]]:
    _jsonl(tmp_path / "expected.jsonl", ROWS)
    found = _found(read_posts(str(tmp_path / "expected.jsonl")))
    assert len(found) == len(ROWS)
    return found


@settings(max_examples=8)
@given(rows=st.permutations(ROWS), cut=st.integers(1, len(ROWS) - 1), name=st.sampled_from(sorted(WRITERS)))
def test_order_and_number_of_files_and_formats_do_not_count(
    rows: list[Row], cut: int, name: str, expected: dict[str, tuple[str, object, float]], tmp_path: Path
) -> None:
    files = []
    for number, part in enumerate((rows[:cut], rows[cut:])):
        files.append(str(tmp_path / f"part{number}.{name}"))
        WRITERS[name](Path(files[-1]), part)
    WRITERS[name](tmp_path / f"whole.{name}", rows)
    assert _found(read_posts(files)) == expected
    assert _found(read_posts(files[::-1])) == expected
    assert _found(read_posts(str(tmp_path / f"whole.{name}"))) == expected
    assert _found(as_posts(pd.DataFrame(rows))) == expected


@pytest.mark.parametrize("name", WRITERS)
def test_spellings_of_a_path_do_not_count(
    name: str, expected: dict[str, tuple[str, object, float]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my posts"
    folder.mkdir()
    WRITERS[name](folder / f"a.{name}", ROWS)
    monkeypatch.chdir(tmp_path)
    for typed in (
        f"my posts/a.{name}",
        f"./my posts/../my posts/a.{name}",
        str(folder / f"a.{name}"),
        "my posts",
        str(folder) + os.sep,
        f"my posts/*.{name}",
    ):
        assert _found(read_posts(typed)) == expected, typed
