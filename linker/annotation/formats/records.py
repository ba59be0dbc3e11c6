"""Records of labels, as files hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from linker.data.labels.post_labels import LabelFile
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import LabelValue
from linker.data.types import Post


@dataclass(frozen=True)
class LabeledPost:
    """A post with the label of one annotator, as exported.

    A post with two labels gives two records; an unlabeled post gives one, with `value` and `annotator` None.

    Attributes:
        post: the post.
        article_id: id of the seed article.
        score: the model's score, 0 to 100.
        value: the label.
        annotator: name of the annotator.
        note: the annotator's note.
        time: time of the label, with its time zone.
        choice: name of the label in the session's label set, if several names have the same `value`.
        machine: whether a program gave the label.
        sample: how the post was drawn for labeling: `random`, or the query strategy; None: it was not drawn here.
        adjudicated: whether the label settles those of several annotators.
    """

    post: Post
    article_id: str
    score: float
    value: LabelValue | None = None
    annotator: str | None = None
    note: str | None = None
    time: datetime | None = None
    choice: str | None = None
    machine: bool = False
    sample: str | None = None
    adjudicated: bool = False


def summary_of(records: Sequence[LabeledPost]) -> str:
    """Return how many labels of how many posts some records are, in the line that reading them prints."""
    labels = [
        ImportedLabel(
            one.post.id,
            one.annotator,
            one.value,
            machine=one.machine,
            adjudicated=one.adjudicated,
            article_ids=(one.article_id,),
        )
        for one in records
        if one.value is not None
    ]
    return LabelFile("", labels, without=len(records) - len(labels)).counts
