"""JSON Lines: all fields of a label, doccano's text classification, and Prodigy's binary classification.

https://doccano.github.io/doccano, https://prodi.gy/docs/api-interfaces
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.label_format import LabeledPost, LabelFormat, sample_of, write_json
from linker.data.labels.collector import text_in
from linker.data.labels.values import LabelValue
from linker.data.types import Post

_ANSWERS: dict[LabelValue, str] = {"relevant": "accept", "not": "reject", "skip": "ignore"}


@LabelFormat.register("jsonl")
class JsonLinesFormat(LabelFormat):
    """One JSON object per label: post_id, text, article_id, score, label, annotator, note, time, created_at; if needed,
    note_time (if it is another), answers (to further questions, by key), answers_time, choice (its name in the label
    set), machine (true: a program gave it), adjudicated (true: it settles several labels), sample (how the post was
    drawn: random, or the query strategy), blind (true: scores and marks were hidden), lang, platform, author, url,
    source, and fields of its platform (x_like_count)."""

    marks_machines = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        write_json(path, (flat(record, nested=True) for record in records), indent=None)
        return [path]


def flat(record: LabeledPost, nested: bool = False) -> dict[str, Any]:
    """Return a label as one flat object, or with its answers in an object `answers`."""
    time = record.time
    return {
        "post_id": record.post.id,
        "text": record.post.text,
        "article_id": record.article_id,
        "score": record.score,
        "label": record.value,
        "annotator": record.annotator,
        "note": record.note,
        "time": time and time.isoformat(),
        "created_at": None,
        **other_times(record),
        **(answers_object(record) if nested else record.columns),
        **({"choice": record.choice} if record.choice is not None else {}),
        **({"machine": True} if record.machine else {}),
        **({"adjudicated": True} if record.adjudicated else {}),
        **sample_of([record]),
        **about(record.post),
        **{name: value for name, value in record.post.extra.items() if is_of_platform(name)},
    }


def answers_object(record: LabeledPost) -> dict[str, Any]:
    """Return the answers of a label as an object; empty if there are none."""
    return {"answers": dict(record.answers)} if record.answers is not None else {}


def other_times(record: LabeledPost) -> dict[str, str]:
    """Return the times of a note and of answers that were given at another time than the label."""
    times = {"note_time": record.note_time, "answers_time": record.answers_time}
    return {name: time.isoformat() for name, time in times.items() if time}


def is_of_platform(name: str) -> bool:
    """Return whether a field of a post is one of its platform that linker does not use."""
    return name.startswith("x_")


def about(post: Post) -> dict[str, str]:
    """Return when, where and in which language a post was written, as far as known: by platform, author and time, it is
    found without an id."""
    created = post.created_at.isoformat() if post.created_at else ""
    fields = {name: text_in(post.extra.get(name)) for name in ("platform", "author", "url")}
    fields = {"created_at": created, "lang": post.language or "", **fields, "source": post.source}
    return {name: value for name, value in fields.items() if value}


@LabelFormat.register("doccano")
class DoccanoFormat(LabelFormat):
    """One JSON object per label: text, label (a list), and the rest as doccano's metadata.

    doccano cannot skip posts, so a skipped post has the label "skip". doccano exports one file per annotator without
    their name; its comments are read as notes.
    """

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        # A key that only some examples have becomes NaN in doccano, which its database refuses.
        keys = ["note_time", "lang", "platform", "author", "url", "source", "sample", "blind"]
        answers = dict.fromkeys(name for record in records for name in record.columns)
        keys += ["answers_time", *answers] if answers else []
        write_json(path, (_example(record, keys) for record in records), indent=None)
        return [path]


def _example(record: LabeledPost, keys: Iterable[str]) -> dict[str, Any]:
    values = {key: value for key, value in flat(record).items() if not is_of_platform(key)}
    texts = {key: "" if value is None else value for key, value in values.items()}
    for key in keys:
        texts.setdefault(key, "")
    return texts | {"label": [record.value] if record.value else []}


@LabelFormat.register("prodigy")
class ProdigyFormat(LabelFormat):
    """One task per label: text, label RELEVANT, and the answer accept, reject or ignore.

    Tasks without an answer are for `prodigy mark` and `textcat.manual`, those with one for `prodigy db-in`. Prodigy
    computes the task hashes. Exports of `textcat.manual` with several labels list them under `accept`.
    """

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        write_json(path, map(_task, records), indent=None)
        return [path]


def _task(record: LabeledPost) -> dict[str, Any]:
    task: dict[str, Any] = {
        "text": record.post.text,
        "label": "RELEVANT",
        "post_id": record.post.id,
        "meta": {"article": record.article_id, "score": round(record.score, 1)},
    }
    task |= about(record.post) | sample_of([record])
    if record.value:
        task["answer"] = _ANSWERS[record.value]
    if record.annotator:
        task["_annotator_id"] = record.annotator
    if record.note:
        task["note"] = record.note
    task |= other_times(record) | answers_object(record)
    if record.time:
        # `_timestamp` is in whole seconds.
        task |= {"_timestamp": int(record.time.timestamp()), "time": record.time.isoformat()}
    return task
