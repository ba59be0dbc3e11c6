"""Settings of a project: what is asked about which article, and who answers."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from linker.annotation.codebook import Codebook
from linker.annotation.session.events import annotator_name, name_key
from linker.annotation.session.label_set import label_set_problem
from linker.articles.publication import publication_date
from linker.common.errors import DataError, Faults, LinkerError
from linker.config import build
from linker.data.post_filter import Filter
from linker.data.types import Article
from linker.models.pretrained import BEST

#: Models that a project can be set up with.
MODELS = (BEST, "distilled", "bm25", "tfidf")
#: Labels of a project that has no label set of its own.
USUAL_LABELS = (
    {"name": "Relevant", "value": "relevant"},
    {"name": "Not relevant", "value": "not"},
    {"name": "Unsure", "value": "skip"},
)
_LONGEST = {"title": 200, "question": 500, "guidelines": 50_000}
_MOST_PEOPLE = 50


@dataclass(frozen=True)
class Person:
    """Somebody who labels in a project.

    Attributes:
        name: name in labels and exports.
        id: random, hexadecimal; part of what the person's token is made from, so a removed person's token is void even
            if the name is added again.
    """

    name: str
    id: str = field(default_factory=lambda: secrets.token_hex(8))


@dataclass(frozen=True)
class ProjectSettings:
    """Settings of a project.

    Attributes:
        title: its name on the page.
        articles: the seed articles.
        question: what people answer about each post.
        guidelines: instructions for them, Markdown.
        model: model that scores the posts, one of `MODELS`.
        people: those who label.
        labels_per_post: number of people who label each post of the overlap; 1: there is no overlap.
        overlap: share of the posts, 0 to 1, that `labels_per_post` people label.
        labels: the label set.
        questions: the further questions of the codebook.
        since: posts before this date or time are left out, as `linker rank` does; empty: none.
        until: posts from this date or time on are left out.
        languages: posts in other languages are left out; empty: none.
        blind: whether annotators see no scores, no marks, and not how posts are drawn.
        strategy: query strategy of the session: `active_learning`, or `random` for a random order.
        target: recall at which the stopping rule stops, between 0 and 1.
        created: time of creation, ISO 8601.
        reading: name of a file of posts → how it is read, see `PostFiles`.
    """

    title: str
    articles: tuple[Article, ...]
    question: str = "Is this post about the article?"
    guidelines: str = ""
    model: str = BEST
    people: tuple[Person, ...] = ()
    labels_per_post: int = 1
    overlap: float = 1.0
    labels: tuple[dict[str, str], ...] = USUAL_LABELS
    questions: Sequence[dict[str, Any]] = ()
    since: str = ""
    until: str = ""
    languages: tuple[str, ...] = ()
    blind: bool = False
    strategy: str = "active_learning"
    target: float = 0.95
    created: str = ""
    reading: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def filter(self) -> Filter:
        """The conditions on posts; a `LinkerError` if a date or language is none."""
        since, until = (
            publication_date(text, "posts") if text else None for text in (self.since, self.until)
        )
        return Filter(since, until, self.languages)

    def check(self) -> None:
        """Check all settings.

        Raises:
            LinkerError: with all that is wrong.
        """
        faults = Faults()
        for name, longest in _LONGEST.items():
            with faults:
                if len(getattr(self, name)) > longest:
                    raise LinkerError(f"{name}: more than {longest:,} characters")
        with faults:
            if not self.title.strip():
                raise LinkerError("title: is empty; give the project a name")
        with faults:
            if not self.articles:
                raise DataError("article: none was given; paste its address or its text")
        with faults:
            if self.model not in MODELS:
                raise LinkerError(f"model {self.model[:60]!r}: use {', '.join(MODELS)}")
        with faults:
            self._check_people()
        with faults:
            _ = self.filter
        with faults:
            if problem := label_set_problem(self.labels) or (None if self.labels else "has no label"):
                raise LinkerError(f"label set: {problem}")
        with faults:
            build(Codebook, {"questions": list(self.questions)})
        with faults:
            if not 0 < self.target < 1:
                raise LinkerError(f"target recall {self.target}: use a share between 0 and 1, such as 0.95")
        faults.raise_if_any()

    def _check_people(self) -> None:
        names = [annotator_name(person.name) for person in self.people]
        if len(names) > _MOST_PEOPLE:
            raise LinkerError(f"people: {len(names)}; at most {_MOST_PEOPLE}")
        if len(set(map(name_key, names))) < len(names):
            raise LinkerError("people: a name is given twice; give each person a different one")
        if not 1 <= self.labels_per_post <= max(len(names), 1):
            raise LinkerError(
                f"overlap: {self.labels_per_post} people per post, but there are {len(names)}; add people, or "
                "choose fewer"
            )
        if not 0 < self.overlap <= 1:
            raise LinkerError(f"overlap {self.overlap}: use a share of the posts above 0 and up to 1")


def people_of(names: Sequence[str], before: Sequence[Person] = ()) -> tuple[Person, ...]:
    """Return people by name; those who were there before keep their id.

    Raises:
        LinkerError: if a name is invalid.
    """
    known = {name_key(person.name): person for person in before}
    cleaned = [annotator_name(name) for name in names if name.strip()]
    return tuple(known.get(name_key(name)) or Person(name) for name in cleaned)


def settings_of(values: dict[str, Any], articles: Sequence[Article]) -> ProjectSettings:
    """Return the settings in a `project.json`.

    Raises:
        TypeError: if a value is missing or of the wrong type.
    """
    simple = (
        *("title", "question", "guidelines", "model", "labels_per_post", "overlap", "target", "created"),
        *("since", "until", "blind", "strategy", "questions"),
    )
    return ProjectSettings(
        articles=tuple(articles),
        people=tuple(Person(**person) for person in values["people"]),
        labels=tuple(dict(one) for one in values["labels"]),
        languages=tuple(values.get("languages", ())),
        reading={name: dict(choice) for name, choice in values.get("reading", {}).items()},
        **{name: values[name] for name in simple if name in values},
    )
