"""Endpoints of one labeling session."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import accumulate
from typing import Any

from linker.annotation.formats.label_format import LabeledPost
from linker.annotation.project.settings import ProjectSettings
from linker.annotation.session.events import Event, RefusedError
from linker.annotation.session.session import Session
from linker.annotation.stopping_rules.estimate import Estimate
from linker.annotation.stopping_rules.stopping_rule import Decision
from linker.common.files import real_path
from linker.data.labels.values import LabelValue
from linker.data.languages import language_of_post
from linker.web.post_context import PostContext
from linker.web.serializers import article_view, labeled_view, status_view, suggestion_view

_MAX_NOTE = 4000
_ID_LENGTH = range(8, 65)


@dataclass(frozen=True)
class GivenLabel:
    """A label of a post: by whom, its value, and its name in the label set."""

    annotator: str
    value: LabelValue
    choice: str | None


@dataclass(frozen=True)
class Filter:
    """Conditions on listed posts.

    Attributes:
        label: a label, `none` (unlabeled) or `all`.
        text: text that the post contains, ignoring case.
        lang: the code of the language.
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
        if self.lang and language_of_post(post.post) != self.lang:
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
        project: settings of its project, whose texts may change; None: it has none.
    """

    def __init__(self, session: Session, key: str, project: ProjectSettings | None = None) -> None:
        self.session = session
        self.key = key
        self.project = project
        self.context = PostContext(session.posts)
        self._listed: tuple[int, str, list[tuple[LabeledPost, list[GivenLabel]]]] | None = None

    def summary(self) -> dict[str, Any]:
        """Return the entry in the list of sessions."""
        article = self.session.articles[0]
        title = self.project.title if self.project else article.title or article.text[:80]
        return {"key": self.key, "title": title, "posts": len(self.session.pool)}

    def about(self) -> dict[str, Any]:
        """Return everything that does not change."""
        session, settings = self.session, self.session.settings
        languages = Counter(lang for post in session.posts if (lang := language_of_post(post)))
        times = [_aware(post.created_at) for post in session.posts if post.created_at]
        return {
            **self.summary(),
            # The page stores unsent actions under this name, so it must be unique to the session.
            "uid": hashlib.sha256(
                f"{real_path(session.folder)}\n{settings.created}".encode("utf-8", "surrogatepass")
            ).hexdigest()[:16],
            "articles": [article_view(article) for article in session.articles],
            "guidelines": self.guidelines,
            "question": self.project.question if self.project else settings.question,
            "labels": session.label_set.as_json(),
            "named": session.label_set.named,
            "people": [person.name for person in self.project.people] if self.project else [],
            "model": settings.model,
            "meaning": session.pool.scale.sentence,
            "languages": [lang for lang, _ in languages.most_common(50)],
            "times": [min(times).isoformat(), max(times).isoformat()] if times else None,
        }

    @property
    def guidelines(self) -> str:
        """The instructions for annotators."""
        return self.project.guidelines if self.project else self.session.guidelines

    def sync(
        self, annotator: str, actions: list[Event], count: int, only: str | None = None
    ) -> dict[str, Any]:
        """Record actions, and return the next suggestions.

        Args:
            annotator: who gets the suggestions.
            actions: what was done.
            count: number of suggestions.
            only: the only annotator whose actions are recorded; None: anybody's.

        Returns:
            `done`: for each action its post, or why it was refused; `next`: suggestions for the annotator; `status`.

        Raises:
            LinkerError: if files cannot be read or written; actions already recorded are not repeated when sent again.
        """
        done = [self._act(action, only) for action in actions]
        suggestions = self.session.next(annotator, count) if annotator.strip() else []
        return {
            "done": done,
            "next": [
                {**suggestion_view(suggestion), **self.context.view(suggestion.post)}
                for suggestion in suggestions
            ],
            "status": self.status(only),
        }

    def status(self, only: str | None = None) -> dict[str, Any]:
        """Return the progress of the session.

        Where several people label the same posts in the same order, the figures of all would tell the labels of those
        who were faster. A person sees their own there, and whether to stop.

        Args:
            only: the person who asks; None: the owner.
        """
        status = self.session.status()
        if only is None or not self.session.settings.overlap:
            return status_view(status)
        given = self.session.labels_of(only)
        relevant = [value == "relevant" for value in given if value != "skip"]
        own = replace(
            status,
            labeled=len(relevant),
            relevant=sum(relevant),
            skipped=len(given) - len(relevant),
            copies_labeled=0,
            estimate=Estimate(0, 0, status.posts, 1.0, "the owner of the project sees the figures of all"),
            decision=Decision(
                status.decision.stop, "the figures here are yours alone, so that you label on your own"
            ),
            curve=list(accumulate(map(int, relevant))),
            annotators={},
            per_hour=None,
            disputed=0,
            waiting=0,
        )
        return {**status_view(own), "own": True}

    def posts(self, annotator: str, wanted: Filter, offset: int, count: int) -> dict[str, Any]:
        """Return matching posts: those that the annotator labeled first, latest first; then the others by score.

        Labels and notes of others are shown, and can be filtered by, only on posts that the annotator has labeled.
        """
        name = self.session.label_set.name_of
        found = [
            (post, labels)
            for post, labels in self._list(annotator.strip())
            if wanted.takes(post, [label.value for label in labels])
        ]
        return {
            "total": len(found),
            "posts": [
                {
                    **labeled_view(
                        post, [(one.annotator, one.value, name(one.value, one.choice)) for one in labels]
                    ),
                    **self.context.view(post.post),
                }
                for post, labels in found[offset : offset + count]
            ],
        }

    def _act(self, action: Event, only: str | None) -> dict[str, Any]:
        try:
            if only is not None and action.annotator.strip() != only:
                raise RefusedError(f"this link belongs to {only}")
            if len(action.id or "") not in _ID_LENGTH:
                raise RefusedError(f"an action needs an id of {_ID_LENGTH[0]} to {_ID_LENGTH[-1]} characters")
            if action.kind not in ("label", "note", "undo"):
                raise RefusedError(f"unknown action {action.kind!r}")
            if len(action.note or "") > _MAX_NOTE:
                raise RefusedError(f"a note has at most {_MAX_NOTE:,} characters")
            return {"id": action.id, "post": self.session.act(action)}
        except RefusedError as error:
            return {"id": action.id, "error": str(error)}

    def _list(self, annotator: str) -> list[tuple[LabeledPost, list[GivenLabel]]]:
        """Return all posts with the labels that an annotator may see; cached until there are new events."""
        number = self.session.number_of_events
        if self._listed is None or self._listed[:2] != (number, annotator):
            groups: dict[str, list[LabeledPost]] = {}
            for record in self.session.labeled():
                groups.setdefault(record.post.id, []).append(record)
            found = [_seen_by(annotator, records) for records in groups.values()]
            oldest = datetime(1, 1, 1, tzinfo=timezone.utc)
            found.sort(key=lambda one: (one[0].time or oldest, one[0].score), reverse=True)
            self._listed = number, annotator, found
        return self._listed[2]


def _seen_by(annotator: str, records: list[LabeledPost]) -> tuple[LabeledPost, list[GivenLabel]]:
    """Return a post as an annotator sees it: with all labels and notes after their own label, before it with none."""
    if annotator not in {record.annotator for record in records}:
        post = records[0]
        return LabeledPost(post.post, post.article_id, post.score), []
    given = [
        GivenLabel(record.annotator or "", record.value, record.choice)
        for record in records
        if record.value is not None
    ]
    notes = [record.note for record in records if record.note]
    times = [record.time for record in records if record.time]
    return replace(records[0], time=max(times, default=None), note="\n".join(notes)), given


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)
