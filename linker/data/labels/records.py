"""A label as files hold it, and what several say together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from linker.data.labels.values import LabelValue

#: Before the key of a question, in names of columns, controls and keys that hold answers to it.
ANSWER = "answer_"


@dataclass(frozen=True)
class ImportedLabel:
    """A label read from a file.

    Attributes:
        post_id: id of the post; empty if the file has none.
        annotator: name of the annotator; None if the file has none.
        value: the label.
        note: the annotator's note, or empty.
        time: time of the label; None if the file has none.
        note_time: time of the note; None: that of the label.
        line: line number from 1, or record number in formats without lines.
        choice: name of the label in the session's label set; None if the file has none.
        machine: whether the file says that a program gave the label.
        adjudicated: whether the file says that it settles the labels of several annotators.
        article_ids: ids of the articles that it is about; empty: the file has none.
        text: text of the post; None if the file has none; likewise platform, author and time of posting.
        platform: see `text`.
        author: see `text`.
        created_at: see `text`.
        blind: whether the file says that scores and marks were hidden from the annotator.
        sample: how the post was chosen: `random`, or the name of a strategy; None: the file does not say.
        answers: fields with answers to further questions, by key; None: the file has none.
        answers_time: time of the answers; None: that of the label.
    """

    post_id: str
    annotator: str | None
    value: LabelValue
    note: str = ""
    time: datetime | None = None
    line: int = 0
    choice: str | None = None
    machine: bool = False
    adjudicated: bool = False
    article_ids: tuple[str, ...] = ()
    text: str | None = None
    platform: str | None = None
    author: str | None = None
    created_at: datetime | None = None
    sample: str | None = None
    note_time: datetime | None = None
    answers: Mapping[str, Any] | None = None
    answers_time: datetime | None = None
    blind: bool = False


def votes_by_post(labels: Iterable[ImportedLabel]) -> dict[str, list[ImportedLabel]]:
    """Group the labels that count by post: those of people that are not skipped; adjudicated ones precede others."""
    votes_of: dict[str, list[ImportedLabel]] = {}
    for label in labels:
        if label.value != "skip" and not label.machine:
            votes_of.setdefault(label.post_id or f"text {label.text}", []).append(label)
    for post, votes in votes_of.items():
        votes_of[post] = [label for label in votes if label.adjudicated] or votes
    return votes_of


def latest(labels: Sequence[ImportedLabel]) -> list[ImportedLabel]:
    """Return the labels without those that the same annotator, by name, replaced by a later label of the post.

    Later is by time if all these labels have one, else by order.
    """
    groups: dict[tuple[object, ...], list[ImportedLabel]] = {}
    for place, label in enumerate(labels):
        who = label.annotator if label.annotator is not None else place
        post = label.post_id or f"text {label.text}"
        key = (post, who, label.article_ids, label.machine, label.adjudicated)
        groups.setdefault(key, []).append(label)
    last = []
    for group in groups.values():
        times = [label.time for label in group if label.time is not None]
        if len(group) > 1 and len(times) == len(group):
            group = [group[max(range(len(group)), key=lambda place: (times[place], place))]]
        last.append(group[-1])
    return last


def verdict(votes: Sequence[ImportedLabel]) -> bool:
    """Return whether the majority of labels says relevant; a tie is relevant."""
    return 2 * sum(label.value == "relevant" for label in votes) >= len(votes)


def is_tie(votes: Sequence[ImportedLabel]) -> bool:
    """Return whether as many labels say relevant as say not."""
    return 2 * sum(label.value == "relevant" for label in votes) == len(votes)


class SampledLabels(dict[str, bool]):
    """Relevance of posts by id, and how the posts were drawn.

    Only labels of a random sample give estimates intervals: a query strategy or a person chooses posts for what is in
    them.

    Args:
        labels: relevance by post id.
        random: ids of the posts that were drawn at random.
        before: ids of the posts that had a label when the sample was drawn, so that they could not be drawn; None: not
            known.
        draws: name of the draw by id, for near-duplicates that were drawn as one post.
        posts: number of posts that the sample was drawn from, or had a label before; None: not known.
    """

    def __init__(
        self,
        labels: Mapping[str, bool],
        random: Iterable[str] = (),
        before: Iterable[str] | None = None,
        draws: Mapping[str, str] | None = None,
        posts: int | None = None,
    ) -> None:
        super().__init__(labels)
        self.random = frozenset(random)
        self.before = None if before is None else frozenset(before)
        self.draws, self.posts = dict(draws or {}), posts

    @classmethod
    def of(cls, labels: Mapping[str, bool]) -> SampledLabels:
        """Return labels as they are, or those of a plain mapping, of which no draw is known."""
        return labels if isinstance(labels, SampledLabels) else cls(labels)
