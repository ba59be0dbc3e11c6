"""Zip archives with one data file are read as that file."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from linker.common.errors import DataError
from linker.data.files.line_errors import BadLines
from linker.data.io.columns import PostColumns
from linker.data.io.records import read_posts, stream_posts

LINES = b'{"id": "1", "text": "otters swim"}\n{"id": "2", "text": "dams hold"}\n'
TABLE = b"id,text\n1,otters swim\n2,dams hold\n"


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return path


def texts(path: Path) -> list[str]:
    return [post.text for post in read_posts(str(path))]


def workbook() -> bytes:
    file = io.BytesIO()
    pd.DataFrame({"id": ["1"], "text": ["otters"]}).to_excel(file, index=False)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tweets.csv", TABLE),
        ("set/tweets.CSV", TABLE),
        ("tweets", LINES),
        ("tweets.jsonl.gz", gzip.compress(LINES)),
        ("tweets.tsv", TABLE.replace(b",", b"\t")),
        ("lines.txt", b"otters swim\ndams hold\n"),
        ("unicode.txt", TABLE.replace(b",", b"\t").decode().encode("utf-16")),
    ],
)
def test_the_only_data_file_is_read(tmp_path: Path, name: str, content: bytes) -> None:
    beside = {"__MACOSX/._tweets.csv": b"x", ".DS_Store": b"x", "README.md": b"x", "LICENSE": b"x"}
    assert texts(archive(tmp_path / "archive.zip", {name: content, **beside})) == ["otters swim", "dams hold"]


def test_what_pandas_writes(tmp_path: Path) -> None:
    pd.DataFrame({"id": ["1"], "text": ["otters"]}).to_csv(tmp_path / "posts.zip", index=False)
    assert texts(tmp_path / "posts.zip") == ["otters"]


def test_an_archive_of_x(tmp_path: Path) -> None:
    tweet = {
        "id_str": "7",
        "created_at": "Wed Oct 10 20:19:24 +0000 2018",
        "full_text": "otters",
        "lang": "en",
    }
    posts = b"window.YTD.tweets.part0 = " + json.dumps([{"tweet": tweet}]).encode()
    files = {"data/manifest.js": b"x", "data/tweets.js": posts, "assets/logo.png": b"x"}
    assert texts(archive(tmp_path / "x.zip", files)) == ["otters"]
    files["data/tweets-part1.js"] = posts.replace(b"7", b"8").replace(b"otters", b"dams")
    with pytest.raises(DataError, match=r"2 files \(data/tweets.js, data/tweets-part1.js\); unpack it"):
        texts(archive(tmp_path / "x.zip", files))
    zipfile.ZipFile(tmp_path / "x.zip").extractall(tmp_path / "unpacked")
    (tmp_path / "unpacked" / "assets" / "i18n.json").write_text("{}")
    assert sorted(texts(tmp_path / "unpacked")) == ["dams", "otters"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "the zip archive has no file; give another"),
        ({"__MACOSX/._a.csv": b"x", "set/": b""}, "the zip archive has no file; give another"),
        ({"readme.md": b"x"}, "unknown format"),
        ({f"{n}.csv": TABLE for n in range(5)}, r"5 files \(0.csv, 1.csv, 2.csv and 2 more\); unpack it"),
        ({"a.zip": b"PK\x03\x04"}, "a zip archive or a workbook in a zip archive; unpack it"),
        ({"a.xlsx": workbook()}, "a zip archive or a workbook in a zip archive; unpack it"),
        ({"a.csv": b"id,words\n1,x\n"}, 'column "text" is missing'),
    ],
)
def test_archives_that_cannot_be_read(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    with pytest.raises(DataError, match=message):
        texts(archive(tmp_path / "archive.zip", files))


@pytest.mark.parametrize("byte", range(0, 150, 7))
def test_damage_is_reported(tmp_path: Path, byte: int) -> None:
    path = archive(tmp_path / "archive.zip", {"posts.csv": TABLE * 50})
    content = bytearray(path.read_bytes())
    content[byte] ^= 255
    path.write_bytes(content)
    try:
        assert texts(path) == [
            "otters swim",
            "dams hold",
        ]  # what does not matter, such as the date of the file
    except DataError as error:
        assert str(path) in str(error)  # noqa: PT017


def test_encrypted_archives_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "archive.zip", {"posts.csv": TABLE})
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"posts.csv in this zip archive is encrypted; unpack it"):
        texts(path)


def test_progress_counts_bytes_of_the_archive(tmp_path: Path) -> None:
    lines = "".join(f'{{"id": "{n}", "text": "words {n * 7919}"}}\n' for n in range(50_000)).encode()
    path = archive(tmp_path / "posts.zip", {"posts.jsonl": lines})
    with BadLines() as bad_lines:
        assert sum(1 for _ in stream_posts([str(path)], PostColumns(), bad_lines)) == 50_000
        assert bad_lines.bytes_read == pytest.approx(path.stat().st_size, rel=0.01)


def test_standard_input(tmp_path: Path) -> None:
    path = archive(tmp_path / "posts.zip", {"posts.csv": TABLE})
    command = [sys.executable, "-m", "linker.cli.main", "rank", "--article", "an otter swims in the river"]
    command += ["--posts", "-", "--model", "bm25"]
    with path.open("rb") as file:
        found = subprocess.run(command, stdin=file, capture_output=True, text=True, timeout=60)
    assert found.returncode == 0
    assert "otters swim" in found.stdout
    piped = subprocess.run(command, input=path.read_bytes(), capture_output=True, timeout=60)
    assert piped.returncode == 2
    assert b"standard input: a zip archive; save it as a file, or unpack it" in piped.stderr
