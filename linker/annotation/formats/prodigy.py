"""Prodigy: binary text classification as JSON Lines (https://prodi.gy/docs/api-interfaces)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.jsonl import about
from linker.annotation.formats.label_format import (
    LabelFormat,
    write_json_lines,
)
from linker.annotation.formats.records import LabeledPost
from linker.data.labels.values import LabelValue

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


def _task(record: LabeledPost) -> dict[str, Any]:
    task: dict[str, Any] = {
        "text": record.post.text,
        "label": _LABEL,
        "post_id": record.post.id,
        "meta": {"article": record.article_id, "score": round(record.score, 1)},
    }
    task |= about(record.post)
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
