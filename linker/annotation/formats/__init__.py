"""Label formats, found by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from linker.annotation.formats.label_format import LabelFormat
from linker.annotation.formats.records import ImportedLabel, LabeledPost

__all__ = ["read", "write"]


def write(path: str | Path, format: str, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
    """Write labeled posts; return the files written, `path` first.

    Raises:
        ConfigError: if the format is unknown.
        LinkerError: if the file cannot be written.
    """
    return LabelFormat.by_name(format)().write(Path(path), records, guidelines)


def read(path: str | Path, format: str) -> list[ImportedLabel]:
    """Return the labels of a file, in its order; records without a label are skipped.

    Raises:
        ConfigError: if the format is unknown.
        DataError: if the file cannot be read or is not in the format, with the line or record.
    """
    return LabelFormat.by_name(format)().read(Path(path))
