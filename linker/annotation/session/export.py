"""Export and import of a session's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timezone
from functools import partial

from linker.annotation.formats.records import LabeledPost
from linker.annotation.pool import Pool
from linker.annotation.session.journal import Event, annotator_name, now
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.state import Label, SessionState
from linker.common.errors import DataError, LinkerError
from linker.data.labels.matching import match_labels
from linker.data.labels.post_labels import LabelFile, name_of_query
from linker.data.labels.records import ImportedLabel
from linker.data.types import Post


def all_labels(
    state: SessionState, pool: Pool, posts: Sequence[Post], strategy: str, machines: bool = False
) -> list[LabeledPost]:
    """Return a record per label, and one per post that no person labeled; near-duplicates inherit labels.

    Args:
        state: state of the session.
        pool: its distinct posts.
        posts: all posts, in order.
        strategy: name of the query strategy.
        machines: whether labels of machines and adjudicated labels are among the records, for formats that tell them
            from others.
    """
    article = name_of_query(pool.articles)
    records = []
    for place, post in _placed(state, posts):
        record = partial(LabeledPost, post, article, pool.shown_scores[place])
        given = state.by(place)
        for name, one in given.items():
            note = state.notes.get((place, name)) or None
            sample = _sample(one, pool.posts[place].id == post.id, strategy)
            records.append(record(one.value, name, note, one.time, one.choice, sample=sample))
        if machines and state.is_resolved(place):
            one, who = state.resolved[place], state.resolvers[place]
            records.append(record(one.value, who, None, one.time, one.choice, adjudicated=True))
        if not given:
            records.append(record())
        for name, labels in state.machines.items() if machines else ():
            if (label := labels.get(place)) is not None:
                note = state.notes.get((place, name)) or None
                records.append(record(label.value, name, note, label.time, label.choice, machine=True))
    return records


def resolved_labels(
    state: SessionState, pool: Pool, posts: Sequence[Post], label_set: LabelSet, strategy: str
) -> list[LabeledPost]:
    """Return a record per post: the adjudicated label, else the majority; a tie counts as relevant.

    `annotator` and `note` join those of all annotators; `time` is that of the last label. `choice` is the most frequent
    name among the labels that count like the post.
    """
    article = name_of_query(pool.articles)
    records = []
    for place, post in _placed(state, posts):
        record = partial(LabeledPost, post, article, pool.shown_scores[place])
        given, relevant = state.by(place), state.value(place)
        if not given and relevant is None:
            records.append(record())
            continue
        notes = [note for name in given if (note := state.notes.get((place, name)))]
        times = [label.time for label in given.values()]
        if state.is_resolved(place):
            times.append(state.resolved[place].time)
        itself = pool.posts[place].id == post.id
        samples = filter(None, (_sample(one, itself, strategy) for one in given.values()))
        records.append(
            record(
                "skip" if relevant is None else "relevant" if relevant else "not",
                ", ".join(given) or None,
                "; ".join(notes) or None,
                max(times),
                None if relevant is None else state.name(place, label_set),
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
        (place, name): (one.value, one.choice, state.notes.get((place, name), ""))
        for name, given in (
            *((name, who.given) for name, who in state.annotators.items()),
            *state.machines.items(),
        )
        for place, one in given.items()
    }
    settled = {place: (one.value, one.choice) for place, one in state.resolved.items()}
    people = {name for name, who in state.annotators.items() if who.given}
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
        # Journals name a label only where several have its value.
        choice = label.choice if label_set.named else None
        place = state.places[post_id]
        time = label.time or now()
        time = time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time
        event = partial(Event, choice=choice, time=time, imported=True)
        if label.adjudicated and not by_machine:
            if settled.get(place) != (label.value, choice):
                settled[place] = label.value, choice
                events.append(event("resolve", name, post_id, label.value))
            continue
        before = held.get((place, name), (None, None, ""))
        note = label.note or before[2]
        if before == (label.value, choice, note):
            continue
        held[place, name] = label.value, choice, note
        events.append(
            event("machine" if by_machine else "label", name, post_id, label.value, label.note or None)
        )
    return events


def _placed(state: SessionState, posts: Sequence[Post]) -> Iterator[tuple[int, Post]]:
    places: Mapping[str, int] = state.places
    return ((places[post.id], post) for post in posts)


def _sample(label: Label, itself: bool, strategy: str) -> str | None:
    """Return how a post was drawn for a label: `random`, or the query strategy; None: it was not.

    Args:
        label: the label.
        itself: whether the post was drawn itself, not a near-duplicate of it.
        strategy: name of the query strategy.
    """
    if not label.drawn or not itself:
        return None
    return "random" if label.at_random else strategy
