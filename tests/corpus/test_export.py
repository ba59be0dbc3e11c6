"""Posts and embeddings of a corpus in other programs."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from linker.corpus.encoding import VECTORS
from linker.corpus.export import export_parquet
from linker.corpus.indexes.vectors import stored_vectors, vectors_of
from linker.corpus.storage.reader import batches
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import Store
from tests.corpus.conftest import build_of

POSTS: list[dict] = [
    {"id": "plain", "text": "the dam broke", "created_at": "2031-03-01T10:00:00Z", "lang": "en", "likes": 3},
    {"id": "quotes", "text": 'he said "no", twice;\nthen left', "created_at": None},
    {"id": "end", "text": "a\n\\.\nb\r\n\\.\r\nc"},
    {"id": "nul", "text": "nul \0 here", "author": "x\0y", "tags": ["a\0", {"b\0": "c\0"}]},
    {"id": "it's", "text": "{\\n,}\\", "created_at": "1999-12-31T23:59:59.123456+02:00", "lang": "de"},
]


@pytest.fixture(scope="module")
def store(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(build_of(tmp_path_factory.mktemp("export") / "corpus", POSTS, model_folder))


def stored(store: Store) -> tuple[list[dict], np.ndarray]:
    dataset = store.dataset()
    assert dataset is not None
    (batch,) = batches(dataset, ["id", "text", "created_at", "lang", "extra"])
    shards = Shards(store.folder, dataset)
    (vectors,) = vectors_of(shards, shards.arrays(VECTORS, "", stored_vectors))
    return batch.to_pylist(), vectors.rows()


def test_parquet_has_every_column_and_the_same_numbers(store: Store, tmp_path: Path) -> None:
    assert export_parquet(store, tmp_path / "posts.parquet") == len(POSTS)
    table = pq.read_table(tmp_path / "posts.parquet")
    rows, vectors = stored(store)
    assert table.column_names == ["id", "text", "created_at", "lang", "extra", "vector"]
    assert table.drop_columns(["vector"]).to_pylist() == rows
    assert np.array_equal(np.array(table.column("vector").to_pylist(), dtype=np.float32), vectors)
