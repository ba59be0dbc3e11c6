"""Export of a corpus with its embeddings: one Parquet file, or a folder to load into PostgreSQL with pgvector."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from linker.common.console import progress_bar
from linker.common.errors import DataError, LinkerError
from linker.common.files import atomic_write
from linker.corpus.indexes.vectors import VECTORS, live_rows, stored_vectors, vectors_of
from linker.corpus.storage.reader import COLUMNS, ROWS_AT_ONCE, batches, schema
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import Store

if TYPE_CHECKING:
    import lance
    import pyarrow as pa

ROWS, SCRIPT = "posts.csv", "load.sql"
_OPERATORS = {"cosine": "vector_cosine_ops", "dot": "vector_ip_ops", "euclidean": "vector_l2_ops"}
#: PostgreSQL cannot store this character.
_NUL, _REPLACEMENT = "\0", "\ufffd"
#: A line that ends the data for psql before version 18, even inside quotes.
_END = re.compile(r"^\\\.(?=\r?$)", re.MULTILINE)

_LOAD = """\
-- {count} posts of linker, with embeddings by {model}.
--   psql DATABASE -f {script}
-- in this folder. It needs pgvector 0.5 or newer.
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE posts (
    id text PRIMARY KEY,
    text text NOT NULL,
    created_at timestamptz,
    lang text,
    extra jsonb NOT NULL,
    embedding vector({dim}) NOT NULL
);

\\copy posts FROM '{rows}' WITH (FORMAT csv, HEADER, FORCE_NULL (created_at, lang))

CREATE INDEX ON posts USING hnsw (embedding {operator});
ANALYZE posts;
"""


def export_parquet(store: Store, path: Path) -> int:
    """Write a Parquet file with the columns id, text, created_at, lang, extra (JSON) and vector (list of float32).

    Args:
        store: the corpus.
        path: the file, replaced atomically.

    Returns:
        The number of posts.

    Raises:
        LinkerError: if the corpus is empty, or the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    dataset, count = _dataset(store), 0
    fields = pa.schema([pa.field(name, schema().field(name).type) for name in COLUMNS])
    plain = fields.set(fields.get_field_index("extra"), pa.field("extra", pa.string()))
    plain = plain.append(pa.field("vector", pa.list_(pa.float32(), store.facts.dim)))
    with atomic_write(path, "wb") as file, pq.ParquetWriter(file, plain, compression="zstd") as writer:
        for batch, vectors in _tracked(store, dataset):
            columns = [
                batch.column(name).cast(pa.string()) if name == "extra" else batch.column(name)
                for name in COLUMNS
            ]
            columns.append(pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), store.facts.dim))
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=plain))
            count += len(batch)
    return count


def export_postgresql(store: Store, folder: Path) -> int:
    """Write a folder with `posts.csv` and `load.sql`, which creates a table with a pgvector column and an HNSW index.

    NUL characters, which PostgreSQL cannot store, become U+FFFD. A line `\\.` in a text, which would end the data for
    psql, gets a space.

    Args:
        store: the corpus.
        folder: a new or empty folder.

    Returns:
        The number of posts.

    Raises:
        LinkerError: if the corpus is empty, the folder is not, or a file cannot be written.
    """
    dataset, count = _dataset(store), 0
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LinkerError(f"{folder}: exists; give a new folder, or a file that ends with .parquet")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LinkerError(f"{folder}: cannot be created ({error.strerror})") from error
    with atomic_write(folder / ROWS) as file:
        count = _write_rows(file, store, dataset)
    script = _LOAD.format(
        count=f"{count:,}",
        model=store.facts.model.replace("\n", " "),
        script=SCRIPT,
        dim=store.facts.dim,
        rows=ROWS,
        operator=_OPERATORS.get(store.facts.similarity, "vector_cosine_ops"),
    )
    with atomic_write(folder / SCRIPT) as file:
        file.write(script)
    return count


def _write_rows(file: IO[str], store: Store, dataset: lance.LanceDataset) -> int:
    writer, count = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n"), 0
    writer.writerow([*COLUMNS, "embedding"])
    for batch, vectors in _tracked(store, dataset):
        for row, vector in zip(batch.to_pylist(), vectors):
            # Nine digits give every float32 back.
            numbers = ",".join(f"{number:.9g}" for number in vector.tolist())
            time = row["created_at"].isoformat() if row["created_at"] else None
            values = [_stored(row["id"]), _stored(row["text"]), time, row["lang"], _json(row["extra"])]
            writer.writerow([*values, f"[{numbers}]"])
        count += len(batch)
    return count


def _stored(text: str) -> str:
    return _END.sub(r"\\. ", text.replace(_NUL, _REPLACEMENT))


def _json(extra: str | None) -> str:
    if extra is None or "\\u0000" not in extra:
        return extra or "{}"
    return json.dumps(_without_nul(json.loads(extra)), ensure_ascii=False)


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return _stored(value)
    if isinstance(value, list):
        return [_without_nul(one) for one in value]
    if isinstance(value, dict):
        return {_stored(name): _without_nul(one) for name, one in value.items()}
    return value


def _dataset(store: Store) -> lance.LanceDataset:
    dataset = store.dataset()
    if dataset is None:
        raise DataError(f"{store.folder}: the corpus is empty; add posts with `linker corpus add`")
    return dataset


def _tracked(store: Store, dataset: lance.LanceDataset) -> Iterator[tuple[pa.RecordBatch, np.ndarray]]:
    """Yield the posts in batches, each with its embeddings: float32, posts × dim."""
    shards = Shards(store.folder, dataset)
    parts = live_rows(
        vectors_of(shards, shards.arrays(VECTORS, "reading embeddings", stored_vectors)), ROWS_AT_ONCE
    )
    ready = np.zeros((0, store.facts.dim), dtype=np.float32)
    with progress_bar() as progress:
        bar = progress.add_task("exporting posts", total=shards.posts)
        for batch in batches(dataset, COLUMNS):
            while len(ready) < len(batch):
                ready = np.concatenate([ready, next(parts)])
            yield batch, ready[: len(batch)]
            ready = ready[len(batch) :]
            progress.advance(bar, len(batch))
