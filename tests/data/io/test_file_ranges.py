"""Ranges of a file give the posts, the line numbers and the reports of the whole file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.data.io.columns import PostColumns
from linker.data.io.file_ranges import lines_in, ranges_of

LINES = st.lists(
    st.sampled_from(["", "{}", "   ", '{"id": 1, "text": "otter"}', "x" * 90, "\u2028é", "\r"]), max_size=40
)


@settings(max_examples=100, deadline=None)
@given(LINES, st.integers(1, 300), st.booleans())
def test_ranges_begin_with_lines_and_cover_the_file(tmp_path_factory, lines, size, ends_with_line):
    path = tmp_path_factory.getbasetemp() / "ranges.jsonl"
    first = json.dumps({"id": "a", "text": "otter", "created_at": "2031-05-01"})
    path.write_text("\n".join([first, *lines]) + "\n" * ends_with_line, encoding="utf-8", newline="")
    content = path.read_bytes()
    parts = ranges_of(str(path), PostColumns(), size)
    assert b"".join(content[part.begin : part.end] for part in parts) == content
    assert all(content[part.begin - 1 : part.begin] == b"\n" for part in parts[1:])
    assert [part.is_last for part in parts] == [False] * (len(parts) - 1) + [True]
    assert len(parts) > 1 or len(content) <= 2 * size or content.count(b"\n") < 2 or len(first) >= size
    counts = [lines_in(str(path), part.begin, part.end) for part in parts]
    assert counts == [content[part.begin : part.end].count(b"\n") for part in parts]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("posts.csv", b"id,text\n1,otter\n2,otter\n"),
        ("posts.jsonl", gzip.compress(b'{"id": 1, "text": "otter"}\n' * 9)),
        ("posts.jsonl", b'[{"id": 1, "text": "otter"},\n{"id": 2, "text": "otter"}]\n'),
        ("posts.jsonl", b'\n{"id": 1, "text": "otter"}\n{"id": 2, "text": "otter"}\n'),
        ("posts.jsonl", b'{"id": 1}\n' * 300 + b'{"id": 2, "text": "otter"}\n'),
        ("posts.jsonl", b""),
        (
            "posts.jsonl",
            b'{"id": 1, "text": "otter"}\n' * 9 + '{"id": 2, "text": "Fähre"}\n'.encode("cp1252"),
        ),
        ("posts.jsonl", '{"id": 1, "text": "Fähre"}\n'.encode("utf-16-le") * 9),
    ],
)
def test_other_files_are_read_as_a_whole(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert ranges_of(str(path), PostColumns(), 10) == []
    assert ranges_of(str(tmp_path / "missing.jsonl"), PostColumns(), 10) == []


def test_records_of_platforms_are_read_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_bytes(b'{"id": "1", "text": "otter"}\n' * 9)
    assert len(ranges_of(str(path), PostColumns(), 100)) > 1
    assert ranges_of(str(path), PostColumns(format="mastodon"), 100) == []
