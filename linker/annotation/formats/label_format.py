"""The family of label formats: files of annotation tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from linker.annotation.codebook import Question
from linker.common.files import atomic_write
from linker.config import Registrable
from linker.data.labels.post_labels import LabelFile
from linker.data.labels.records import ANSWER, ImportedLabel
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
        note_time: time of the note, if it is another.
        answers: answers to further questions, by key; None if there are none, or questions were not asked.
        answers_time: time of the answers, if it is another.
        choice: name of the label in the session's label set, if several names have the same `value`.
        machine: whether a program gave the label.
        sample: how the post was drawn for labeling: `random`, or the query strategy; None: it was not drawn here.
        blind: whether scores and marks were hidden from the annotator.
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
    note_time: datetime | None = None
    blind: bool = False
    answers: Mapping[str, str | int] | None = None
    answers_time: datetime | None = None

    @property
    def columns(self) -> dict[str, str | int]:
        """The answers by their columns, `answer_KEY`."""
        return {f"{ANSWER}{key}": answer for key, answer in (self.answers or {}).items()}


class LabelFormat(Registrable):
    """Base of label formats: write posts for a tool, read its labels.

    Attributes:
        marks_machines: whether files of the format tell labels of machines from those of people.
        one_per_post: whether files of the format have one label per post: the adjudicated one, or the majority.
        questions: further questions of the session, set before `write`.
    """

    marks_machines: ClassVar[bool] = False
    one_per_post: ClassVar[bool] = False
    questions: Sequence[Question] = ()

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


def sample_of(group: Sequence[LabeledPost]) -> dict[str, Any]:
    """Return, as fields, how a post was drawn for labeling, if it was drawn here, and if all its labels are blind."""
    sample: dict[str, Any] = next(({"sample": record.sample} for record in group if record.sample), {})
    labels = [record for record in group if record.value]
    return sample | ({"blind": True} if labels and all(record.blind for record in labels) else {})


def summary_of(records: Sequence[LabeledPost]) -> str:
    """Return how many labels of how many posts some records are, in the line that reading them prints."""
    labels = [
        ImportedLabel(
            record.post.id,
            record.annotator,
            record.value,
            machine=record.machine,
            adjudicated=record.adjudicated,
            article_ids=(record.article_id,),
        )
        for record in records
        if record.value is not None
    ]
    return LabelFile("", labels, without=len(records) - len(labels)).counts


def write_json(path: Path, content: Any, indent: int | None = 1) -> None:
    """Write JSON in ASCII, which every tool reads, with question marks for halves of surrogate pairs, as in CSV.

    Args:
        path: the file.
        content: the value; with `indent` None, values that become one line each.
    """
    with atomic_write(path) as file:
        for value in [content] if indent else content:
            whole = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
            file.write(json.dumps(whole, indent=indent) + "\n")
