"""Labeling sessions as the page shows them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from itertools import accumulate
from typing import Annotated, Any, Literal
from zlib import crc32

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from linker.annotation.formats.label_format import LabeledPost
from linker.annotation.project.post_files import TemporaryFiles
from linker.annotation.project.settings import ProjectSettings
from linker.annotation.session.events import Event, name_key
from linker.annotation.session.session import Session
from linker.annotation.session.status import Status
from linker.annotation.stopping_rules.estimate import Estimate
from linker.annotation.stopping_rules.stopping_rule import Decision
from linker.common.errors import LinkerError, RefusedError
from linker.common.files import real_path
from linker.data.languages import language_of_post
from linker.data.post_filter import Filter, in_utc
from linker.web.api.post_context import PostContext
from linker.web.api.views import AsciiJsonResponse, article_view, post_view, status_view
from linker.web.server.visitors import visitor_of

_MAX_NOTE = 4000
_MAX_ACTIONS = 500
_ID_LENGTH = range(8, 65)
_FIRST = datetime(1, 1, 1, tzinfo=timezone.utc)


class SyncBody(BaseModel):
    """Actions since the last request, and the number of suggestions wanted."""

    annotator: str = Field("", max_length=200)
    actions: list[Event] = Field(default_factory=list, max_length=_MAX_ACTIONS)
    count: int = Field(4, ge=0, le=20)


class Listing(BaseModel):
    """Conditions on listed posts (`ids`: only these), and the page of the list: `count` after the first `offset`."""

    annotator: str = Field("", max_length=200)
    ids: list[str] = Field(default_factory=list, max_length=200)
    label: Literal["all", "none", "relevant", "not", "skip"] = "all"
    text: str = Field("", max_length=500)
    lang: str = ""
    since: datetime | None = None
    until: datetime | None = None
    offset: int = Field(0, ge=0)
    count: int = Field(50, ge=1, le=200)


class NoSessionError(LinkerError):
    """The session is not served here."""


class ServedSession:
    """A session with what the page shows around it.

    Args:
        session: the session; the caller closes it.
        key: its name in addresses.
        project: settings of its project, whose texts may change; None: it has none.
    """

    def __init__(self, session: Session, key: str, project: ProjectSettings | None = None) -> None:
        self.session = session
        self.key = key
        self.project = project
        self.context = PostContext(session.posts)
        self._listed: tuple[Any, list[tuple[LabeledPost, list[LabeledPost]]]] | None = None

    @property
    def guidelines(self) -> str:
        """The instructions for annotators."""
        return self.project.guidelines if self.project else self.session.guidelines

    def summary(self) -> dict[str, Any]:
        """Return the entry in the list of sessions."""
        article = self.session.articles[0]
        title = self.project.title if self.project else article.title or article.text[:80]
        return {"key": self.key, "title": title, "posts": len(self.session.pool)}

    def about(self) -> dict[str, Any]:
        """Return everything that does not change."""
        session, settings, project = self.session, self.session.settings, self.project
        languages = Counter(lang for post in session.posts if (lang := language_of_post(post)))
        times = [in_utc(post.created_at) for post in session.posts if post.created_at]
        # The page stores unsent actions under this name, so it must be unique to the session.
        origin = f"{real_path(session.folder)}\n{settings.created}".encode("utf-8", "surrogatepass")
        return {
            **self.summary(),
            "uid": hashlib.sha256(origin).hexdigest()[:16],
            "articles": [article_view(article) for article in session.articles],
            "guidelines": self.guidelines,
            "question": project.question if project else settings.question,
            "questions": settings.questions,
            "labels": session.label_set.as_json(),
            "named": session.label_set.named,
            "people": [person.name for person in project.people] if project else [],
            "model": settings.model,
            "meaning": "" if settings.blind else session.pool.scale.sentence,
            "languages": [lang for lang, _ in languages.most_common(50)],
            "times": [min(times).isoformat(), max(times).isoformat()] if times else None,
        }

    def sync(self, body: SyncBody, person: str | None = None) -> dict[str, Any]:
        """Record actions, and return the next suggestions.

        Args:
            body: the actions.
            person: the only annotator whose actions are recorded and who gets suggestions; None: that of the body.

        Returns:
            `done`: for each action its post, or why it was refused; `next`: suggestions for the annotator; `status`.

        Raises:
            LinkerError: if files cannot be read or written; actions already recorded are not repeated when sent again.
        """
        done = [self._act(action, person) for action in body.actions]
        annotator = person or body.annotator
        suggestions = self.session.next(annotator, body.count) if annotator.strip() else []
        following = [
            {
                **post_view(suggestion.post, suggestion.marks),
                "copies": suggestion.copies,
                "score": suggestion.score,
                "position": suggestion.position,
                "random": suggestion.at_random,
                "note": suggestion.note,
                "words": suggestion.article_words,
                **self.context.view(suggestion.post),
            }
            for suggestion in suggestions
        ]
        return {"done": done, "next": following, "status": self.status(person)}

    def _act(self, action: Event, person: str | None) -> dict[str, Any]:
        try:
            if person is not None and name_key(action.annotator) != name_key(person):
                raise RefusedError(f"this link belongs to {person}")
            if len(action.id or "") not in _ID_LENGTH:
                raise RefusedError(f"an action needs an id of {_ID_LENGTH[0]} to {_ID_LENGTH[-1]} characters")
            if action.kind not in ("label", "answers", "note", "undo"):
                raise RefusedError(f"unknown action {action.kind!r}")
            if len(action.note or "") > _MAX_NOTE:
                raise RefusedError(f"a note has at most {_MAX_NOTE:,} characters")
            # Nobody learns of, or stands in the way of, an action of another person by its id.
            own = replace(action, id=f"{name_key(action.annotator)}/{action.id}")
            return {"id": action.id, "post": self.session.act(own)}
        except RefusedError as error:
            return {"id": action.id, "error": str(error)}

    def figures(self) -> Status:
        """Return the progress of all, which waits for the people of the project, if it names any."""
        return self.session.status([one.name for one in self.project.people] if self.project else ())

    def status(self, person: str | None = None) -> dict[str, Any]:
        """Return the progress of the session.

        Where several people label the same posts in the same order, the figures of all would tell the labels of those
        who were faster. A person sees their own there, and whether to stop.

        Args:
            person: the person who asks; None: the owner.
        """
        if person is None or not self.session.settings.overlap:
            return status_view(self.figures())
        status = self.session.status([person])
        labels = self.session.labels_of(person)
        relevant = [value == "relevant" for value in labels if value != "skip"]
        status = replace(
            status,
            labeled=len(relevant),
            relevant=sum(relevant),
            skipped=len(labels) - len(relevant),
            copies_labeled=0,
            estimate=Estimate(0, 0, status.posts, 1.0, "the owner of the project sees the figures of all"),
            decision=Decision(
                status.advice.stop, "the figures here are yours alone, so that you label on your own"
            ),
            curve=list(accumulate(map(int, relevant))),
            annotators={},
            disputed=0,
            waiting=0,
            waiting_for=None,
        )
        return {**status_view(status), "own": True}

    def posts(self, listing: Listing, person: str | None = None) -> dict[str, Any]:
        """Return matching posts: those that the annotator labeled first, latest first; then the others by score.

        In a blind session, the others come in random order. Labels and notes of others are shown, and can be filtered
        by, only on posts that the annotator has labeled as relevant or not; from then on, another label of theirs is
        not independent.
        """
        conditions = Filter(listing.since, listing.until, (listing.lang,) if listing.lang else ())
        text = listing.text.strip().casefold()

        def matches(labels: list[LabeledPost]) -> bool:
            if listing.label == "none":
                return not labels
            return listing.label == "all" or any(label.value == listing.label for label in labels)

        annotator = person or listing.annotator
        passing = [
            both
            for both in self._list(annotator, listing.ids)
            if conditions.passes(both[0].post) and text in both[0].post.text.casefold()
        ]
        matching = [both for both in passing if matches(both[1])]
        page = matching[listing.offset :][: listing.count]
        # Which posts have a label, and how many, tells labels of others that are not on the page, too.
        looked_at = page if listing.label in ("all", "none") else passing
        if revealed := [post.post.id for post, labels in looked_at if len(labels) > 1]:
            self.session.reveal(annotator, revealed)
        name_of = self.session.label_set.name_of
        return {
            "total": len(matching),
            "posts": [
                {
                    **post_view(post.post),
                    "labels": [
                        (label.annotator or "", label.value, name_of(label.value, label.choice))
                        for label in labels
                        if label.value is not None
                    ],
                    "answers": {label.annotator: label.answers for label in labels if label.answers},
                    "note": post.note or "",
                    **self.context.view(post.post),
                }
                for post, labels in page
            ],
        }

    def _list(self, annotator: str, ids: list[str]) -> list[tuple[LabeledPost, list[LabeledPost]]]:
        """Return posts with the labels that an annotator may see; all of them are cached until there are new events."""
        blind, seed = self.session.settings.blind, self.session.settings.seed
        key = self.session.number_of_events, annotator, blind
        cached = self._listed  # other threads list for others
        if ids or cached is None or cached[0] != key:
            groups: dict[str, list[LabeledPost]] = {}
            for record in self.session.labeled(ids=set(ids) or None):
                groups.setdefault(record.post.id, []).append(record)
            listed = [_seen_by(annotator, records) for records in groups.values()]

            def place(both: tuple[LabeledPost, list[LabeledPost]]) -> tuple[datetime, float]:
                post = both[0]
                return post.time or _FIRST, crc32(
                    f"{seed} {post.post.id!a}".encode()
                ) if blind else post.score

            listed.sort(key=place, reverse=True)
            cached = key, listed
            if not ids:
                self._listed = cached
        return cached[1]


def _seen_by(annotator: str, records: list[LabeledPost]) -> tuple[LabeledPost, list[LabeledPost]]:
    """Return a post as an annotator sees it: with those of others after their own label of relevant or not."""
    post, key = records[0], name_key(annotator)
    own = [record for record in records if name_key(record.annotator or "") == key]
    if not any(record.value in ("relevant", "not") for record in own):
        records = own
    times = [record.time for record in records if record.time]
    notes = [record.note for record in records if record.note]
    labels = [record for record in records if record.value is not None]
    return replace(post, time=max(times, default=None), note="\n".join(notes)), labels


class Sessions:
    """Sessions by their keys in addresses: folder names, numbered where two are equal.

    Args:
        sessions: the sessions; the caller closes them.

    Attributes:
        files: files of posts that people upload.
    """

    def __init__(self, sessions: Sequence[Session] = ()) -> None:
        self.files = TemporaryFiles()
        self._by_key: dict[str, ServedSession] = {}
        for session in sessions:
            key, number = session.name or "session", 2
            while key in self._by_key:
                key, number = f"{session.name}-{number}", number + 1
            self._by_key[key] = ServedSession(session, key)

    def get(self, key: str) -> ServedSession:
        """Return a session.

        Raises:
            NoSessionError: if it is not served here.
        """
        if key not in self._by_key:
            raise NoSessionError(f"the session {key[:100]!r} is no longer served here")
        return self._by_key[key]

    def version(self, key: str) -> str:
        """Return what changes whenever the session does, so that pages need not ask for everything again."""
        return str(self.get(key).session.number_of_events)

    def all(self) -> list[ServedSession]:
        """Return the sessions that people can label in."""
        return list(self._by_key.values())


def session_routes(sessions: Sessions) -> APIRouter:
    """Return the routes of labeling."""
    router = APIRouter(prefix="/api/sessions/{key}", include_in_schema=False)

    @router.get("")
    def about(key: str) -> AsciiJsonResponse:
        return AsciiJsonResponse(sessions.get(key).about())

    @router.get("/status")
    def status(key: str, request: Request) -> AsciiJsonResponse:
        return AsciiJsonResponse(sessions.get(key).status(visitor_of(request).name))

    @router.get("/version")
    def version(key: str) -> AsciiJsonResponse:
        return AsciiJsonResponse({"version": sessions.version(key)})

    @router.post("/sync")
    def sync(key: str, body: SyncBody, request: Request) -> AsciiJsonResponse:
        return AsciiJsonResponse(sessions.get(key).sync(body, visitor_of(request).name))

    @router.get("/posts")
    def posts(key: str, listing: Annotated[Listing, Query()], request: Request) -> AsciiJsonResponse:
        return AsciiJsonResponse(sessions.get(key).posts(listing, visitor_of(request).name))

    return router
