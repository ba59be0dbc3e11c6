"""What depends on all posts of a corpus with an index is there before the first question, and is verified."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.deletion import delete_posts
from linker.corpus.indexes import times
from linker.corpus.indexes.postings import Postings
from linker.corpus.storage.array_files import ArrayFiles
from linker.corpus.storage.shards import SHARDS
from linker.corpus.storage.store import Store
from linker.corpus.verify import faults
from linker.data.io.columns import PostColumns
from linker.data.types import Article
from tests.corpus.conftest import some_posts, write_posts

ARTICLE = Article("a", "harbour0 harbour1 n3", published=datetime(2031, 5, 4, tzinfo=timezone.utc))
JOINT = ["squares.english", "times"]


@pytest.fixture(scope="module")
def posts_file(tmp_path_factory) -> str:
    return write_posts(tmp_path_factory.mktemp("posts") / "posts.jsonl", some_posts(40))


@pytest.fixture
def corpus(tmp_path, posts_file) -> Path:
    build_corpus(tmp_path / "corpus", [posts_file], "best", PostColumns())
    Corpus.open(tmp_path / "corpus").build_index()
    return tmp_path / "corpus"


def ranked(folder: Path) -> list[tuple[str, float]]:
    return [(hit.post.id, hit.score) for hit in Corpus.open(folder).rank(ARTICLE, None, copies=True)]


def joint_files(folder: Path, name: str) -> list[Path]:
    return sorted((folder / SHARDS).glob(f"{name}-*.safetensors"))


def test_a_search_computes_nothing_that_depends_on_all_posts(corpus, monkeypatch):
    expected = ranked(corpus)

    def computed(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(Postings, "_computed_squares", computed)
    monkeypatch.setattr(times, "_read", computed)
    assert ranked(corpus) == expected


@pytest.mark.parametrize("name", JOINT)
def test_a_missing_file_is_made_again(corpus, name):
    expected, (path,) = ranked(corpus), joint_files(corpus, name)
    content = path.read_bytes()
    path.unlink()
    assert ranked(corpus) == expected
    assert path.read_bytes() == content


def test_the_files_follow_the_posts(corpus, tmp_path):
    before = {name: joint_files(corpus, name) for name in JOINT}
    more = write_posts(tmp_path / "more.jsonl", some_posts(10, start=40))
    add_to_corpus(corpus, [more], None, PostColumns())
    after_adding = {name: joint_files(corpus, name) for name in JOINT}
    delete_posts(Store.open(corpus), "id = 'p00003'")
    after_deletion = {name: joint_files(corpus, name) for name in JOINT}
    for name in JOINT:  # one each, and always another one
        assert len({*before[name], *after_adding[name], *after_deletion[name]}) == 3
    build_corpus(
        tmp_path / "same", [write_posts(tmp_path / "all.jsonl", some_posts(50))], "best", PostColumns()
    )
    delete_posts(Store.open(tmp_path / "same"), "id = 'p00003'")
    assert ranked(corpus) == ranked(tmp_path / "same")


@pytest.mark.parametrize("name", JOINT)
def test_files_that_differ_from_the_posts_are_faults(corpus, name):
    files, (path,) = ArrayFiles(corpus / SHARDS), joint_files(corpus, name)
    stem = path.name.rsplit("-", 1)[0]
    arrays = files.read(stem)
    assert arrays is not None
    assert not list(faults(Store.open(corpus)))
    values = np.array(arrays["values"])
    values[-1] += 1
    files.write(stem, {**arrays, "values": values})
    (fault,) = faults(Store.open(corpus))
    assert fault.file == f"{SHARDS}/{stem}"
    assert fault.problem == "differs from the posts; delete it, and it is created again"
