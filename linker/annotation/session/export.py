"""Export of a session's labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linker.annotation.codebook import Codebook
from linker.annotation.formats.label_format import LabeledPost
from linker.annotation.pool import Pool
from linker.annotation.session.events import Event
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.state import SessionState
from linker.data.labels.post_labels import name_of_query
from linker.data.types import Post


def all_labels(
    state: SessionState, pool: Pool, posts: Sequence[Post], machines: bool = False
) -> list[LabeledPost]:
    """Return a record per label, and one per post that no person labeled; near-duplicates inherit labels.

    Args:
        state: state of the session.
        pool: its distinct posts.
        posts: all posts, in order.
        machines: whether labels of machines and adjudicated labels are among the records, for formats that tell them
            from others.
    """
    article = name_of_query(pool.articles)
    records: list[LabeledPost] = []
    for post in posts:
        index = state.indices[post.id]
        unlabeled = LabeledPost(post, article, pool.shown_scores[index])

        def record(label: Event, unlabeled: LabeledPost = unlabeled, index: int = index) -> LabeledPost:
            key = index, label.annotator
            noted = state.noted.get(key)
            answered = state.answered.get(key) if label.kind == "label" else label.time
            return replace(
                unlabeled, value=label.value, annotator=label.annotator, note=state.notes.get(key) or None,
                note_time=noted if noted != label.time else None, time=label.time, choice=label.choice,
                sample=label.strategy, blind=label.blind, answers=label.answers,
                # Answers that were taken back have a time, unlike those that were never given.
                answers_time=answered if label.answers == {} or (label.answers and answered != label.time) else None,
            )  # fmt: skip

        labels = state.labels_of(index).values()
        records += map(record, labels)
        if machines and index in state.adjudicated:
            records.append(
                replace(record(state.adjudicated[index]), note=None, note_time=None, adjudicated=True)
            )
        if not labels:
            records.append(unlabeled)
        for by_machine in state.machines.values() if machines else ():
            if index in by_machine:
                records.append(replace(record(by_machine[index]), machine=True))
    return records


def resolved_labels(
    state: SessionState, pool: Pool, posts: Sequence[Post], label_set: LabelSet, codebook: Codebook
) -> list[LabeledPost]:
    """Return a record per post: the adjudicated label, else the majority; a tie counts as relevant.

    `annotator` and `note` join those of all annotators; `time` is that of the last label. `choice` is the most frequent
    name among the labels that count like the post; `answers` are the decided ones, else the most frequent among these
    labels, without ties.
    """
    article = name_of_query(pool.articles)
    records: list[LabeledPost] = []
    for post in posts:
        index = state.indices[post.id]
        record = LabeledPost(post, article, pool.shown_scores[index])
        labels, relevant = state.labels_of(index), state.value(index)
        if labels or relevant is not None:
            times = [label.time for label in labels.values()]
            if index in state.adjudicated:
                times.append(state.adjudicated[index].time)
            notes = filter(None, (state.notes.get((index, name)) for name in labels))
            record = replace(
                record,
                value="skip" if relevant is None else "relevant" if relevant else "not",
                annotator=", ".join(labels) or None,
                note="; ".join(notes) or None,
                time=max(times),
                choice=None if relevant is None else state.name(index, label_set),
                sample=next((label.strategy for label in labels.values() if label.strategy), None),
                answers=state.answers(index, codebook) if codebook.questions else None,
                blind=bool(labels) and all(label.blind for label in labels.values()),
            )
        records.append(record)
    return records
