"""Labels given in Python: mappings, Series, data frames and lists."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, TypeAlias

from linker.common.errors import DataError
from linker.data.files.line_errors import LineError
from linker.data.files.rows import Row
from linker.data.io.fields import clean_id
from linker.data.labels.collector import Collector
from linker.data.labels.post_labels import LabelFile
from linker.data.labels.reading import read_labels, read_rows
from linker.data.labels.records import ImportedLabel, SampledLabels
from linker.data.types import Post
from linker.ranking.data_frames import ArrowStream, frame_of, plain, row_of, series_of
from linker.ranking.inputs import several, type_name

_EXPECTED = "a dict or Series from ids to labels, a data frame or list of records, or the path of a file"

AnyLabels: TypeAlias = "str | Path | Mapping[Any, Any] | Iterable[Any] | ArrowStream | LabelFile"


def as_labels(
    given: AnyLabels, posts: Sequence[Post] | None = None, index: Sequence[object] | None = None
) -> LabelFile:
    """Return labels from anything that `Ranker.rank` accepts.

    Args:
        given: the path of a file; a mapping or Series from ids of posts (text or whole numbers) to labels; a list,
            array or Series of one label per post, in order, None where there is none; or a data frame, or list of
            records, with the columns that files of labels have.
        posts: the labeled posts, in order; None: labels need ids.
        index: the pandas index of the data frame with the posts: labels with the same index belong to its rows.

    Raises:
        DataError: if a label is unknown, there is none, or there is not one per post.
    """
    if isinstance(given, LabelFile):
        return given
    if isinstance(given, (str, Path)):
        return read_labels(given)
    if isinstance(given, Mapping):
        return _of_pairs(list(given.items()), SampledLabels.of(given).random)
    series, frame = series_of(given), frame_of(given)
    if series is None and frame is None:
        if not isinstance(given, Iterable) or isinstance(given, (bytes, Set)):
            raise DataError(f"labels is {type_name(given)}; give {_EXPECTED}")
        given = list(given)
        rows = [row for item in given if (row := row_of(item)) is not None]
        if rows and len(rows) < len(given):
            raise DataError("labels has items that are no records; give dicts with post_id and label")
        series = None if rows else ([*map(plain, given)], None)
    if series is not None:
        return _of_pairs(_pairs(*series, posts, index))
    faults: list[str] = []
    collector = Collector("labels")
    read_rows(
        [Row(number, dict(row), "") for number, row in enumerate(rows if frame is None else frame.rows(), 1)],
        None if frame is None else frame.columns,
        collector,
        None,
        lambda line, error, raw: faults.append(f"record {line}: {error}"),
    )
    if faults:
        raise DataError(several(faults, "the labels"))
    return collector.result()


def _of_pairs(pairs: Sequence[tuple[Any, Any]], drawn: Collection[str] = ()) -> LabelFile:
    collector, faults = Collector("labels"), []
    for number, (post, label) in enumerate(pairs, 1):
        try:
            parsed = collector.parse(label, number)
            post_id = clean_id(plain(post))
        except LineError as error:
            faults.append(f"label {number}: {error}")
            continue
        labels = []
        if parsed.value is not None:
            sample = "random" if post_id in drawn else None
            labels.append(ImportedLabel(post_id, None, parsed.value, line=number, sample=sample))
        collector.record((), labels)
    if faults:
        raise DataError(several(faults, "the labels"))
    return collector.result() if pairs else LabelFile("labels", [])


def _pairs(
    labels: list[Any], index: list[object] | None, posts: Sequence[Post] | None, rows: Sequence[object] | None
) -> list[tuple[Any, Any]]:
    """Return ids of posts with their labels: by the ids, by the rows of a data frame, or in order; see `as_labels`."""
    ids = [post.id for post in posts or ()]
    rows = list(range(len(ids)) if rows is None else rows)
    if index is None or (ids and index == rows):
        if len(ids) != len(labels):
            count = f" for {len(ids):,} posts" * (posts is not None)
            raise DataError(
                f"labels is a list of {len(labels):,} labels{count}; give one per post, or {_EXPECTED}"
            )
        return list(zip(ids, labels))
    at = dict(zip(rows, ids))
    shown = {str(label).removesuffix(".0") for label in index}
    return list(
        zip([at[row] for row in index] if at.keys() >= {*index} and not shown & {*ids} else index, labels)
    )
