"""Records of platforms as posts: every line accounted for, deletions honored everywhere, memory flat."""

import io
import json
import os
import re
import struct
import sys
import threading
import tracemalloc
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from linker.common.console import progress_bar
from linker.common.errors import DataError
from linker.data import PostColumns, read_posts
from linker.data.files.line_errors import BadLines
from linker.data.io.records import stream_posts
from tests.data.platforms.exports import EXPORTS

JETSTREAM = EXPORTS["bluesky_jetstream"][0].content.splitlines()
DELETED, POST, LIKE, DELETION = JETSTREAM[0], JETSTREAM[1], JETSTREAM[4], JETSTREAM[8]
WINDOW_2_31 = 21 << 3  # RFC 8878, 3.1.1.1.2: 10 plus the upper five bits


def file(path: Path, *lines: str) -> str:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def many(number: int, **changes: Any) -> list[str]:
    """Return distinct posts."""
    events = [json.loads(POST) | changes for _ in range(number)]
    for i, event in enumerate(events):
        event["commit"] = {**event["commit"], "rkey": f"n{i}"}
    return [json.dumps(event) for event in events]


def test_the_search_for_deletions_shows_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr("linker.common.console.stderr", Console(file=shown, force_terminal=True, width=120))
    source = file(tmp_path / "posts.jsonl", *many(2_000), DELETION)
    read_posts(source)
    assert "reading deletions" in shown.getvalue()
    with progress_bar() as outer:  # as in commands that show progress of their own
        outer.add_task("adding posts")
        assert len(read_posts(source)) == 2_000


def test_a_deletion_in_a_later_file_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = file(tmp_path / "1.jsonl", DELETED, POST), file(tmp_path / "2.jsonl", LIKE, DELETION)
    assert [post.id[-2:] for post in read_posts([first, second])] == ["/1"]
    assert capsys.readouterr().err.splitlines() == [
        f"{first}: read as Bluesky Jetstream: 1 post of 2 lines; 1 deleted post left out",
        f"{second}: read as Bluesky Jetstream: 0 posts of 2 lines; 1 like, 1 deletion left out",
    ]


def test_a_list_of_events_is_searched_for_deletions(tmp_path: Path) -> None:
    path = file(tmp_path / "1.json", f"[{DELETED}, {POST}, {DELETION}]")
    assert [post.id[-2:] for post in read_posts(path)] == ["/1"]


