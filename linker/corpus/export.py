"""Export of a corpus with its embeddings to a Parquet file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from linker.common.console import progress_bar
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.corpus.indexes.vectors import VECTORS, live_rows, stored_vectors, vectors_of
from linker.corpus.storage.reader import COLUMNS, ROWS_AT_ONCE, batches, schema
from linker.corpus.storage.store import Store


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
    shards = store.shards()
    if shards is None:
        raise DataError(f"{store.folder}: the corpus is empty; add posts with `linker corpus add`")
    types = {name: schema().field(name).type for name in COLUMNS} | {"extra": pa.string()}
    vector = pa.list_(pa.float32(), store.facts.dim)
    columns = pa.schema([*types.items(), ("vector", vector)])
    stored = vectors_of(shards, shards.arrays(VECTORS, "reading embeddings", stored_vectors))
    parts, ready = live_rows(stored, ROWS_AT_ONCE), np.zeros((0, store.facts.dim), dtype=np.float32)
    with (
        atomic_write(path, "wb") as file,
        pq.ParquetWriter(file, columns, compression="zstd") as writer,
        progress_bar() as progress,
    ):
        bar = progress.add_task("exporting posts", total=shards.posts)
        for batch in batches(shards.dataset, COLUMNS):
            while len(ready) < len(batch):
                ready = np.concatenate([ready, next(parts)])
            rows, ready = ready[: len(batch)], ready[len(batch) :]
            values = [batch.column(name).cast(type_) for name, type_ in types.items()]
            values.append(pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), store.facts.dim))
            writer.write_batch(pa.RecordBatch.from_arrays(values, schema=columns))
            progress.advance(bar, len(batch))
    return shards.posts
