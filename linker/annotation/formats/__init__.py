"""Formats of labels, found by name; `linker.data.labels` reads all that linker knows, plugins read theirs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from linker.annotation.codebook import Question
from linker.annotation.formats.label_format import LabeledPost, LabelFormat
from linker.data.labels.post_labels import LabelFile
from linker.data.labels.reading import FORMATS, read_labels
from linker.data.labels.values import LabelValue

__all__ = ["read", "write"]


def write(
    path: str | Path,
    format: str,
    records: Sequence[LabeledPost],
    guidelines: str = "",
    questions: Sequence[Question] = (),
) -> list[Path]:
    """Write labeled posts, and answers to the questions of a codebook; return the files written, `path` first.

    Raises:
        ConfigError: if the format is unknown.
        LinkerError: if the file cannot be written.
    """
    written = LabelFormat.by_name(format)()
    written.questions = questions
    return written.write(Path(path), records, guidelines)


def read(
    path: str | Path, format: str | None = None, names: Mapping[str, LabelValue] | None = None
) -> LabelFile:
    """Read the labels of a file, in a format of linker or of a plugin; see `read_labels`.

    Raises:
        ConfigError: if the format is unknown.
        DataError: if the file cannot be read, a label is unknown, or no record has a label.
    """
    if format is None or format in FORMATS:
        return read_labels(path, format, names)
    labels = LabelFormat.by_name(format)().read(Path(path))
    return LabelFile(str(path), labels, len(labels))
