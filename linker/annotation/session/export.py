"""Export and import of a session's labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timezone
from functools import partial
from typing import NamedTuple

from linker.annotation.formats.label_format import LabeledPost
from linker.annotation.pool import Pool
from linker.annotation.session.events import Event, name_key, now
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.state import SessionState
from linker.common.errors import DataError, LinkerError
from linker.data.labels.matching import match_labels
from linker.data.labels.post_labels import LabelFile, name_of_query
from linker.data.labels.records import ImportedLabel
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
    records = []
    for post in posts:
        index = state.indices[post.id]
        unlabeled = LabeledPost(post, article, pool.shown_scores[index])

        def record(label: Event, unlabeled: LabeledPost = unlabeled, index: int = index) -> LabeledPost:
            note = state.notes.get((index, label.annotator)) or None
            return replace(
                unlabeled, value=label.value, annotator=label.annotator, note=note, time=label.time,
                choice=label.choice,
            )  # fmt: skip

        # A near-duplicate was not drawn itself.
        drawn = pool.posts[index].id == post.id
        labels = state.labels_of(index).values()
        records += [replace(record(label), sample=label.strategy if drawn else None) for label in labels]
        if machines and index in state.adjudicated:
            records.append(replace(record(state.adjudicated[index]), note=None, adjudicated=True))
        if not labels:
            records.append(unlabeled)
        for by_machine in state.machines.values() if machines else ():
            if index in by_machine:
                records.append(replace(record(by_machine[index]), machine=True))
    return records


def resolved_labels(
    state: SessionState, pool: Pool, posts: Sequence[Post], label_set: LabelSet
) -> list[LabeledPost]:
    """Return a record per post: the adjudicated label, else the majority; a tie counts as relevant.

    `annotator` and `note` join those of all annotators; `time` is that of the last label. `choice` is the most frequent
    name among the labels that count like the post.
    """
    article = name_of_query(pool.articles)
    records = []
    for post in posts:
        index = state.indices[post.id]
        record = LabeledPost(post, article, pool.shown_scores[index])
        labels, relevant = state.labels_of(index), state.value(index)
        if labels or relevant is not None:
            times = [label.time for label in labels.values()]
            if index in state.adjudicated:
                times.append(state.adjudicated[index].time)
            notes = filter(None, (state.notes.get((index, name)) for name in labels))
            # A near-duplicate was not drawn itself.
            drawn = pool.posts[index].id == post.id
            record = replace(
                record,
                value="skip" if relevant is None else "relevant" if relevant else "not",
                annotator=", ".join(labels) or None,
                note="; ".join(notes) or None,
                time=max(times),
                choice=None if relevant is None else state.name(index, label_set),
                sample=next((label.strategy for label in labels.values() if drawn and label.strategy), None),
            )
        records.append(record)
    return records


class Imported(NamedTuple):
    """Numbers of labels of a file by what became of them; the others were there already.

    Attributes:
        new: labels, changes and adjudications that were recorded.
        older: labels left out, since the session has a later label, or undid one, of the same post and annotator.
        unmatched: labels left out, since they belong to no post.
    """

    new: int
    older: int
    unmatched: int

    @property
    def left_out(self) -> str:
        """What was left out, as clauses; empty if nothing was."""
        parts = (self.older, "older than what is known of their posts"), (self.unmatched, "of no post")
        return ", ".join(f"{count:,} {what}" for count, what in parts if count)


def events_of(
    labels: Sequence[ImportedLabel],
    state: SessionState,
    annotator: str | None,
    source: str,
    label_set: LabelSet,
    pool: Pool,
    posts: Sequence[Post],
    machine: bool = False,
) -> tuple[list[Event], Imported]:
    """Return the events that import labels, and their numbers; labels that the session already has are left out.

    Labels belong to posts by id, else by text; those that match none, or are of other articles, are left out and
    counted on standard error. Of two labels of a post by one annotator, the later one counts, also if it was undone.

    Args:
        labels: labels read from a file.
        state: state of the session.
        annotator: annotator of labels without a name in the file.
        source: name of the file in messages.
        label_set: the labels of the session.
        pool: its distinct posts.
        posts: all posts.
        machine: whether programs gave the labels, whatever the file says.

    Raises:
        DataError: if no label is of a post and article of the session, a label has no annotator, or a name is that
            of a person and a machine.
    """
    if not labels:
        return [], Imported(0, 0, 0)
    kept = LabelFile(source, labels).of_articles(pool.articles).labels
    matches = match_labels(posts, kept)
    matches.report(source)
    people = {name: person.labels for name, person in state.annotators.items() if person.labels}
    # What the session has, by post and annotator, and the adjudicated label of each post; both grow with the events.
    recorded = {
        (index, name): (label.value, label.choice, state.notes.get((index, name), ""))
        for name, by_name in (people | state.machines).items()
        for index, label in by_name.items()
    }
    adjudicated = {index: (label.value, label.choice) for index, label in state.adjudicated.items()}
    # When these were last changed, by post and annotator; of adjudicated ones without a name.
    changed = {
        **{(i, name): time for name, one in state.annotators.items() for i, time in one.undone.items()},
        **{
            (i, name): label.time for name, of in (people | state.machines).items() for i, label in of.items()
        },
        **{(i, ""): label.time for i, label in state.adjudicated.items()},
    }
    is_machine = dict.fromkeys(people, False) | dict.fromkeys(state.machines, True)
    events: list[Event] = []
    spelled: dict[str, str] = {}
    older = 0
    for label, post_id in zip(kept, matches.post_ids):
        if post_id is None:
            continue
        unit = "record" if source.endswith(".json") else "line"
        where = f"{source}, {unit} {label.line}" if label.line else source
        author = label.annotator or annotator
        if author is None:
            raise DataError(f"{where}: a label without an annotator; name one with --annotator")
        name = spelled.setdefault(name_key(author), state.spelling(author))
        by_machine = machine or label.machine
        if is_machine.setdefault(name, by_machine) != by_machine:
            this, other = ("person", "machine") if by_machine else ("machine", "person")
            raise DataError(
                f"{where}: {name!r} is a {this}, and cannot be a {other} as well; use another name; "
                "nothing was imported"
            )
        try:
            label_set.check(label.value, label.choice)
        except LinkerError as error:
            raise DataError(f"{where}: {error}; nothing was imported") from error
        # Events name a label only where several have its value.
        choice = label.choice if label_set.named else None
        index = state.indices[post_id]
        time = label.time or now()
        time = time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time
        event = partial(Event, choice=choice, time=time, imported=True)
        adjudicates = label.adjudicated and not by_machine
        last = changed.get((index, "" if adjudicates else name))
        if label.time and last and time < last:
            older += 1
            continue
        if adjudicates:
            if adjudicated.get(index, ("skip", choice)) != (label.value, choice):
                adjudicated[index] = label.value, choice
                events.append(event("resolve", name, post_id, label.value))
            continue
        before = recorded.get((index, name), (None, None, ""))
        after = label.value, choice, label.note or before[2]
        if before != after:
            recorded[index, name] = after
            events.append(
                event("machine" if by_machine else "label", name, post_id, label.value, label.note or None)
            )
    return events, Imported(len(events), older, len(matches.unmatched))
