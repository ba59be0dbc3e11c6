"""Export and import of a session's labels."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timezone
from functools import partial

from linker.annotation.formats.records import LabeledPost
from linker.annotation.pool import Pool
from linker.annotation.session.events import Event, annotator_name, now
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
        record = partial(LabeledPost, post, article, pool.shown_scores[index])
        labels = state.labels_of(index)
        for name, label in labels.items():
            sample = _sample(label, pool.posts[index].id == post.id)
            note = state.notes.get((index, name)) or None
            records.append(record(label.value, name, note, label.time, label.choice, sample=sample))
        if machines and state.is_adjudicated(index):
            label = state.adjudicated[index]
            records.append(
                record(label.value, label.annotator, None, label.time, label.choice, adjudicated=True)
            )
        if not labels:
            records.append(record())
        for name, by_machine in state.machines.items() if machines else ():
            if (found := by_machine.get(index)) is not None:
                note = state.notes.get((index, name)) or None
                records.append(record(found.value, name, note, found.time, found.choice, machine=True))
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
        record = partial(LabeledPost, post, article, pool.shown_scores[index])
        labels, relevant = state.labels_of(index), state.value(index)
        if not labels and relevant is None:
            records.append(record())
            continue
        notes = [note for name in labels if (note := state.notes.get((index, name)))]
        times = [label.time for label in labels.values()]
        if state.is_adjudicated(index):
            times.append(state.adjudicated[index].time)
        is_representative = pool.posts[index].id == post.id
        samples = filter(None, (_sample(label, is_representative) for label in labels.values()))
        records.append(
            record(
                "skip" if relevant is None else "relevant" if relevant else "not",
                ", ".join(labels) or None,
                "; ".join(notes) or None,
                max(times),
                None if relevant is None else state.name(index, label_set),
                sample=next(samples, None),
            )
        )
    return records


def events_of(
    labels: Sequence[ImportedLabel],
    state: SessionState,
    annotator: str | None,
    source: str,
    label_set: LabelSet,
    pool: Pool,
    posts: Sequence[Post],
    machine: bool = False,
) -> list[Event]:
    """Return the events that import labels; labels that the session already has are left out.

    Labels belong to posts by id, else by text; those that match none, or are of other articles, are left out and
    counted on standard error.

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
    events: list[Event] = []
    held = {
        (index, name): (label.value, label.choice, state.notes.get((index, name), ""))
        for name, by_name in (
            *((name, person.labels) for name, person in state.annotators.items()),
            *state.machines.items(),
        )
        for index, label in by_name.items()
    }
    settled = {index: (label.value, label.choice) for index, label in state.adjudicated.items()}
    people = {name for name, person in state.annotators.items() if person.labels}
    machines = set(state.machines)
    if not labels:
        return events
    kept = LabelFile(source, labels).of_articles(pool.articles).labels
    matches = match_labels(posts, kept)
    matches.report(source)
    for label, post_id in zip(kept, matches.post_ids):
        if post_id is None:
            continue
        unit = "record" if source.endswith(".json") else "line"
        where = f"{source}, {unit} {label.line}" if label.line else source
        author = label.annotator or annotator
        if author is None:
            raise DataError(f"{where}: a label without an annotator; name one with --annotator")
        name = annotator_name(author)
        by_machine = machine or label.machine
        if name in (people if by_machine else machines):
            this, other = ("person", "machine") if by_machine else ("machine", "person")
            raise DataError(
                f"{where}: {name!r} is a {this}, and cannot be a {other} as well; use another name; "
                "nothing was imported"
            )
        (machines if by_machine else people).add(name)
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
        if label.adjudicated and not by_machine:
            if settled.get(index) != (label.value, choice):
                settled[index] = label.value, choice
                events.append(event("resolve", name, post_id, label.value))
            continue
        before = held.get((index, name), (None, None, ""))
        note = label.note or before[2]
        if before == (label.value, choice, note):
            continue
        held[index, name] = label.value, choice, note
        events.append(
            event("machine" if by_machine else "label", name, post_id, label.value, label.note or None)
        )
    return events


def _sample(label: Event, is_representative: bool) -> str | None:
    """Return how a post was drawn for a label: `random`, or the query strategy; None: it was not.

    A near-duplicate was not drawn itself.
    """
    return label.strategy if is_representative else None
