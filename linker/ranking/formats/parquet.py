"""A ranking as Parquet."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import IO, Any

from linker.ranking.formats.records import collected, json_text, moment
from linker.ranking.ranked import RankedPost

_A_MOMENT = "2000-01-01T00:00:00+00:00"
_BATCH = 4_096
_INT64 = range(-(2**63), 2**63)


def write_parquet(file: IO[bytes], ranking: Iterable[RankedPost]) -> None:
    """Write typed columns: `created_at` is a time in UTC, `article_ids` a list of strings, others are JSON.

    A column that holds values of several kinds is one of strings.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    of_kinds = {
        frozenset({bool}): pa.bool_(),
        frozenset({int}): pa.int64(),
        frozenset({float}): pa.float64(),
        frozenset({int, float}): pa.float64(),
    }
    with collected(ranking) as records:
        types = {name: of_kinds.get(frozenset(kinds), pa.string()) for name, kinds in records.columns.items()}
        types |= {"rank": pa.int64(), "score": pa.float64()}
        for name, kind in types.items():
            if kind == pa.int64() and any(
                row.get(name) not in _INT64 for row in records if row.get(name) is not None
            ):
                types[name] = pa.string()
        if all(moment(row.get("created_at", _A_MOMENT)) for row in records):
            types.update({"created_at": pa.timestamp("us", tz="UTC")} if "created_at" in types else {})
        if records.columns.get("article_ids") == {list}:
            types["article_ids"] = pa.list_(pa.string())
        schema = pa.schema(list(types.items()))
        with pq.ParquetWriter(file, schema) as writer:
            rows = iter(records)
            while batch := list(islice(rows, _BATCH)):
                arrays = [
                    pa.array([_value(name, kind, row.get(name)) for row in batch], kind, from_pandas=False)
                    for name, kind in types.items()
                ]
                writer.write_batch(pa.record_batch(arrays, schema=schema))


def _value(name: str, kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if name == "created_at" and str(kind).startswith("timestamp"):
        return moment(value)
    if str(kind).startswith("list"):
        return list(map(str, value))
    if str(kind) == "string" and not isinstance(value, str):
        return json_text(value)
    return float(value) if str(kind) == "double" else value