def test_deletions_on_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [DELETED, POST, LIKE, DELETION, '{"broken": ', POST]
    stream = io.TextIOWrapper(io.BytesIO("".join(line + "\n" for line in lines).encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    monkeypatch.chdir(tmp_path)
    with BadLines("skip") as bad_lines:
        assert [post.id[-2:] for post in stream_posts("-", PostColumns(), bad_lines)] == ["/1", "/1"]
        assert bad_lines.total == 1
    assert "2 posts of 6 lines; 1 deleted post, 1 like, 1 deletion left out" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of POSIX")
def test_deletions_in_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "posts.jsonl"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("\n".join([DELETED, POST, DELETION]),))
    writer.start()
    assert [post.id[-2:] for post in read_posts(str(pipe))] == ["/1"]
    writer.join()


def test_duplicates_are_counted_across_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [file(tmp_path / f"{i}.jsonl", POST, LIKE) for i in range(3)]
    assert len(read_posts(files)) == 1
    assert capsys.readouterr().err.count("0 posts of 2 lines; 1 duplicate, 1 like left out") == 2


def test_unknown_records_in_a_stream_are_reported(tmp_path: Path) -> None:
    path = file(tmp_path / "p.jsonl", POST, '{"id": "1", "text": "of another format"}', LIKE)
    with pytest.raises(
        DataError, match="line 2: not a record of Bluesky Jetstream: no collection; keys: id, text"
    ):
        read_posts(path)
    assert len(read_posts(path, on_error="skip")) == 1
    side = json.loads((tmp_path / "p.jsonl.errors.jsonl").read_text())
    assert side["line"] == 2


def test_names_of_authors_without_an_id_are_hidden_too(tmp_path: Path) -> None:
    view = {
        "uri": "at://a/app.bsky.feed.post/1",
        "author": {"handle": "a.example"},
        "record": {"text": "Dam"},
    }
    path = file(tmp_path / "p.jsonl", json.dumps({"post": view}))
    (post,) = read_posts(path)
    assert "a.example" not in str(post.extra)
    (post,) = read_posts(path, PostColumns(authors="plain"))
    assert post.extra["author_name"] == "a.example"


def test_named_columns_and_linked_posts(tmp_path: Path) -> None:
    event = {"path": {"to": "some text"}, **json.loads(POST), "article_id": "a1"}
    path = file(tmp_path / "p.jsonl", json.dumps(event))
    assert read_posts(path)[0].article_ids == ("a1",)
    assert read_posts(path, PostColumns(text="path.to", id=None))[0].text == "some text"
    with pytest.raises(DataError, match="format mastodon: has columns of its own"):
        read_posts(path, PostColumns(text="path.to", format="mastodon"))
    with pytest.raises(DataError, match='"mastdon" is not a registered Platform; did you mean "mastodon"'):
        read_posts(path, PostColumns(format="mastdon"))


def test_columns_are_read_by_name_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "4cat.csv"
    path.write_text("id,thread_id,timestamp,author,body,likes\n1,1,2026-01-01 00:00:00,ann,Dam,4\n")
    (post,) = read_posts(str(path), PostColumns(format="columns"))
    assert (post.text, post.extra["author"], post.extra["likes"]) == ("Dam", "ann", "4")


@pytest.mark.parametrize(
    "written",
    [
        "the day of the dam",
        "0001-01-01T00:00:00.000Z",
        "0000-01-01T00:00:00Z",
        "2924-11-27T13:50:05.980Z",
        "1970-01-01T00:00:00Z",
        "2024-11-27T13:50:10Z",  # later than its receipt
        "Wed Nov 27 2024 14:50:06 GMT+0100 (CET)",  # not in the form that Bluesky requires
        None,
    ],
)
def test_impossible_times_of_authors_are_those_of_the_platform(
    written: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    event = json.loads(POST) | {"time_us": 1732715409000000}
    event["commit"]["record"]["createdAt"] = written
    (post,) = read_posts(file(tmp_path / "p.jsonl", json.dumps(event)))
    assert post.created_at == datetime(2024, 11, 27, 13, 50, 9, tzinfo=timezone.utc)
    says = "has none" if written is None else f"says {written[:40]!r}"
    assert (
        f"1 post of 1 line, 1 time from the platform's clock (the record {says})" in capsys.readouterr().err
    )


@pytest.mark.parametrize("window", [17 << 3, WINDOW_2_31])
def test_zstd_with_the_window_of_reddit_dumps(window: int, tmp_path: Path) -> None:
    data = EXPORTS["reddit_comments"][0].content.encode()
    block = struct.pack("<I", 1 | len(data) << 3)[:3]  # the last one, raw
    path = tmp_path / "RC_2026-01.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00" + bytes([window]) + block + data)
    assert [post.id for post in read_posts(str(path))] == ["t1_def"]
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(DataError, match="damaged or truncated"):
        read_posts(str(path))


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(number: int) -> int:
        path = file(tmp_path / f"{number}.jsonl", *many(number))
        with BadLines() as bad_lines:
            tracemalloc.start()
            count = sum(1 for _ in stream_posts(path, PostColumns(), bad_lines))
            found = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert count == number
        return found

    peak(300)
    assert peak(4000) < peak(1000) + 200_000


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abtypeurl$", max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def damaged(value: Any, draw: Any) -> Any:
    """Return a JSON value in which some parts are others."""
    if draw(st.integers(0, 9)) == 0:
        return draw(VALUES)
    if isinstance(value, dict):
        return {key: damaged(item, draw) for key, item in value.items() if draw(st.integers(0, 19))}
    return [damaged(item, draw) for item in value] if isinstance(value, list) else value


ONE_A_LINE = {
    name: [json.loads(line) for line in case.content.splitlines()]
    for name, cases in EXPORTS.items()
    for case in cases[:1]
    if case.name == "posts.jsonl"
}


@settings(max_examples=150)
@given(data=st.data(), name=st.sampled_from(sorted(ONE_A_LINE)))
def test_every_line_is_a_post_left_out_or_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject, name: str
) -> None:
    records = [damaged(record, data.draw) for record in ONE_A_LINE[name] * 2]
    # With a post first, so that no line is taken for a page with a list of posts.
    records = ONE_A_LINE[name][:1] + [record if isinstance(record, dict) else {} for record in records]
    path = file(tmp_path / "p.jsonl", *map(json.dumps, records))
    capsys.readouterr()
    with BadLines("skip") as bad_lines:
        posts = list(stream_posts(path, PostColumns(format=name), bad_lines))
        bad = bad_lines.total
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "read as" in line]
    counts, _, rest = line.partition("read as ")[2].partition("; ")
    left_out = rest.partition(" left out")[0]
    if "bad line" in left_out or " date" in left_out:  # no record was left out, dates were
        left_out = ""
    left = sum(int(count) for count in re.findall(r"(?:^|, )(\d+) [a-zA-Z]", left_out))
    assert re.findall(r"(\d+) bad line", rest) == ([str(bad)] if bad else [])
    assert f" {len(posts)} post" in counts
    assert f"of {len(records)} line" in counts
    assert len(posts) + left + bad == len(records), line
    for post in posts:
        assert post.id
        assert post.text.strip()
        assert all(isinstance(link, str) for link in post.extra.get("links", []))


@settings(max_examples=150)
@given(data=st.data(), names=st.lists(st.sampled_from(sorted(ONE_A_LINE)), min_size=2, max_size=3))
def test_every_record_of_a_mixture_is_a_post_left_out_or_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject, names: list[str]
) -> None:
    whole = [record for name in names for record in ONE_A_LINE[name]]
    some = [damaged(record, data.draw) for record in whole]
    # Whole records first, so that formats are recognized.
    records = [*whole, *whole, *(record for record in some if isinstance(record, dict) and record)]
    path = file(tmp_path / "p.jsonl", *map(json.dumps, records))
    capsys.readouterr()
    with BadLines("skip") as bad_lines:
        posts = list(stream_posts(path, PostColumns(), bad_lines))
        bad, left_out = bad_lines.total, sum(file.left_out.total() for file in bad_lines.files)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "read as" in line]
    total = len(posts) + left_out + bad
    # A damaged record of several posts may have fewer or more than one.
    assert f"of {total:,} line" in line or f"of {total:,} records in {len(records):,} lines" in line
    assert not any("author_name" in post.extra for post in posts)
