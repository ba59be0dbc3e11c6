"""Posts out of folders, by patterns, and from addresses."""

import gzip
import json
import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from linker.common.errors import DataError, LinkerError
from linker.data.files import streams
from linker.data.files.streams import zstd
from linker.data.identity import content_id
from linker.data.io.input_files import check_inputs, input_files
from linker.data.io.records import read_posts
from tests.data.io.test_content_ids import ids

fsspec = pytest.importorskip("fsspec", reason="the package fsspec (comes with torch) is not installed")

FILES = (
    "a.jsonl", "2014-07/1.jsonl.gz", "2014-07/2.csv", "2014-07/deep/er/3.parquet",
    "2014-08/4.jsonl.gz", "2015-01/5.jsonl.gz",
)  # fmt: skip
OTHERS = ("README.txt", "_SUCCESS", "2014-07/notes.md", "a.jsonl.errors.jsonl")
HIDDEN = (".hidden.jsonl", ".git/x.jsonl", "2014-07/.tmp/y.jsonl")


def content(name: str) -> bytes:
    """A file with one post whose id is the name."""
    if ".parquet" in name:
        sink = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(pyarrow.table({"id": [name], "text": ["some words"]}), sink)
        return sink.getvalue().to_pybytes()
    text = (
        f"id,text\n{name},some words\n" if ".csv" in name else json.dumps({"id": name, "text": "some words"})
    )
    return gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()


def fill(folder: str) -> None:
    for name in (*FILES, *OTHERS, *HIDDEN):
        with fsspec.open(f"{folder}/{name}", "wb", auto_mkdir=True) as file:
            file.write(content(name))


