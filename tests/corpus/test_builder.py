"""Posts for a corpus out of folders and addresses, and where a corpus may lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from linker.common.errors import DataError, LinkerError
from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.corpus import Corpus
from linker.data.io.columns import PostColumns
from tests.corpus.conftest import some_posts, write_posts


def test_out_of_a_folder_and_an_address(tmp_path, model_folder):
    fsspec = pytest.importorskip("fsspec", reason="the package fsspec (comes with torch) is not installed")
    (tmp_path / "posts" / "deep").mkdir(parents=True)
    write_posts(tmp_path / "posts" / "deep" / "b.jsonl", some_posts(20, start=30))
    write_posts(tmp_path / "posts" / "a.jsonl", some_posts(30))
    corpus = tmp_path / "corpus"
    assert build_corpus(corpus, [str(tmp_path / "posts")], str(model_folder), PostColumns()).new == 50
    fsspec.filesystem("memory").pipe(
        "/for-corpora/posts.jsonl", Path(tmp_path / "posts" / "a.jsonl").read_bytes()
    )
    added = add_to_corpus(corpus, ["memory://for-corpora/*.jsonl"], None, PostColumns())
    assert (added.new, added.known) == (0, 30)
    assert sorted(r.post.id for r in Corpus.open(corpus).rank("harbour1", None, copies=True)) == [
        post["id"] for post in some_posts(50)
    ]


def test_what_is_missing_is_found_out_before_anything_is_made(tmp_path, model_folder):
    with pytest.raises(DataError, match="file not found"):
        build_corpus(tmp_path / "corpus", [str(tmp_path / "none.csv")], str(model_folder), PostColumns())
    assert not (tmp_path / "corpus").exists()


def test_a_corpus_needs_a_file_system(tmp_path, model_folder):
    posts = write_posts(tmp_path / "posts.jsonl", some_posts(3))
    message = "s3://bucket/corpus: a corpus needs a file system"
    with pytest.raises(LinkerError, match=message):
        build_corpus(Path("s3://bucket/corpus"), [posts], str(model_folder), PostColumns())
    with pytest.raises(LinkerError, match=message):
        Corpus.open(Path("s3://bucket/corpus"))
