"""Prodigy: binary text classification as JSON Lines (https://prodi.gy/docs/api-interfaces)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.label_format import (
    LabelFormat,
    a_list,
    id_of,
    read_json_lines,
    text_of,
    time_of,
    value_of,
    write_json_lines,
)
from linker.annotation.formats.records import ImportedLabel, LabeledPost
from linker.common.errors import DataError
from linker.data.io.labels import LabelValue

_LABEL = "RELEVANT"
_ANSWERS: dict[LabelValue, str] = {"relevant": "accept", "not": "reject", "skip": "ignore"}
_VALUES: dict[Any, LabelValue] = {answer: value for value, answer in _ANSWERS.items()}


@LabelFormat.register("prodigy")
class ProdigyFormat(LabelFormat):
    """One task per label: text, label RELEVANT, and the answer accept, reject or ignore.

    Tasks without an answer are for `prodigy mark` and `textcat.manual`, those with one for `prodigy db-in`. Prodigy
    computes the task hashes. Exports of `textcat.manual` with several labels list them under `accept`.
    """

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        write_json_lines(path, map(_task, records))
        return [path]

    def read(self, path: Path) -> list[ImportedLabel]:
        """Return the labels of a file, in its order."""
        labels = []
        for number, where, record in read_json_lines(path):
            post_id, value = id_of(record, where), _value(record, where)
            if value is None:
                continue
            annotator = text_of(record, "_annotator_id", where) or None
            # `time` is more precise, but Prodigy does not update it when a post is labeled again.
            time, exact = time_of(record.get("_timestamp"), where), time_of(record.get("time"), where)
            time = exact if exact and time in (None, exact.replace(microsecond=0)) else time
            labels.append(
                ImportedLabel(post_id, annotator, value, text_of(record, "note", where), time, number)
            )
        return labels


def _task(record: LabeledPost) -> dict[str, Any]:
    task: dict[str, Any] = {
        "text": record.post.text,
        "label": _LABEL,
        "post_id": record.post.id,
        "meta": {"article": record.article_id, "score": round(record.score, 1)},
    }
    if record.value:
        task["answer"] = _ANSWERS[record.value]
    if record.annotator:
        task["_annotator_id"] = record.annotator
    if record.note:
        task["note"] = record.note
    if record.time:
        # `_timestamp` is in whole seconds.
        task |= {"_timestamp": int(record.time.timestamp()), "time": record.time.isoformat()}
    return task


def _value(record: dict[str, Any], where: str) -> LabelValue | None:
    answer = record.get("answer")
    if answer is None:
        return None
    if answer not in _VALUES:
        raise DataError(f"{where}: unknown answer {str(answer)[:60]!r}; use accept, reject or ignore")
    if answer != "accept" or "accept" not in record:
        return _VALUES[answer]
    chosen = [value_of(label, where) for label in a_list(record["accept"], f"{where}: accept")]
    if len(chosen) > 1:
        raise DataError(f"{where}: has {len(chosen)} labels; a post is relevant, not, or skipped")
    return chosen[0] if chosen else "not"
