"""Posts as rows of the store, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from linker.data.filter import in_utc, language_of
from linker.data.types import Post


def schema(dim: int) -> pa.Schema:
    """The columns: `extra` is JSON with every field that has no column of its own."""
    return pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("created_at", pa.timestamp("us", tz="UTC")),
            ("lang", pa.string()),
            ("extra", pa.json_()),
            ("vector", pa.list_(pa.float32(), dim)),
        ]
    )


def table_of(posts: Sequence[Post], vectors: np.ndarray) -> pa.Table:
    """Posts and their vectors, posts × dim, as rows."""
    dim = vectors.shape[1]
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
    columns = [
        pa.array([post.id for post in posts], pa.string()),
        pa.array([post.text for post in posts], pa.string()),
        pa.array([_utc(post.created_at) for post in posts], pa.timestamp("us", tz="UTC")),
        pa.array([language_of(post) for post in posts], pa.string()),
        pa.ExtensionArray.from_storage(pa.json_(), pa.array([_extra(post) for post in posts], pa.string())),
        pa.FixedSizeListArray.from_arrays(flat, dim),
    ]
    return pa.Table.from_arrays(columns, schema=schema(dim))


def post_from(row: dict[str, Any]) -> Post:
    """The post of a row without its vector."""
    extra = json.loads(row["extra"]) if row.get("extra") else {}
    article_ids, split = extra.pop("article_ids", []), extra.pop("split", None)
    return Post(row["id"], row["text"], tuple(article_ids), row["created_at"], split, extra)


def _utc(at: datetime | None) -> datetime | None:
    return None if at is None else in_utc(at)


def _extra(post: Post) -> str:
    values: dict[str, Any] = dict(post.extra)
    if post.article_ids:
        values["article_ids"] = list(post.article_ids)
    if post.split is not None:
        values["split"] = post.split
    return json.dumps(values, ensure_ascii=False, default=str)
