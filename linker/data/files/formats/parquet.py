"""Parquet files, read in batches of rows."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from linker.common.errors import DataError
from linker.data.files.line_errors import InputFile
from linker.data.files.rows import Row, Table

_BATCH = 1024


@contextmanager
def parquet_table(file: InputFile, stream: BinaryIO) -> Iterator[Table]:
    """Open a Parquet file; its rows are numbered from 1, as lines are elsewhere.

    The bytes are copied to a temporary file, because Parquet is read from its end and the input may be a pipe.

    Raises:
        DataError: if it is not a Parquet file, is damaged or has a repeated column.
    """
    import pyarrow
    import pyarrow.parquet

    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
        try:
            parquet = pyarrow.parquet.ParquetFile(copy)
            columns = list(parquet.schema_arrow.names)
        except pyarrow.ArrowException as error:
            raise DataError(
                f"{file.shown}: not a Parquet file, or damaged ({error}); export it again"
            ) from error
        if len(set(columns)) < len(columns):
            raise DataError(f"{file.shown}: repeated column among {', '.join(columns)}; rename one of them")

        def rows() -> Iterator[Row]:
            try:
                for batch in parquet.iter_batches(batch_size=_BATCH):
                    for values in batch.to_pylist():
                        file.lines += 1
                        yield Row(file.lines, values, json.dumps(values, ensure_ascii=False, default=str))
            except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
                raise DataError(
                    f"{file.shown}, row {file.lines + 1}: damaged ({error}); export it again"
                ) from error

        yield Table("parquet", columns, rows())
