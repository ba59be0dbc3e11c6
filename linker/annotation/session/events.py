"""Events of a session: everything that annotators, and linker for them, have done."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import lru_cache
from typing import Literal

from linker.common.errors import RefusedError
from linker.data.characters import plain
from linker.data.labels.values import LabelValue

Kind = Literal["assign", "label", "undo", "note", "resolve", "machine", "reveal", "answers"]

_NAME = re.compile(r"[^\x00-\x1f\x7f\s](?:[^\x00-\x1f\x7f]{0,98}[^\x00-\x1f\x7f\s])?")


def now() -> datetime:
    """Return the time in UTC, in microseconds, so that sorting by time keeps the order of labels."""
    return datetime.now(timezone.utc)


@dataclass(frozen=True, slots=True)
class Event:
    """What was done, as the table `events` of a session records it, one column per attribute.

    Attributes:
        kind: `assign`: a post was given to an annotator; `label`; `undo`: the annotator's last label was taken back;
            `note`; `resolve`: the adjudicated label of a post on which annotators disagree was set; `machine`: the
            label of a program, which is compared with those of people and counts for nothing else; `reveal`: the
            annotator was shown the labels of others; `answers`: answers to further questions were changed.
        annotator: name of the annotator.
        post: id of the post; empty for an `undo` that found no label.
        value: the label, for `label`, `resolve` and `machine`.
        note: text of `note`, or the note given with a label; None leaves an earlier note as it is.
        id: idempotency key: an action whose id was recorded before is not recorded again.
        choice: name of the label in the session's label set, if several names have the same `value`.
        time: time of the event, with its time zone.
        imported: of `label`: whether it was imported from a file.
        position: of `assign`: position in the queue, from 1; 0 if the post did not come from the queue.
        strategy: of `assign` and `label`: how the post was drawn: `random`, or the name of the query strategy; None: it
            was not drawn here, but labeled by its id or elsewhere.
        at_random: whether it was sampled uniformly, for a stopping rule or by the query strategy `random`.
        frame: number of unlabeled posts that it was drawn from: at random, all that were not drawn before; in order,
            those that nobody held on an open page and the annotator had not seen; None: not known.
        probability: of random draws: the probability with which each post of the frame was drawn, 0 to 1.
        answers: all answers to further questions, by key; None leaves earlier answers as they are.
        blind: of `label`: whether scores and marks were hidden from the annotator.
    """

    kind: Kind
    annotator: str
    post: str = ""
    value: LabelValue | None = None
    note: str | None = None
    id: str | None = None
    choice: str | None = None
    time: datetime = field(default_factory=now)
    imported: bool = False
    position: int = 0
    strategy: str | None = None
    at_random: bool = False
    frame: int | None = None
    probability: float | None = None
    answers: Mapping[str, str | int] | None = None
    blind: bool = False


def annotator_name(name: str) -> str:
    """Return the name in Unicode's NFC, without surrounding white space.

    Raises:
        RefusedError: if it is not a valid name.
    """
    name = unicodedata.normalize("NFC", name).strip()
    if not _NAME.fullmatch(name) or not name_key(name):
        raise RefusedError(f"annotator {name[:120]!r}: give a name of 1 to 100 characters on one line")
    return name


@lru_cache(maxsize=1_024)
def name_key(name: str) -> str:
    """Return what the spellings of one name share: not case, white space, invisible or compatibility characters."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", plain(name)).casefold())
    return " ".join("".join(one for one in folded if unicodedata.category(one) != "Cf").split())
