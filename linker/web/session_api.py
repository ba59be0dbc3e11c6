"""Endpoints of one labeling session."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from linker.annotation.formats.records import LabeledPost
from linker.annotation.session.journal import Action, annotator_name
from linker.annotation.session.session import Session
from linker.annotation.session.storage import JOURNAL
from linker.common.errors import LinkerError
from linker.web.serializers import article_view, labeled_view, status_view, suggestion_view

_MAX_NOTE = 4000
_ID_LENGTH = range(8, 65)


@dataclass(frozen=True)
class Filter:
    """Conditions on listed posts.

    Attributes:
        label: a label, `none` (unlabeled) or `all`.
        text: text that the post contains, ignoring case.
        lang: the language.
        since: posts at or after this time; posts without a time are left out.
        until: posts before this time.
    """

    label: str = "all"
    text: str = ""
    lang: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, post: LabeledPost, values: list[str]) -> bool:
        """Return whether a post with these labels matches."""
        if self.label == "none" and values:
            return False
        if self.label not in ("all", "none") and self.label not in values:
            return False
        if self.lang and post.post.language != self.lang:
            return False
        if (self.since or self.until) and not self._in_time(post.post.created_at):
            return False
        return not self.text or self.text.casefold() in post.post.text.casefold()

    def _in_time(self, created: datetime | None) -> bool:
        if created is None:
            return False
        created = _aware(created)
        return not (self.since and created < _aware(self.since)) and not (
            self.until and created >= _aware(self.until)
        )


class SessionApi:
    """Serves one session.

    Args:
        session: the session; the caller closes it.
        key: its name in addresses.
    """

    def __init__(self, session: Session, key: str) -> None:
        self.session = session
        self.key = key
        self._ids = {post.id for post in session.posts}
        self._listed: tuple[int, list[tuple[LabeledPost, list[tuple[str, str]]]]] | None = None

    def summary(self) -> dict[str, Any]:
        """Return the entry in the list of sessions."""
        article = self.session.articles[0]
        return {"key": self.key, "title": article.title or article.text[:80], "posts": len(self.session.pool)}

    def about(self) -> dict[str, Any]:
        """Return everything that does not change."""
        session, settings = self.session, self.session.settings
        languages = Counter(lang for post in session.posts if (lang := post.language))
        times = [_aware(post.created_at) for post in session.posts if post.created_at]
        return {
            **self.summary(),
            # The page stores unsent actions under this name, so it must be unique to the session.
            "uid": hashlib.sha256(
                f"{session.folder.resolve()}\n{settings.created}".encode("utf-8", "surrogatepass")
            ).hexdigest()[:16],
            "articles": [article_view(article) for article in session.articles],
            "guidelines": session.guidelines,
            "model": settings.model,
            "meaning": session.pool.scale.sentence,
            "languages": [lang for lang, _ in languages.most_common(50)],
            "times": [min(times).isoformat(), max(times).isoformat()] if times else None,
        }

    def sync(self, annotator: str, actions: list[Action], count: int) -> dict[str, Any]:
        """Record actions, and return the next suggestions.

        Returns:
            `done`: for each action its post, or why it was refused; `next`: suggestions for the annotator; `status`.

        Raises:
            LinkerError: if files cannot be read or written; actions already recorded are not repeated when sent again.
        """
        done = [self._act(action) for action in actions]
        suggestions = self.session.next(annotator, count) if annotator.strip() else []
        return {
            "done": done,
            "next": [suggestion_view(suggestion) for suggestion in suggestions],
            "status": status_view(self.session.status()),
        }

    def status(self) -> dict[str, Any]:
        """Return the progress of the session."""
        return status_view(self.session.status())

    def posts(self, wanted: Filter, offset: int, count: int) -> dict[str, Any]:
        """Return matching posts: labeled ones first, latest first; then the others by score."""
        found = [
            (post, labels)
            for post, labels in self._list()
            if wanted.takes(post, [value for _, value in labels])
        ]
        shown = found[offset : offset + count]
        return {"total": len(found), "posts": [labeled_view(post, labels) for post, labels in shown]}

    def _act(self, action: Action) -> dict[str, Any]:
        if problem := self._problem(action):
            return {"id": action.id, "error": problem}
        return {"id": action.id, "post": self.session.act(action)}

    def _problem(self, action: Action) -> str | None:
        """Return why an action can never be recorded, however often it is sent; None if it can."""
        if len(action.id or "") not in _ID_LENGTH:
            return f"an action needs an id of {_ID_LENGTH[0]} to {_ID_LENGTH[-1]} characters"
        if action.kind not in ("label", "note", "undo"):
            return f"unknown action {action.kind!r}"
        try:
            annotator_name(action.annotator)
        except LinkerError as error:
            return str(error)
        if action.kind != "undo" and action.post not in self._ids:
            return "this session has no such post"
        if action.kind == "label" and action.value is None:
            return "a label needs a value"
        if len(action.note or "") > _MAX_NOTE:
            return f"a note has at most {_MAX_NOTE:,} characters"
        return None

    def _list(self) -> list[tuple[LabeledPost, list[tuple[str, str]]]]:
        """Return all posts with their labels; cached until the journal grows."""
        length = (self.session.folder / JOURNAL).stat().st_size
        if self._listed is None or self._listed[0] != length:
            labels: dict[str, list[tuple[str, str]]] = {}
            posts: dict[str, LabeledPost] = {}
            for record in self.session.labeled():
                before = posts.get(record.post.id)
                given = labels.setdefault(record.post.id, [])
                if record.value is not None:
                    given.append((record.annotator or "", record.value))
                posts[record.post.id] = record if before is None else _both(before, record)
            oldest = datetime(1, 1, 1, tzinfo=timezone.utc)
            in_order = sorted(
                posts.values(), key=lambda post: (post.time or oldest, post.score), reverse=True
            )
            self._listed = length, [(post, labels[post.post.id]) for post in in_order]
        return self._listed[1]


def _both(first: LabeledPost, second: LabeledPost) -> LabeledPost:
    """Merge two records of a post: the later time, both notes."""
    times = [time for time in (first.time, second.time) if time]
    notes = [note for note in (first.note, second.note) if note]
    return replace(first, time=max(times, default=None), note="\n".join(notes))


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)
