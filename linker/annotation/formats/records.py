"""A label as it is written to files and read back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from linker.data.io.labels import LabelValue
from linker.data.types import Post


@dataclass(frozen=True)
class LabeledPost:
    """A post with what one annotator said of it, as an export holds it.

    A post that two annotators labelled is two records; one that nobody labelled is one, with `value` and `annotator`
    None.

    Attributes:
        post: the post.
        article_id: the seed article for which it was labelled.
        score: the model's relevance.
        value: the label.
        annotator: who gave it.
        note: what the annotator wrote beside it.
        time: when it was given, with its time zone.
    """

    post: Post
    article_id: str
    score: float
    value: LabelValue | None = None
    annotator: str | None = None
    note: str | None = None
    time: datetime | None = None


@dataclass(frozen=True)
class ImportedLabel:
    """A label out of a file of some annotation tool.

    Attributes:
        post_id: the post that it is for.
        annotator: who gave it; None where the file does not say.
        value: the label.
        note: what the annotator wrote beside it, empty if nothing.
        time: when it was given; None where the file does not say.
        line: where in the file it stands, counted from 1: lines, or records in formats without lines.
    """

    post_id: str
    annotator: str | None
    value: LabelValue
    note: str = ""
    time: datetime | None = None
    line: int = 0
