"""Export and import of a session's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timezone

from linker.annotation.formats.records import ImportedLabel, LabeledPost
from linker.annotation.pool import Pool
from linker.annotation.session.journal import Event, annotator_name, now
from linker.annotation.session.state import Label, SessionState
from linker.common.errors import DataError
from linker.data.types import Article, Post


def all_labels(state: SessionState, pool: Pool, posts: Sequence[Post]) -> list[LabeledPost]:
    """Return a record per label, and one per unlabeled post; near-duplicates inherit the labels of their post."""
    article = query_name(pool.articles)
    records = []
    for place, post in _placed(state, posts):
        score = pool.shown_scores[place]
        given = state.by(place)
        for name, one in given.items():
            note = state.notes.get((place, name)) or None
            records.append(LabeledPost(post, article, score, one.value, name, note, one.time))
        if not given:
            records.append(LabeledPost(post, article, score))
    return records


def resolved_labels(state: SessionState, pool: Pool, posts: Sequence[Post]) -> list[LabeledPost]:
    """Return a record per post: the adjudicated label, else the majority; a tie counts as relevant.

    `annotator` and `note` join those of all annotators; `time` is that of the last label.
    """
    article = query_name(pool.articles)
    records = []
    for place, post in _placed(state, posts):
        score = pool.shown_scores[place]
        given, relevant = state.by(place), state.value(place)
        if not given and relevant is None:
            records.append(LabeledPost(post, article, score))
            continue
        notes = [note for name in given if (note := state.notes.get((place, name)))]
        times = [label.time for label in (*given.values(), *_resolution(state, place))]
        records.append(
            LabeledPost(
                post,
                article,
                score,
                "skip" if relevant is None else "relevant" if relevant else "not",
                ", ".join(given) or None,
                "; ".join(notes) or None,
                max(times),
            )
        )
    return records


def events_of(
    labels: Sequence[ImportedLabel], state: SessionState, annotator: str | None, source: str
) -> list[Event]:
    """Return the events that import labels; labels that the session already has are left out.

    Args:
        labels: labels read from a file.
        state: state of the session.
        annotator: annotator of labels without a name in the file.
        source: name of the file in messages.

    Raises:
        DataError: if a post is not in the session, or a label has no annotator.
    """
    events: list[Event] = []
    held = {
        (place, name): (one.value, state.notes.get((place, name), ""))
        for name, who in state.annotators.items()
        for place, one in who.given.items()
    }
    for label in labels:
        kind = "record" if source.endswith(".json") else "line"
        where = f"{source}, {kind} {label.line}" if label.line else source
        if label.post_id not in state.places:
            raise DataError(f"{where}: post {label.post_id!r} is not in the session; nothing was imported")
        author = label.annotator or annotator
        if author is None:
            raise DataError(f"{where}: a label without an annotator; name one with --annotator")
        name = annotator_name(author)
        place = state.places[label.post_id]
        before = held.get((place, name), (None, ""))
        note = label.note or before[1]
        if before == (label.value, note):
            continue
        held[place, name] = label.value, note
        time = label.time or now()
        if time.tzinfo is None:
            time = time.replace(tzinfo=timezone.utc)
        events.append(
            Event("label", name, label.post_id, label.value, label.note or None, time=time, imported=True)
        )
    return events


def query_name(articles: Sequence[Article]) -> str:
    """Return the name of the seed articles as one query."""
    return articles[0].id if len(articles) == 1 else f"{articles[0].id}+{len(articles) - 1}"


def _placed(state: SessionState, posts: Sequence[Post]) -> Iterator[tuple[int, Post]]:
    places: Mapping[str, int] = state.places
    return ((places[post.id], post) for post in posts)


def _resolution(state: SessionState, place: int) -> list[Label]:
    return [state.resolved[place]] if state.is_resolved(place) else []
