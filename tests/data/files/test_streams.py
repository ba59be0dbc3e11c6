"""Every format, packed in every way, reads the same."""

import bz2
import gzip
import io
import json
import lzma
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from linker.common.errors import DataError
from linker.data import read_posts
from linker.data.files import streams
from linker.data.files.line_errors import BadLines
from linker.data.identity import content_id
from linker.data.io.columns import PostColumns
from linker.data.io.records import stream_posts

POSTS = [
    {"id": "1", "text": "Flood in the old town 🌊", "lang": "en"},
    {"id": "2", "text": 'she said "run", and ran', "lang": "en"},
    {"id": "3", "text": "línea\u2028separada, 你好", "lang": "es"},
]


PACKERS = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": streams.zstd.compress,
}


def as_jsonl() -> bytes:
    return "".join(json.dumps(post, ensure_ascii=False) + "\n" for post in POSTS).encode()


def as_csv() -> bytes:
    return pd.DataFrame(POSTS).to_csv(index=False).encode()


def as_tsv() -> bytes:
    rows = [list(POSTS[0]), *(list(post.values()) for post in POSTS)]
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def as_parquet() -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pa.Table.from_pylist(POSTS), sink)
    return sink.getvalue()


WRITERS = {"jsonl": as_jsonl, "csv": as_csv, "tsv": as_tsv, "parquet": as_parquet}


def plain(posts: list) -> list[dict]:
    return [{"id": post.id, "text": post.text, **post.extra} for post in posts]


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("form", WRITERS)
def test_same_posts_from_every_format_and_packing(tmp_path: Path, form: str, packing: str) -> None:
    data = PACKERS[packing](WRITERS[form]())
    named = tmp_path / f"posts.{form}{packing}"
    unnamed = tmp_path / "posts"
    for path in (named, unnamed):
        path.write_bytes(data)
        assert plain(read_posts(str(path))) == POSTS


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("form", WRITERS)
def test_standard_input(monkeypatch: pytest.MonkeyPatch, form: str, packing: str) -> None:
    class Pipe(io.RawIOBase):
        """Gives three bytes at a time, as a slow pipe may."""

        def __init__(self) -> None:
            self.inner = io.BytesIO(PACKERS[packing](WRITERS[form]()))

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            chunk = self.inner.read(min(3, len(buffer)))
            buffer[: len(chunk)] = chunk
            return len(chunk)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe())))
    assert plain(read_posts("-")) == POSTS


def test_plain_text_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hello, world\nnext")))
    assert [(post.source, post.text) for post in read_posts("-")] == [
        ("standard input:1", "hello, world"),
        ("standard input:2", "next"),
    ]


@pytest.mark.parametrize("packing", [packing for packing in PACKERS if packing])
def test_file_cut_short(tmp_path: Path, packing: str) -> None:
    path = tmp_path / "posts.jsonl"
    many = "".join(json.dumps({"id": i, "text": f"post {i * 7919}"}) + "\n" for i in range(20_000))
    path.write_bytes(PACKERS[packing](many.encode())[:-1000])
    with pytest.raises(DataError, match=r"posts\.jsonl: damaged or truncated"):
        read_posts(str(path), on_error="skip")


def test_parquet_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "posts.parquet"
    path.write_bytes(as_parquet()[:-20])
    with pytest.raises(DataError, match="not a Parquet file, or damaged"):
        read_posts(str(path))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("size", [3, 1 << 18])
def test_utf_16(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, size: int) -> None:
    monkeypatch.setattr(streams, "_BUFFER", size)
    for form in ("jsonl", "csv", "tsv"):
        path = tmp_path / f"posts.{form}"
        path.write_bytes(("\ufeff" + WRITERS[form]().decode()).encode(encoding))
        assert plain(read_posts(str(path))) == POSTS
    # Half a character at the end is one bad character, not the end of the program.
    path = tmp_path / "cut.csv"
    path.write_bytes("\ufeffid,text\n1,one 😀".encode(encoding)[:-2])
    assert [post.text for post in read_posts(str(path))] == ["one \ufffd"]


