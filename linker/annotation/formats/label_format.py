"""The family of label formats: files of annotation tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from linker.annotation.formats.records import LabeledPost
from linker.common.files import atomic_write
from linker.config import Registrable
from linker.data.labels.records import ImportedLabel


class LabelFormat(Registrable):
    """Base of label formats: write posts for a tool, read its labels.

    Attributes:
        marks_machines: whether files of the format tell labels of machines from those of people.
        one_per_post: whether files of the format have one label per post: the adjudicated one, or the majority.
    """

    marks_machines: ClassVar[bool] = False
    one_per_post: ClassVar[bool] = False

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records.

        Args:
            path: the file.
            records: posts with labels.
            guidelines: instructions for the annotators, for formats that hold them.

        Returns:
            The files written, `path` first.
        """
        raise NotImplementedError

    def read(self, path: Path) -> list[ImportedLabel]:
        """Return the labels of the file `path`, in its order; only formats that linker does not know need this.

        Raises:
            DataError: if the file is not in the format, with the line or record.
        """
        raise NotImplementedError


def by_post(records: Iterable[LabeledPost]) -> list[list[LabeledPost]]:
    """Group records by post, in the order of each post's first record."""
    groups: dict[tuple[str, str], list[LabeledPost]] = {}
    for record in records:
        groups.setdefault((record.post.id, record.article_id), []).append(record)
    return list(groups.values())


def write_json(path: Path, content: Any) -> None:
    """Write one JSON value, in ASCII, which every tool reads and which holds any text."""
    with atomic_write(path) as file:
        json.dump(_whole(content), file, indent=1)
        file.write("\n")


def write_json_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object per line, in ASCII."""
    with atomic_write(path) as file:
        for record in records:
            file.write(json.dumps(_whole(record)) + "\n")


def _whole(content: Any) -> Any:
    """Return JSON with question marks for halves of surrogate pairs, as in CSV: few programs read these."""
    return json.loads(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
