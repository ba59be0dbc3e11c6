"""Reading posts from the store in bounded memory, with errors that name the damage."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from linker.common.errors import DataError, LinkerError
from linker.data.languages import language_of_post
from linker.data.post_filter import in_utc
from linker.data.types import Post

if TYPE_CHECKING:
    import lance


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_COMPRESSED = {"lance-encoding:compression": "zstd"}


def schema() -> pa.Schema:
    """Return the columns; `extra` is JSON with all fields that have no column."""
    return pa.schema(
        [
            pa.field("id", pa.string(), metadata=_COMPRESSED),
            ("text", pa.string()),
            pa.field("created_at", pa.timestamp("us", tz="UTC"), metadata=_COMPRESSED),
            ("lang", pa.string()),
            pa.field("extra", pa.json_(), metadata=_COMPRESSED),
        ]
    )


#: Names of the columns.
COLUMNS = tuple(schema().names)
#: The columns that posts are made of. `lang` is the code of the language, stated or identified; what the source of a
#: post states is in `extra`.
OF_POSTS = tuple(name for name in COLUMNS if name != "lang")


def table_of(posts: Sequence[Post]) -> pa.Table:
    """Return posts as a table."""
    times = [post.created_at and in_utc(post.created_at) for post in posts]
    columns = [
        pa.array([post.id for post in posts], pa.string()),
        pa.array([post.text for post in posts], pa.string()),
        pa.array(times, pa.timestamp("us", tz="UTC")),
        pa.array([language_of_post(post) for post in posts], pa.string()),
        pa.ExtensionArray.from_storage(pa.json_(), pa.array([_extra(post) for post in posts], pa.string())),
    ]
    return pa.Table.from_arrays(columns, schema=schema())


def counts(dataset: lance.LanceDataset, column: str) -> Counter[str | None]:
    """Return the number of posts by the text in a column."""
    numbers: Counter[str | None] = Counter()
    for batch in batches(dataset, [column]):
        for entry in pc.value_counts(batch.column(column)).to_pylist():
            numbers[entry["values"]] += entry["counts"]
    return numbers


def posts_from(table: pa.Table | pa.RecordBatch) -> list[Post]:
    """Return the posts of a table with the columns `OF_POSTS`; it may have others."""
    # Column by column in NumPy: `to_pylist` takes four times as long, most of it for times.
    moments = table.column("created_at").to_numpy(zero_copy_only=False).astype("datetime64[us]")
    since = moments.view("timedelta64[us]").tolist()
    ids, texts = (table.column(name).to_numpy(zero_copy_only=False).tolist() for name in ("id", "text"))
    written = table.column("extra").cast(pa.string()).to_numpy(zero_copy_only=False).tolist()
    extras: list[dict[str, Any]] = json.loads(f"[{','.join([one or '{}' for one in written])}]")
    # `datetime.combine` takes three times as long, `replace` twelve times.
    times = [None if passed is None else _EPOCH + passed for passed in since]
    return [
        Post(id, text, tuple(extra.pop("article_ids", ())), at, extra.pop("split", None), extra)
        for id, text, at, extra in zip(ids, texts, times, extras)
    ]


def _extra(post: Post) -> str:
    values: dict[str, Any] = dict(post.extra)
    if post.article_ids:
        values["article_ids"] = list(post.article_ids)
    if post.split is not None:
        values["split"] = post.split
    return json.dumps(values, ensure_ascii=False, default=str)


ROWS_AT_ONCE = 16_384


def batches(dataset: lance.LanceDataset, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the posts in order, 16,384 at a time.

    Raises:
        DataError: if the store is damaged.
    """
    with readable(dataset.uri):
        scanner = dataset.scanner(
            columns=list(columns),
            batch_size=ROWS_AT_ONCE,
            batch_readahead=2,
            fragment_readahead=2,
            scan_in_order=True,
        )
        yield from scanner.to_batches()


@contextmanager
def readable(uri: str) -> Iterator[None]:
    """Turn errors of reading into messages.

    Raises:
        DataError: if something is damaged.
    """
    try:
        yield
    except (LinkerError, GeneratorExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Lance panics on some damage.
        panic = type(error).__name__ == "PanicException"
        if not panic and not isinstance(error, (OSError, ValueError, RuntimeError)):
            raise
        raise DataError(
            f"{uri}: cannot be read ({first_line(error)}); `linker corpus verify` names what is damaged"
        ) from error


def first_line(error: BaseException) -> str:
    """Return an error message of Lance without the location in its source."""
    return (str(error).splitlines() or [type(error).__name__])[0].split(", /")[0]