@pytest.mark.parametrize(
    ("content", "posts"),  # lines and texts
    [
        # Excel's "Text (Tab delimited)", in two languages, and "Unicode text"; cells with quotes are quoted.
        ('id\ttext\n7\t"say ""run"""\n', [("2", 'say "run"')]),
        ("Beitrag\tDatum\nder Damm\t01.05.2024\n", [("2", "der Damm")]),
        ("id\ttext\tnotes, mine\n7\tthe dam\t\n", [("2", "the dam")]),
        # One post per line, whatever it has.
        ("the dam\tbroke\nid, text\n", [("1", "the dam\tbroke"), ("2", "id, text")]),
        ("text\nthe dam\n", [("1", "text"), ("2", "the dam")]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_files_with_a_header_between_tabs_are_tables(
    tmp_path: Path, content: str, posts: list[tuple[str, str]], encoding: str
) -> None:
    path = tmp_path / "posts.txt"
    path.write_bytes(content.replace("\n", "\r\n").encode(encoding))
    assert [(post.source, post.text) for post in read_posts(str(path))] == [
        (f"posts.txt:{line}", text) for line, text in posts
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.csv", None, "cannot be read \\(No such file"),
        ("a.csv", b"PK\x03\x04rest of it", "not an Excel workbook, or damaged .*unpack zip archives"),
        ("a.csv", b"", "the file is empty; add a header line"),
        ("a.tsv", b"\n\n", "the file is empty; add a header line"),
        ("a.csv", b',,\n,""', "the file is empty; add a header line"),
        ("a.csv", b"sep=;\n", "the file is empty; add a header line"),
        ("a.tsv", b"\n1\tx\n", 'column "text" is missing .columns: 1, x.'),
        ("a.csv", b"id,text,id\n1,x,1\n", "repeated column 'id'"),
        ("a.jsonl", b"", "does not contain a single post"),
        ("a.jsonl", b"\n" * 40_000, "does not contain a single post"),
        ("a.dat", b"just some words\n", "neither JSON nor a known header"),
        (
            "a.csv",
            b'0,1467810369,Mon Apr 06 22:19:45 2009,"she said, no"\n4,1467810372,Mon Apr 06 22:19:46 2009,yes\n',
            r"first line has values in place of the names of columns .0, 1467810369, Mon Apr 06 22:19:45 2009",
        ),
        ("a.tsv", b"7\tthe dam broke\n8\tthe dam held\n", "first line has values in place of the names"),
        ("a.csv", b"2014,words\nx,y\n", 'column "text" is missing .columns: 2014, words.'),
        ("a.csv", b"id,reach\n1,x\n", 'column "text" is missing .columns: id, reach.'),
        ("a.json", b'{"a": {"b": 1}}', 'column "text" is missing'),
        ("a.json", b'{\n"a": 1}', r"\(keys: a\)"),
        ("a.json", b'{\n"a": [{"text": "x"}], "b": [{"text": "y"}]}', r"several lists of objects \(a, b\)"),
        ("a.json", b'[{"text": "x"}, {"text": "y"]', "line 1: broken JSON"),
        ("a.json", b'{\n"data":' * 100_000, "nested too deeply"),
        ("a.json", b'[{"text": "x"}] 3', "not a list of objects or an object with one such list"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_posts(str(path))


def test_ten_megabyte_line(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    text = "word " * 2_000_000
    path.write_text(f'id,text\n1,"{text}"\n2,short\n')
    assert [len(post.text) for post in read_posts(str(path))] == [len(text), 5]


def test_lines_are_where_posts_come_from_and_tell_no_folder_of_this_machine(tmp_path: Path) -> None:
    (text := tmp_path / "posts.txt").write_text("one\ntwo\n")
    table = tmp_path / "posts\udcff.csv"
    table.write_text('text\n"one\nmore"\ntwo\n')
    both = read_posts([str(text), str(table)], PostColumns(id=None))
    assert [post.source for post in both] == ["posts.txt:1", "posts.txt:2", "posts?.csv:2", "posts?.csv:4"]
    assert [post.id for post in both][2:] == [content_id(None, None, None, "one more"), f"{both[1].id}-2"]


@pytest.mark.parametrize("name", ["posts.jsonl", "posts.jsonl.gz"])
def test_bytes_are_counted_as_they_are_in_the_file(tmp_path: Path, name: str) -> None:
    lines = "".join(f'{{"id": "{n}", "text": "words {n * 7919}"}}\n' for n in range(50_000)).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(lines) if name.endswith(".gz") else lines)
    other = tmp_path / f"more-{name}"
    other.write_bytes(path.read_bytes())
    with BadLines() as bad_lines:
        posts = stream_posts([str(path), str(other)], PostColumns(), bad_lines)
        next(posts)
        assert 0 < bad_lines.bytes_read < path.stat().st_size
        assert sum(1 for _ in posts) == 99_999
        assert bad_lines.bytes_read == 2 * path.stat().st_size


def test_columns_take_time_in_proportion_to_their_number(tmp_path: Path) -> None:
    content = ",".join(f"c{n}" for n in range(100_000)) + ",id,text\n" + "," * 100_000 + "1,otters\n"
    (tmp_path / "a.csv").write_text(content)
    begun = time.process_time()
    assert [post.text for post in read_posts(str(tmp_path / "a.csv"))] == ["otters"]
    # In proportion to the square it is minutes.
    assert time.process_time() - begun < 20
