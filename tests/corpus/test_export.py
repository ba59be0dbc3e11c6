"""Posts and embeddings of a corpus in other programs."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from linker.common.errors import LinkerError
from linker.corpus.builder import build_corpus
from linker.corpus.encoding import VECTORS
from linker.corpus.export import export_parquet, export_postgresql
from linker.corpus.indexes.vectors import stored_vectors, vectors_of
from linker.corpus.storage.reader import batches
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import Store
from linker.data.io.columns import PostColumns

POSTS = [
    {"id": "plain", "text": "the dam broke", "created_at": "2031-03-01T10:00:00Z", "lang": "en", "likes": 3},
    {"id": "quotes", "text": 'he said "no", twice;\nthen left', "created_at": None},
    {"id": "end", "text": "a\n\\.\nb\r\n\\.\r\nc"},
    {"id": "nul", "text": "nul \0 here", "author": "x\0y", "tags": ["a\0", {"b\0": "c\0"}]},
    {"id": "it's", "text": "{\\n,}\\", "created_at": "1999-12-31T23:59:59.123456+02:00", "lang": "de"},
]


@pytest.fixture(scope="module")
def store(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("export")
    (folder / "posts.jsonl").write_text("".join(json.dumps(post) + "\n" for post in POSTS))
    build_corpus(folder / "corpus", [str(folder / "posts.jsonl")], str(model_folder), PostColumns())
    return Store.open(folder / "corpus")


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


def test_rows_for_postgresql_have_the_same_values(store: Store, tmp_path: Path) -> None:
    assert export_postgresql(store, tmp_path / "pg") == len(POSTS)
    rows, vectors = stored(store)
    with (tmp_path / "pg" / "posts.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["id"] for row in found] == [row["id"] for row in rows]
    for row, expected, vector in zip(found, rows, vectors):
        text = expected["text"].replace("\0", "\ufffd")
        assert row["text"].replace("\\. ", "\\.") == text
        assert np.array_equal(np.array(json.loads(row["embedding"]), dtype=np.float32), vector)
        assert row["lang"] == (expected["lang"] or "")
    assert json.loads(found[0]["extra"])["likes"] == 3
    assert json.loads(found[3]["extra"]) == {
        "author": "x\ufffdy",
        "tags": ["a\ufffd", {"b\ufffd": "c\ufffd"}],
    }
    lines = (tmp_path / "pg" / "posts.csv").read_bytes().splitlines()
    assert b"\\." not in lines  # psql would stop there


def test_a_folder_that_holds_something_is_left_alone(store: Store, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(LinkerError, match="give a new folder"):
        export_postgresql(store, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_real_server_loads_and_searches_them(store: Store, tmp_path: Path) -> None:
    pgserver = pytest.importorskip("pgserver", reason="needs pgserver, PostgreSQL with pgvector from PyPI")
    export_postgresql(store, tmp_path / "pg")
    server = pgserver.get_server(tmp_path / "data")
    try:
        psql = Path(pgserver.__file__).parent / "pginstall" / "bin" / "psql"
        command = [str(psql), server.get_uri(), "-v", "ON_ERROR_STOP=1", "-f", "load.sql"]
        done = subprocess.run(command, cwd=tmp_path / "pg", capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        rows, _ = stored(store)
        query = "SELECT json_agg(json_build_array(id, text, created_at IS NULL, lang)) FROM posts"
        found = json.loads(subprocess.check_output([*command[:2], "-At", "-c", query], text=True))
        expected = {
            row["id"]: (row["text"].replace("\0", "\ufffd"), row["created_at"] is None, row["lang"])
            for row in rows
        }
        assert {id_: (text.replace("\\. ", "\\."), none, lang) for id_, text, none, lang in found} == expected
        nearest = "SELECT b.id FROM posts a, posts b WHERE a.id = 'end' ORDER BY a.embedding <=> b.embedding LIMIT 1"
        assert subprocess.check_output([*command[:2], "-At", "-c", nearest], text=True).strip() == "end"
    finally:
        server.cleanup()
