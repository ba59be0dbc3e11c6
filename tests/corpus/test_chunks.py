"""Posts read in chunks, wherever, are the posts of the files, with the same reports."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from linker.common.errors import DataError, LinkerError
from linker.corpus import chunks
from linker.corpus.chunks import ChunkReader, Posts, divided, groups_of
from linker.corpus.engines.engine import Engine
from linker.corpus.known_posts import post_keys
from linker.data.files.line_errors import BadLines, OnError
from linker.data.io.columns import PostColumns
from linker.data.io.recorded_lines import Replay
from linker.data.io.records import stream_posts
from linker.data.types import Post
from tests.corpus.conftest import some_posts, write_posts


def reader(on_error: OnError = "strict", characters: int = 10**6) -> ChunkReader:
    return ChunkReader(PostColumns(), on_error, set(), 30, characters)


def files(folder: Path, bad: tuple[int, ...] = ()) -> list[str]:
    paths = []
    for number in range(5):
        lines = Path(write_posts(folder / f"{number}.jsonl", some_posts(40, start=40 * number)))
        if number in bad:
            lines.write_text(lines.read_text() + '{"id": "x"}\n{\n')
        paths.append(str(lines))
    return paths


def read(
    paths: list[str], on_error: OnError = "strict", in_ranges: bool = False
) -> list[tuple[chunks.Chunk, list[Post]]]:
    found = []
    with BadLines(on_error) as bad_lines:
        replay = Replay(bad_lines)
        for group in groups_of(paths, divided(paths, PostColumns(), Engine()) if in_ranges else {}):
            for chunk, posts in reader(on_error)(group.first, group.files, group.part):
                replay.apply(chunk.reports)
                found.append((chunk, list(posts)))
    return found


def test_files_are_grouped_by_their_bytes_and_large_ones_are_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "_BYTES_AT_ONCE", 10)
    for name, size in (("a", 4), ("b", 5), ("c", 2), ("d", 30), ("e", 1)):
        (tmp_path / name).write_text("x" * size)
    paths = [str(tmp_path / name) for name in "abcde"]
    groups = groups_of(paths, {})
    assert [[Path(path).name for path in group.files] for group in groups] == [
        ["a", "b"],
        ["c"],
        ["d"],
        ["e"],
    ]
    assert [(group.first, group.bytes) for group in groups] == [(0, 9), (2, 2), (3, 30), (4, 1)]
    assert groups_of(["s3://bucket/a.jsonl"], {})[0].bytes is None


@pytest.mark.parametrize("at_once", [1, 10**9])
def test_all_posts_in_their_order_with_their_keys(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(chunks, "_BYTES_AT_ONCE", at_once)
    paths = files(tmp_path)
    found = read(paths)
    with BadLines() as bad_lines:
        expected = list(stream_posts(paths, PostColumns(), bad_lines))
    assert [post for _, posts in found for post in posts] == expected
    for chunk, posts in found:
        assert len(posts) <= 30
        keys = post_keys([post.id for post in posts], [post.text for post in posts])
        assert np.array_equal(chunk.keys, keys)


def test_a_chunk_ends_after_a_number_of_characters(tmp_path):
    path = write_posts(tmp_path / "posts.jsonl", [{"id": str(i), "text": "otter " * 20} for i in range(9)])
    sizes = [len(posts) for _, posts in reader(characters=300)(0, [path])]
    assert sizes == [3, 3, 3, 0]


def test_bad_lines_are_set_aside_as_by_one_reader(tmp_path, monkeypatch, capsys):
    paths = files(tmp_path, bad=(1, 3))
    with BadLines("skip") as bad_lines:
        expected = list(stream_posts(paths, PostColumns(), bad_lines))
    messages = capsys.readouterr().err
    sides = {path: path.read_text() for path in tmp_path.glob("*.errors*")}
    assert sorted(path.name for path in sides) == ["1.jsonl.errors.jsonl", "3.jsonl.errors.jsonl"]
    for path in sides:
        path.unlink()
    monkeypatch.setattr(chunks, "_BYTES_AT_ONCE", 1)
    found = read(paths, "skip")
    assert [post for _, posts in found for post in posts] == expected
    assert capsys.readouterr().err == messages
    assert {path: path.read_text() for path in tmp_path.glob("*.errors*")} == sides


def test_bad_lines_in_strict_mode_are_listed_and_counted(tmp_path):
    path = tmp_path / "posts.jsonl"
    path.write_text('{"id": "a", "text": "otter"}\n' + "{\n" * 50)
    with pytest.raises(DataError) as expected, BadLines() as bad_lines:
        list(stream_posts(str(path), PostColumns(), bad_lines))
    with pytest.raises(DataError) as error:
        read([str(path)])
    assert str(error.value) == str(expected.value)
    assert "50 bad lines" in str(error.value)


def test_a_damaged_file_is_reported_after_the_posts_before_it(tmp_path):
    paths = files(tmp_path)
    paths[2] = str(tmp_path / "2.csv")
    Path(paths[2]).write_text("likes,shares\n1,2\n")
    source = reader()(0, paths)
    found: list[Post] = []
    for _ in range(3):
        found += next(source)[1]
    assert [post.id for post in found] == [post["id"] for post in some_posts(60)]
    with pytest.raises(DataError, match=r"2\.csv"):
        next(source)


def test_a_file_on_another_machine_is_reported(tmp_path):
    with pytest.raises(LinkerError, match=r"gone\.jsonl: file not found on "):
        next(reader()(0, [str(tmp_path / "gone.jsonl")]))


def test_posts_are_the_same_in_another_process(tmp_path):
    (_, posts), *_ = reader()(0, files(tmp_path))
    copy = pickle.loads(pickle.dumps(posts))
    assert isinstance(copy, Posts)
    assert [(post, post.extra) for post in copy] == [(post, post.extra) for post in posts]
    assert len(pickle.dumps(posts)) < len(pickle.dumps(list(posts)))


@pytest.mark.parametrize("on_error", ["strict", "skip"])
@pytest.mark.parametrize("at_once", [1, 900, 2_000])
def test_a_large_file_is_read_in_ranges(tmp_path, monkeypatch, capsys, at_once, on_error):
    """Without ids; with blank lines, nested texts, and dates that are left out."""
    path = tmp_path / "large.jsonl"
    lines = [
        json.dumps({"post": {"text": post["text"]}, "when": "05/06/2031"}) + "\n" for post in some_posts(60)
    ]
    lines[20:20] = ["\n", " \r\n"]
    if on_error == "skip":
        lines[41:41] = ["{\n", '{"post": 3}\n', "{\n"]
    path.write_text("".join([*lines[:50], "\n", *lines[50:]]))
    columns = PostColumns(id=None, text="post.text", created_at="when")
    with BadLines(on_error) as bad_lines:
        expected = list(stream_posts(str(path), columns, bad_lines))
    messages = capsys.readouterr().err
    assert "3 blank lines" in messages
    assert "60 dates" in messages
    side = tmp_path / "large.jsonl.errors.jsonl"
    set_aside = sorted(side.read_text().splitlines()) if on_error == "skip" else []
    monkeypatch.setattr(chunks, "_BYTES_AT_ONCE", at_once)
    groups = groups_of([str(path)], divided([str(path)], columns, Engine()))
    assert len(groups) > 1
    assert sum(group.bytes or 0 for group in groups) == path.stat().st_size
    found: list[Post] = []
    with BadLines(on_error) as bad_lines:
        replay = Replay(bad_lines)
        for group in groups:
            reading = ChunkReader(columns, on_error, set(), 7, 10**6)
            for chunk, posts in reading(group.first, group.files, group.part):
                replay.apply(chunk.reports)
                found += posts
        assert bad_lines.bytes_read == path.stat().st_size
    assert [(post, post.extra, post.source) for post in found] == [
        (post, post.extra, post.source) for post in expected
    ]
    assert capsys.readouterr().err == messages
    assert (sorted(side.read_text().splitlines()) if on_error == "skip" else []) == set_aside


def test_a_bad_line_of_a_later_range_has_its_number(tmp_path, monkeypatch):
    path = write_posts(tmp_path / "large.jsonl", some_posts(60))
    with open(path, "a") as file:
        file.write("{\n")
    monkeypatch.setattr(chunks, "_BYTES_AT_ONCE", 1_000)
    with pytest.raises(DataError, match=r"large\.jsonl, line 61: broken JSON"):
        read([path], in_ranges=True)
