"""doccano: text classification as JSON Lines (https://doccano.github.io/doccano)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.jsonl import flat
from linker.annotation.formats.label_format import (
    LabelFormat,
    write_json_lines,
)
from linker.annotation.formats.records import LabeledPost


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


def _example(record: LabeledPost) -> dict[str, Any]:
    # A key that only some examples have becomes NaN in doccano, which its database refuses.
    texts = dict.fromkeys(("platform", "author", "url", "source", "sample"), "")
    texts |= {key: "" if value is None else value for key, value in flat(record).items()}
    return texts | {"label": [record.value] if record.value else []}
