"""doccano: text classification as JSON Lines (https://doccano.github.io/doccano)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.jsonl import flat
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


@LabelFormat.register("doccano")
class DoccanoFormat(LabelFormat):
    """One JSON object per label: text, label (a list), and the rest as doccano's metadata.

    doccano cannot skip posts, so a skipped post has the label "skip". doccano exports one file per annotator without
    their name; its comments are read as notes.
    """

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        write_json_lines(path, map(_example, records))
        return [path]

    def read(self, path: Path) -> list[ImportedLabel]:
        """Return the labels of a file, in its order."""
        found = []
        for number, where, record in read_json_lines(path):
            labels = a_list(record.get("label"), f"{where}: label")
            if len(labels) > 1:
                raise DataError(f"{where}: has {len(labels)} labels; a post is relevant, not, or skipped")
            post_id, value = id_of(record, where), value_of(labels[0], where) if labels else None
            if value is None:
                continue
            comments = [str(comment) for comment in a_list(record.get("Comments"), f"{where}: Comments")]
            found.append(
                ImportedLabel(
                    post_id,
                    text_of(record, "annotator", where) or None,
                    value,
                    "\n".join(comments) or text_of(record, "note", where),
                    time_of(record.get("time"), where),
                    number,
                )
            )
        return found


def _example(record: LabeledPost) -> dict[str, Any]:
    # A key that only some examples have becomes NaN in doccano, which its database refuses.
    texts = {key: "" if value is None else value for key, value in flat(record).items()}
    return texts | {"label": [record.value] if record.value else []}