@pytest.fixture(params=["local", "memory"])
def place(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder with all these files, here or behind an address."""
    if request.param == "local":
        monkeypatch.chdir(tmp_path)
        fill(str(tmp_path / "posts"))
        yield "posts"
    else:
        fill("memory://bucket/posts")
        yield "memory://bucket/posts"
        fsspec.filesystem("memory").rm("/bucket", recursive=True)


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_folder(place: str, slash: str) -> None:
    assert ids(place + slash) == sorted(FILES)
    assert {f"{place}/{name}" for name in FILES} < set(input_files([place + slash]))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("2014-*/**/*.jsonl.gz", FILES[1:2] + FILES[4:5]),
        ("2014-*/**", sorted((*FILES[1:5], "2014-07/notes.md"))),
        ("**/*.jsonl.gz", (FILES[1], FILES[4], FILES[5])),
        ("**/[1-3].*", FILES[1:4]),
        ("201?-0[!7]/*", FILES[4:]),
        ("*/?.csv", FILES[2:3]),
        ("*.jsonl", sorted((FILES[0], *OTHERS[3:]))),
        ("2014-07/deep/*/*", FILES[3:4]),
        (".h*", HIDDEN[:1]),
        ("a.jsonl", FILES[:1]),
    ],
)
def test_patterns(place: str, pattern: str, expected: tuple[str, ...]) -> None:
    assert input_files([f"{place}/{pattern}"]) == [f"{place}/{name}" for name in expected]


def test_nothing_found(place: str) -> None:
    with pytest.raises(DataError, match=r"posts/none-\*: the pattern matches no file"):
        input_files([f"{place}/none-*"])
    with pytest.raises(DataError, match=r"nowhere/\*\.csv: the pattern matches no file"):
        input_files([f"{place}/nowhere/*.csv"])
    with pytest.raises(DataError, match=r"\[z-a\]: the pattern matches no file"):
        input_files([f"{place}/[z-a]"])
    with pytest.raises(DataError, match=r"posts/none\.csv: file (or folder )?not found"):
        check_inputs([f"{place}/none.csv"])


def test_a_folder_without_posts(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    expected = (
        r"the folder has no data file; it has image\.png \(not a table of posts\); expected \*\.jsonl, "
    )
    with pytest.raises(DataError, match=expected):
        read_posts(str(tmp_path))


def test_a_folder_is_read_by_content_and_names_what_it_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    comment = {"id": "c1", "body": "the dam", "created_utc": 1_720_000_000, "author": "a", "subreddit": "b"}
    dump = zstd.compress(json.dumps({**comment, "link_id": "t3_x", "parent_id": "t3_x"}).encode() + b"\n")
    posts = {
        "RC_2024-07.zst": dump,
        "plain": b"id;text\n1;dam\n",
        "EXPORT.CSV": b"id,text\n2,dam\n",
        "x.log": b'{"id": "3", "text": "dam"}\n',
        "x.dat": b"id\ttext\n4\tdam\n",
        "deep/x.ndjson.gz": gzip.compress(b'{"id": "5", "text": "dam"}\n'),
    }
    others = {
        "paper.pdf": b"%PDF-1.4",
        "photo.jpg": b"\xff\xd8\xff\xe0",
        "notes.docx": b"PK\x03\x04" + b"x" * 50,
        "labels.csv": b"post_id,label\n1,relevant\n",
        "codebook.csv": b"name,description\nid,the id of a post\n",
        "articles.jsonl": b'{"id": "a", "title": "Dam", "text": "It broke."}\n',
        "art.txt": b"The dam broke\n",
        "empty.csv": b"",
        "page.html": b"<!DOCTYPE html><html></html>",
        ".DS_Store": b"x",
        "README": b"what this is\n",
    }
    (tmp_path / "deep").mkdir()
    for name, content in {**posts, **others}.items():
        (tmp_path / name).write_bytes(content)
    assert {post.id for post in read_posts(str(tmp_path))} == {"t1_c1", "1", "2", "3", "4", "5"}
    said = capsys.readouterr().err
    assert "6 of 16 files read; left out: README (by its name no data), art.txt (plain text)" in said
    for part in (
        "articles.jsonl (by its name articles)",
        "empty.csv (the file is empty; add a header line)",
        "labels.csv (no column text)",
        "paper.pdf (not a table of posts)",
    ):
        assert part in said


def test_a_folder_of_texts_whose_ids_stay_when_there_are_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts").mkdir()
    Path("texts/b.txt").write_text("one\ntwo\n")
    one, two, three = (content_id(None, None, None, text) for text in ("one", "two", "three"))
    assert ids("texts") == ids("texts/*.txt") == ids("texts/b.txt") == [one, two]
    assert [post.source for post in read_posts("texts")] == ["texts/b.txt:1", "texts/b.txt:2"]
    Path("texts/a.txt").write_text("three\n")
    assert ids("texts") == [three, one, two]


def test_a_file_called_like_a_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("posts[1].jsonl").write_text('{"id": "own", "text": "x"}')
    Path("posts1.jsonl").write_text('{"id": "other", "text": "x"}')
    assert ids("posts[1].jsonl") == ["own"]
    assert ids("posts[0-9].jsonl") == ["other"]


def test_standard_input_only_once() -> None:
    with pytest.raises(DataError, match="standard input is named more than once"):
        check_inputs(["-", "-"])


class Site(SimpleHTTPRequestHandler):
    """Files, in pieces where these are asked for if it can; some that may not be read, some that break off."""

    ranges = False

    def send_head(self) -> Any:
        if "forbidden" in self.path:
            self.send_error(403)
            return None
        return super().send_head()

    def end_headers(self) -> None:
        if self.ranges:
            self.send_header("Accept-Ranges", "bytes")
        super().end_headers()

    def copyfile(self, source: Any, outputfile: Any) -> None:
        data = source.read()
        outputfile.write(data[: len(data) // 2] if "broken" in self.path else data)

    def do_GET(self) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not (self.ranges and wanted):
            super().do_GET()
            return
        data = Path(self.translate_path(self.path)).read_bytes()
        part = data[int(wanted[1]) : int(wanted[2]) + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {wanted[1]}-{int(wanted[1]) + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part[: len(part) // 2] if "broken" in self.path else part)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(params=[False, True], ids=["stream", "ranges"])
def site(request: Any, tmp_path: Path) -> Iterator[str]:
    """The address of a site that serves `tmp_path`."""
    pytest.importorskip("aiohttp", reason="the package aiohttp (extra `cloud`) is not installed")
    handler = type("Handler", (Site,), {"ranges": request.param})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_web_addresses(site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_REQUEST_BYTES", 10_000)
    lines = [json.dumps({"id": str(i), "text": f"words {i * i}"}) + "\n" for i in range(20_000)]
    (tmp_path / "many.jsonl.gz").write_bytes(gzip.compress("".join(lines).encode()))
    (tmp_path / "one.parquet").write_bytes(content("one.parquet"))
    found = read_posts([f"{site}/many.jsonl.gz?signature=secret*", f"{site}/one.parquet#top"])
    assert [post.id for post in found] == [*map(str, range(20_000)), "one.parquet"]


def test_what_cannot_be_read_is_reported_in_one_message_without_secrets(site: str, tmp_path: Path) -> None:
    (tmp_path / "forbidden.csv").touch()
    (tmp_path / "bad.csv").write_text("id,text\n1,\n")
    for name, message in (
        ("none.csv", "file not found"),
        ("forbidden.csv", "access denied, credentials"),
        ("bad.csv", "line 2: empty text"),
    ):
        with pytest.raises(DataError, match=rf"127\.0\.0\.1:\d+/{re.escape(name)}[:,] {message}") as caught:
            read_posts(f"{site.replace('//', '//user:secret@')}/{name}?signature=secret")
        assert "secret" not in str(caught.value)


def test_a_download_that_breaks_off(tmp_path: Path, site: str) -> None:
    (tmp_path / "broken.csv").write_text("id,text\n" + "".join(f"{i},words\n" for i in range(50_000)))
    with pytest.raises(DataError, match=r"broken\.csv: "):
        read_posts(f"{site}/broken.csv")


def test_no_server() -> None:
    pytest.importorskip("aiohttp", reason="the package aiohttp (extra `cloud`) is not installed")
    with pytest.raises(DataError, match=r"http://127\.0\.0\.1:1/x\.csv: cannot be read \(.*[Cc]onnect"):
        read_posts("http://127.0.0.1:1/x.csv")


def test_unknown_schemes_and_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"juggle://x/y\.csv: cannot be opened \(Protocol not known"):
        read_posts("juggle://x/y.csv")
    monkeypatch.setitem(__import__("sys").modules, "aiohttp", None)
    with pytest.raises(
        LinkerError, match=r"https addresses need packages .*: pip install 'article-linker\[cloud\]'"
    ):
        read_posts("https://127.0.0.1:1/x.csv")


def test_bad_lines_of_an_address_are_set_aside_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with fsspec.open("memory://bad-lines/bad.jsonl", "wb") as file:
        file.write(b'{"id": "1", "text": "x"}\n{\n')
    assert [post.id for post in read_posts("memory://bad-lines/bad.jsonl", None, "skip")] == ["1"]
    (record,) = map(json.loads, (tmp_path / "bad.jsonl.errors.jsonl").read_text().splitlines())
    assert (record["file"], record["line"]) == ("memory://bad-lines/bad.jsonl", 2)


def test_standard_input_comes_before_a_folder_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").mkdir()
    assert input_files("-") == ["-"]
