"""Export of a corpus with its embeddings to a Parquet file."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from linker.common.console import track
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.corpus.indexes.vectors import VECTORS, stored_vectors, vectors_of
from linker.corpus.storage.reader import COLUMNS, schema
from linker.corpus.storage.store import Store


def export_parquet(store: Store, path: Path) -> int:
    """Write a Parquet file with the columns id, text, created_at, lang, extra (JSON) and vector (list of float32).

    Returns:
        The number of posts.

    Raises:
        LinkerError: if the corpus is empty, or the file cannot be written.
    """
    if not store.facts.dim:
        raise DataError(f"{store.folder}: its model ({store.facts.model}) has no embeddings to export")
    shards = store.shards()
    if shards is None:
        raise DataError(f"{store.folder}: the corpus is empty; add posts with `linker corpus add`")
    types = {name: schema().field(name).type for name in COLUMNS} | {"extra": pa.string()}
    columns = pa.schema([*types.items(), ("vector", pa.list_(pa.float32(), store.facts.dim))])
    stored = vectors_of(shards, shards.arrays(VECTORS, "reading embeddings", stored_vectors))
    with atomic_write(path, "wb") as file, pq.ParquetWriter(file, columns, compression="zstd") as writer:
        for shard, embeddings in track(zip(shards, stored), "exporting posts", len(shards)):
            posts = shards.table([shard]).combine_chunks()
            values = [posts.column(name).cast(type_) for name, type_ in types.items()]
            rows = pa.array(embeddings.rows().ravel())
            values.append(pa.FixedSizeListArray.from_arrays(rows, store.facts.dim))
            writer.write_table(pa.Table.from_arrays(values, schema=columns))
    return shards.posts
