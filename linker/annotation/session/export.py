"""The labels of a session as records of files, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timezone

from linker.annotation.formats.records import ImportedLabel, LabelledPost
from linker.annotation.pool import Pool
from linker.annotation.session.journal import Event, annotator_name, now
from linker.annotation.session.state import Given, History
from linker.common.errors import DataError
from linker.data.types import Article, Post


def every_label(history: History, pool: Pool, posts: Sequence[Post]) -> list[LabelledPost]:
    """A record for each label, and one for each post without; near-duplicates take over the labels of their post."""
    article = query_name(pool.articles)
    records = []
    for place, post in _placed(history, posts):
        score = float(str(pool.scores[place]))
        given = history.by(place)
        for name, one in given.items():
            note = history.notes.get((place, name)) or None
            records.append(LabelledPost(post, article, score, one.value, name, note, one.time))
        if not given:
            records.append(LabelledPost(post, article, score))
    return records


def one_label_each(history: History, pool: Pool, posts: Sequence[Post]) -> list[LabelledPost]:
    """A record for each post, with the label that holds: what was resolved, what most say; a tie is relevant.

    `annotator` and `note` join those of all who labelled it; `time` is that of the last label.
    """
    article = query_name(pool.articles)
    records = []
    for place, post in _placed(history, posts):
        score = float(str(pool.scores[place]))
        given, said = history.by(place), history.value(place)
        if not given and said is None:
            records.append(LabelledPost(post, article, score))
            continue
        notes = [note for name in given if (note := history.notes.get((place, name)))]
        times = [one.time for one in (*given.values(), *_resolution(history, place))]
        records.append(
            LabelledPost(
                post,
                article,
                score,
                "skip" if said is None else "relevant" if said else "not",
                ", ".join(given) or None,
                "; ".join(notes) or None,
                max(times),
            )
        )
    return records


def events_of(
    labels: Sequence[ImportedLabel], history: History, annotator: str | None, source: str
) -> list[Event]:
    """The events that bring labels into a session; what it holds already, as when a file is read again, gives none.

    Args:
        labels: out of a file.
        history: of the session.
        annotator: for labels of which the file does not say whose they are.
        source: what messages call the file.

    Raises:
        DataError: a label for a post that is not in the session, or of nobody.
    """
    events: list[Event] = []
    held = {
        (place, name): (one.value, history.notes.get((place, name), ""))
        for name, who in history.annotators.items()
        for place, one in who.given.items()
    }
    for label in labels:
        kind = "record" if source.endswith(".json") else "line"
        where = f"{source}, {kind} {label.line}" if label.line else source
        if label.post_id not in history.places:
            raise DataError(
                f"{where}: there is no post {label.post_id!r} in the session; nothing was imported"
            )
        said = label.annotator or annotator
        if said is None:
            raise DataError(f"{where}: does not say whose label it is; name the annotator (--annotator)")
        name = annotator_name(said)
        place = history.places[label.post_id]
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
    """How the seed articles are called as one query."""
    return articles[0].id if len(articles) == 1 else f"{articles[0].id}+{len(articles) - 1}"


def _placed(history: History, posts: Sequence[Post]) -> Iterator[tuple[int, Post]]:
    places: Mapping[str, int] = history.places
    return ((places[post.id], post) for post in posts)


def _resolution(history: History, place: int) -> list[Given]:
    return [history.resolved[place]] if history.is_resolved(place) else []
