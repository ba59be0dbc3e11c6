"""Posts for a corpus out of folders and addresses, and where a corpus may lie."""

from pathlib import Path

import pytest

from linker.common.errors import DataError, LinkerError
from linker.corpus import builder as building
from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.engines.engine import Engine
from linker.corpus.storage.store import Store
from linker.corpus.verify import faults
from linker.data.io.columns import PostColumns
from tests.corpus.conftest import arrays_in, ids_in, some_posts, write_posts


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


class Repeating(Engine):
    """Calls everything twice, as if the first worker had died after its work; optionally ends early."""

    def __init__(self, results: int | None = None) -> None:
        self._results = results

    def map(self, function, items):
        for item in items:
            function(*item)
            result = function(*item)
            if self._results == 0:
                raise LinkerError("the cluster is lost")
            self._results = None if self._results is None else self._results - 1
            yield result


def test_work_that_is_repeated_counts_once(tmp_path, model_folder, monkeypatch):
    monkeypatch.setattr(building, "POSTS_AT_ONCE", 30)
    paths = [write_posts(tmp_path / f"{n}.jsonl", some_posts(70, start=60 * n)) for n in range(3)]
    here, there = tmp_path / "here", tmp_path / "there"
    for folder, engine in ((here, Engine()), (there, Repeating())):
        added = build_corpus(folder, paths, str(model_folder), PostColumns(), engine=engine)
        assert (added.new, added.known, added.conflicting) == (190, 20, 0)
    assert ids_in(there) == [post["id"] for post in some_posts(190)]
    assert arrays_in(there) == arrays_in(here)
    assert not list(faults(Store.open(there)))
    for kind in ("posts.lance/data", "shards"):
        names = {path.stem for path in (there / kind).iterdir() if path.is_dir() or path.suffix == ".lance"}
        assert len(names) == 7


def test_a_lost_cluster_leaves_what_was_written_before(tmp_path, model_folder, monkeypatch):
    monkeypatch.setattr(building, "POSTS_AT_ONCE", 10)
    path = write_posts(tmp_path / "posts.jsonl", some_posts(100))
    folder = tmp_path / "corpus"
    with pytest.raises(LinkerError, match="the cluster is lost"):
        build_corpus(folder, [path], str(model_folder), PostColumns(), engine=Repeating(results=7))
    assert ids_in(folder) == [post["id"] for post in some_posts(70)]
    assert not list(faults(Store.open(folder)))
    assert build_corpus(folder, [path], str(model_folder), PostColumns()).new == 30
    assert ids_in(folder) == [post["id"] for post in some_posts(100)]
    assert not list(faults(Store.open(folder)))
