"""Corpora of format 1, whose embeddings are in the store: read, added to, and deleted from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from linker.corpus.builder import add_to_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.deletion import condition_of, delete_posts
from linker.corpus.export import export_parquet
from linker.corpus.storage.store import Store
from linker.corpus.verify import faults
from linker.data.io.columns import PostColumns
from tests.corpus.conftest import write_posts
from tests.helpers import golden

SET = Path(__file__).parents[1] / "golden" / "0.2"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(SET / "corpus-1", tmp_path / "corpus")
    shutil.copytree(SET / "models", tmp_path / "models")
    return tmp_path


def scores(folder: Path) -> dict[str, float]:
    corpus = Corpus.open(folder / "corpus", folder / "models" / golden.MODEL)
    article = golden.texts(SET)[0][0]
    return {hit.post.id: hit.score for hit in corpus.rank(article, top=None, copies=True)}


def test_scores_are_those_of_the_present_format(folder: Path) -> None:
    assert scores(folder) == pytest.approx(scores(SET), abs=0.05)


def test_posts_are_added_and_deleted(folder: Path, tmp_path: Path) -> None:
    before = scores(folder)
    path = write_posts(tmp_path / "more.jsonl", [{"id": "new", "text": "an otter in the harbour"}])
    model = str(folder / "models" / golden.MODEL)
    assert add_to_corpus(folder / "corpus", [path], model, PostColumns()).new == 1
    after = scores(folder)
    assert after.keys() == {*before, "new"}
    store = Store.open(folder / "corpus")
    assert not list(faults(store))
    assert export_parquet(store, tmp_path / "posts.parquet") == len(after)
    gone = sorted(before)[:2]
    assert delete_posts(store, condition_of(gone)) == 2
    assert scores(folder).keys() == after.keys() - set(gone)
    assert not list(faults(store))
    assert sorted(path.name for path in (folder / "corpus").iterdir()) == [
        "checksums.jsonl", "corpus.json", "posts.lance", "shards", "writer.lock",
    ]  # fmt: skip
