"""Posts read in chunks are the posts of the files."""

from pathlib import Path

import pytest

from linker.common.errors import DataError
from linker.corpus.chunks import read_chunks
from linker.data.files.line_errors import BadLines, OnError
from linker.data.io.columns import PostColumns
from linker.data.io.records import stream_posts
from linker.data.types import Post
from tests.corpus.conftest import some_posts, write_posts

Chunks = list[tuple[list[Post], int]]


def files(folder: Path) -> list[str]:
    return [write_posts(folder / f"{n}.jsonl", some_posts(40, start=40 * n)) for n in range(5)]


def read(paths: list[str], found: Chunks, on_error: OnError = "strict", characters: int = 10**6) -> None:
    with BadLines(on_error) as bad_lines:
        found.extend(read_chunks(stream_posts(paths, PostColumns(), bad_lines), bad_lines, 30, characters))


def test_all_posts_in_their_order(tmp_path):
    paths, found = files(tmp_path), Chunks()
    read(paths, found)
    with BadLines() as bad_lines:
        expected = list(stream_posts(paths, PostColumns(), bad_lines))
    assert [post for posts, _ in found for post in posts] == expected
    assert all(len(posts) <= 30 for posts, _ in found)
    assert found[-1][1] == sum(Path(path).stat().st_size for path in paths)


def test_a_chunk_ends_after_a_number_of_characters(tmp_path):
    path = write_posts(tmp_path / "posts.jsonl", [{"id": str(i), "text": "otter " * 20} for i in range(9)])
    found: Chunks = []
    read([path], found, characters=300)
    assert [len(posts) for posts, _ in found] == [3, 3, 3, 0]


def test_in_strict_mode_the_chunk_before_the_first_bad_line_is_the_last(tmp_path):
    path = tmp_path / "posts.jsonl"
    write_posts(path, some_posts(250))
    with path.open("a") as file:
        file.write("{\n" * 50 + '{"id": "a", "text": "otter"}\n')
    found: Chunks = []
    read([str(path)], found, "skip")
    assert sum(len(posts) for posts, _ in found) == 251
    found.clear()
    with pytest.raises(DataError, match="50 bad lines"):
        read([str(path)], found)
    assert [post.id for posts, _ in found for post in posts] == [post["id"] for post in some_posts(240)]


def test_a_damaged_file_is_reported_after_the_chunks_before_it(tmp_path):
    paths = files(tmp_path)
    paths[2] = str(tmp_path / "2.csv")
    Path(paths[2]).write_text("likes,shares\n1,2\n")
    bad_lines = BadLines()
    source = read_chunks(stream_posts(paths, PostColumns(), bad_lines), bad_lines, 30, 10**6)
    assert [post.id for _ in range(2) for post in next(source)[0]] == [post["id"] for post in some_posts(60)]
    with pytest.raises(DataError, match=r"2\.csv"):
        next(source)
