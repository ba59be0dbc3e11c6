"""Labels given in Python: mappings, Series, data frames and lists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from linker.ranking.data_frames import ArrowStream, frame_of, row_of, series_of

AnyLabels: TypeAlias = "str | Path | Mapping[Any, Any] | Iterable[Any] | ArrowStream | LabelFile"


def as_labels(given: AnyLabels) -> LabelFile:
    """Return labels from anything that `Ranker.rank` accepts.

    Args:
        given: the path of a file; a mapping or Series from ids of posts (text or whole numbers) to labels; or a data
            frame, or list of records, with the columns that files of labels have.

    Raises:
        DataError: if a label is unknown, or there is none.
    """
    if isinstance(given, LabelFile):
        return given
    if isinstance(given, (str, Path)):
        return read_labels(given)
    if isinstance(given, Mapping):
        return _of_pairs(list(given.items()), SampledLabels.of(given).random)
    if (series := series_of(given)) is not None:
        return _of_pairs(series)
    frame = frame_of(given)
    rows = list(frame.rows()) if frame is not None else _rows(given)
    faults: list[str] = []
    collector = Collector("labels")
    read_rows(
        [Row(number, dict(row), "") for number, row in enumerate(rows, 1)],
        None if frame is None else frame.columns,
        collector,
        None,
        lambda line, error, raw: faults.append(f"record {line}: {error}"),
    )
    _refuse(faults)
    return collector.result()


def _of_pairs(pairs: Sequence[tuple[Any, Any]], drawn: Collection[str] = ()) -> LabelFile:
    collector, faults = Collector("labels"), []
    for number, (post, label) in enumerate(pairs, 1):
        try:
            parsed = collector.parse(label, number)
            post_id = clean_id(post.item() if hasattr(post, "item") else post)
        except LineError as error:
            faults.append(f"label {number}: {error}")
            continue
        labels = []
        if parsed.value is not None:
            sample = "random" if post_id in drawn else None
            labels.append(ImportedLabel(post_id, None, parsed.value, line=number, sample=sample))
        collector.record((), labels)
    _refuse(faults)
    return collector.result() if pairs else LabelFile("labels", [])


def _rows(given: Any) -> list[Mapping[str, Any]]:
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise DataError(
            f"labels is {type(given).__name__}; give a dict or Series from ids to labels, a data frame or a file"
        )
    rows = [row_of(item) for item in given]
    if any(row is None for row in rows):
        raise DataError("labels has items that are no records; give dicts with post_id and label")
    return [row for row in rows if row is not None]


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        raise DataError(
            "; ".join(faults[:5]) + (f"; and {len(faults) - 5:,} more" if len(faults) > 5 else "")
        )
