"""Relevance of posts, read from a file of labels."""

from __future__ import annotations

from pathlib import Path

from linker.annotation.formats import read
from linker.common.errors import DataError

_FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def read_relevance(path: str | Path) -> dict[str, bool]:
    """Read whether posts are relevant, by post id: by the majority of annotators.

    Ties are relevant; skips and labels of machines are ignored.

    Raises:
        DataError: if the file is neither CSV nor JSON Lines, cannot be read, or has no label.
    """
    format_ = _FORMATS.get(Path(path).suffix.lower())
    if format_ is None:
        raise DataError(
            f"{path}: unknown format; labels are CSV or JSON Lines with the fields id (or post_id) and label, as "
            "`linker annotate export` writes them"
        )
    votes: dict[str, list[bool]] = {}
    for label in read(path, format_):
        if label.value != "skip" and not label.machine:
            votes.setdefault(label.post_id, []).append(label.value == "relevant")
    if not votes:
        raise DataError(f"{path}: no labels in this file")
    return {post: 2 * sum(values) >= len(values) for post, values in votes.items()}
