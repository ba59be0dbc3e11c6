"""JSON Lines: all fields of a label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.label_format import (
    LabelFormat,
    id_of,
    read_json_lines,
    text_of,
    time_of,
    value_of,
    write_json_lines,
)
from linker.annotation.formats.records import ImportedLabel, LabeledPost


@LabelFormat.register("jsonl")
class JsonLinesFormat(LabelFormat):
    """One JSON object per label: post_id, text, article_id, score, label, annotator, note, time, created_at; if needed,
    choice (its name in the label set) and machine (true: a program gave it)."""

    marks_machines = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        write_json_lines(path, map(flat, records))
        return [path]

    def read(self, path: Path) -> list[ImportedLabel]:
        """Return the labels of a file, in its order."""
        return [
            label
            for number, where, record in read_json_lines(path)
            if (label := unflat(record, number, where)) is not None
        ]


def flat(record: LabeledPost) -> dict[str, Any]:
    """Return a label as one flat object."""
    created, time = record.post.created_at, record.time
    return {
        "post_id": record.post.id,
        "text": record.post.text,
        "article_id": record.article_id,
        "score": record.score,
        "label": record.value,
        "annotator": record.annotator,
        "note": record.note,
        "time": time and time.isoformat(),
        "created_at": created and created.isoformat(),
        **({"choice": record.choice} if record.choice is not None else {}),
        **({"machine": True} if record.machine else {}),
    }


def unflat(record: dict[str, Any], number: int, where: str) -> ImportedLabel | None:
    """Return the label of a flat object; None if it has none.

    Raises:
        DataError: if the post's id is missing, or label or time cannot be read.
    """
    key = "post_id" if "post_id" in record else "id"  # what `linker rank` writes
    post_id, value = id_of(record, where, key), value_of(record.get("label"), where)
    if value is None:
        return None
    annotator, note = text_of(record, "annotator", where) or None, text_of(record, "note", where)
    machine = value_of(record.get("machine"), f"{where}: machine") == "relevant"  # true, yes, 1
    choice = text_of(record, "choice", where) or None
    return ImportedLabel(
        post_id, annotator, value, note, time_of(record.get("time"), where), number, choice, machine
    )
