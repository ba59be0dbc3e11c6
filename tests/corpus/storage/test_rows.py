"""Rows of posts by index are the same from disk and from memory."""

import numpy as np
import pytest

pytest.importorskip("lance", reason="the package pylance (extra `corpus`) is not installed")

from linker.corpus.corpus import Corpus
from linker.corpus.deletion import delete_posts
from linker.corpus.filters import is_in
from linker.corpus.storage import rows as rows_module
from linker.corpus.storage.reader import OF_POSTS
from linker.corpus.storage.rows import Rows
from linker.corpus.storage.store import Store
from tests.corpus.conftest import build_of, some_posts

PLACES = np.array([41, 3, 3, 0])


@pytest.fixture
def store(tmp_path, model_folder):
    return Store.open(build_of(tmp_path / "corpus", some_posts(60), model_folder))


def readings(rows, monkeypatch):
    """Return a list to which every reading from disk adds the number of its posts."""
    sizes = []

    class Dataset:
        def __getattr__(self, name):
            return getattr(dataset, name)

        def take(self, places, columns):
            sizes.append(len(places))
            return dataset.take(places, columns=columns)

    dataset = rows.dataset
    monkeypatch.setattr(rows, "dataset", Dataset())
    return sizes


def test_few_posts_are_read_from_disk_once_and_then_from_memory(store, monkeypatch):
    rows = Rows(store.dataset())
    sizes = readings(rows, monkeypatch)
    first = rows.at(PLACES, OF_POSTS).to_pylist()
    assert len(first) == 4
    assert rows.at(PLACES, OF_POSTS).to_pylist() == first
    assert rows.at(PLACES[:1], ["id"]).to_pylist() == [{"id": first[0]["id"]}]
    assert sizes == [3]  # one place is given twice


@pytest.mark.parametrize("limit", ["_MOST_POSTS", "_MOST_BYTES"])
def test_many_or_long_posts_are_always_read_from_disk(store, monkeypatch, limit):
    monkeypatch.setattr(rows_module, limit, 50)
    rows = Rows(store.dataset())
    sizes = readings(rows, monkeypatch)
    first, _, later = (rows.at(places, OF_POSTS).to_pylist() for places in (PLACES, PLACES + 1, PLACES))
    assert later == first
    assert sizes == [3, 3, 3]  # other posts were read in between


def test_deleted_posts_are_neither_on_disk_nor_in_memory(store):
    before = Rows(store.dataset()).at(np.arange(60), ["id"]).column("id").to_pylist()
    delete_posts(store, is_in("id", before[:10]))
    rows = Rows(store.dataset())
    both = [rows.at(np.arange(50), ["id"]).column("id").to_pylist() for _ in range(2)]
    assert both == [before[10:]] * 2


def test_a_later_question_gets_the_same_answer(store, model_folder):
    corpus = Corpus.open(store.folder, model_folder)
    first, *later = (list(corpus.rank("harbour0 harbour1 w1", 30)) for _ in range(4))
    assert later == [first] * 3
