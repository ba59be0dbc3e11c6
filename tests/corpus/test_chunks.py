"""Posts read in chunks are the posts of the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linker.common.errors import DataError
from linker.corpus.chunks import Chunk, read_chunks
from linker.corpus.known_posts import post_keys
from linker.data.files.line_errors import BadLines, OnError
from linker.data.io.columns import PostColumns
from linker.data.io.records import stream_posts
from tests.corpus.conftest import some_posts, write_posts


def files(folder: Path) -> list[str]:
    return [write_posts(folder / f"{n}.jsonl", some_posts(40, start=40 * n)) for n in range(5)]


def read(paths: list[str], found: list[Chunk], on_error: OnError = "strict", characters: int = 10**6) -> None:
    with BadLines(on_error) as bad_lines:
        posts = stream_posts(paths, PostColumns(), bad_lines)
        found.extend(read_chunks(posts, bad_lines, 30, characters))


def test_all_posts_in_their_order_with_their_keys(tmp_path):
    paths, found = files(tmp_path), list[Chunk]()
    read(paths, found)
    with BadLines() as bad_lines:
        expected = list(stream_posts(paths, PostColumns(), bad_lines))
    assert [post for chunk in found for post in chunk.posts] == expected
    for chunk in found:
        assert len(chunk.posts) <= 30
        keys = post_keys([post.id for post in chunk.posts], [post.text for post in chunk.posts])
        assert np.array_equal(chunk.keys, keys)
    assert found[-1].bytes_read == sum(Path(path).stat().st_size for path in paths)


def test_a_chunk_ends_after_a_number_of_characters(tmp_path):
    path = write_posts(tmp_path / "posts.jsonl", [{"id": str(i), "text": "otter " * 20} for i in range(9)])
    found: list[Chunk] = []
    read([path], found, characters=300)
    assert [len(chunk.posts) for chunk in found] == [3, 3, 3, 0]


def test_in_strict_mode_the_chunk_before_the_first_bad_line_is_the_last(tmp_path):
    path = tmp_path / "posts.jsonl"
    write_posts(path, some_posts(250))
    with path.open("a") as file:
        file.write("{\n" * 50 + '{"id": "a", "text": "otter"}\n')
    found: list[Chunk] = []
    read([str(path)], found, "skip")
    assert sum(len(chunk.posts) for chunk in found) == 251
    found.clear()
    with pytest.raises(DataError, match="50 bad lines"):
        read([str(path)], found)
    assert [post.id for chunk in found for post in chunk.posts] == [post["id"] for post in some_posts(240)]


def test_a_damaged_file_is_reported_after_the_chunks_before_it(tmp_path):
    paths = files(tmp_path)
    paths[2] = str(tmp_path / "2.csv")
    Path(paths[2]).write_text("likes,shares\n1,2\n")
    bad_lines = BadLines()
    source = read_chunks(stream_posts(paths, PostColumns(), bad_lines), bad_lines, 30, 10**6)
    found = [post.id for _ in range(2) for post in next(source).posts]
    assert found == [post["id"] for post in some_posts(60)]
    with pytest.raises(DataError, match=r"2\.csv"):
        next(source)
