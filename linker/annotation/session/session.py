"""A labeling session: a folder in which several annotators and processes can work at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linker.annotation.formats.records import LabeledPost
from linker.annotation.pool import Pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.session.assignment import Assigner
from linker.annotation.session.export import all_labels, events_of, resolved_labels
from linker.annotation.session.journal import Action, Event, Journal, annotator_name, now
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.queue import BackgroundRanker
from linker.annotation.session.review import Review, review_of
from linker.annotation.session.state import Assignment, SessionState
from linker.annotation.session.status import Agreement, Status, agreement_of, status_of
from linker.annotation.session.storage import (
    JOURNAL,
    ORDER,
    SETTINGS,
    Explanations,
    SessionData,
    Settings,
    read_session,
)
from linker.annotation.session.suggestion import Suggestion, suggestion_of
from linker.annotation.stopping_rules.estimate import Estimate, estimate
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule, while_held
from linker.common.errors import ConfigError, DataError, LinkerError
from linker.common.files import real_path
from linker.config import build
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import LabelValue
from linker.data.types import Article, Post
from linker.models.pretrained import BEST

if TYPE_CHECKING:
    from linker.ranking.inputs import AnyArticles, AnyPosts

STRATEGY = "active_learning"
RULE = "recall"


class Session:
    """A labeling session, from `Session.create` or `Session.open`. Thread-safe."""

    def __init__(self, folder: Path, contents: SessionData, background: bool) -> None:
        settings = contents.settings
        self.folder = folder
        self.name = real_path(folder).name
        self.settings = settings
        self.guidelines = settings.guidelines
        self.label_set = LabelSet(settings.labels)
        self.articles: list[Article] = contents.pool.articles
        self.pool: Pool = contents.pool
        self.posts: list[Post] = contents.posts
        self._places = contents.places
        self._state = SessionState(contents.places, len(contents.pool), settings.labels_per_post)
        self._journal = Journal(folder / JOURNAL)
        try:
            self._rule: StoppingRule = build(StoppingRule, settings.rule)
            strategy: QueryStrategy = build(QueryStrategy, settings.strategy)
        except ConfigError as error:
            raise ConfigError(f"{folder / SETTINGS}: {error}") from error
        self._ranker = BackgroundRanker(folder / ORDER, contents.pool, strategy, settings.seed)
        self._background = background
        self._explanations: Explanations | None = None
        self._assigner = Assigner(self._state, len(contents.pool), settings.overlap, settings.seed)
        self._decided: tuple[tuple[int, int], Decision] | None = None
        self._estimated: tuple[tuple[int, int], Estimate] | None = None
        self._guard = threading.RLock()
        with self._guard:
            self._take(self._journal.news())
            if self._ranker.latest is None:
                self._ranker.compute(self._state.labels(), self._state.revision)

    @classmethod
    def create(
        cls,
        folder: str | Path,
        articles: AnyArticles,
        posts: AnyPosts,
        model: str = BEST,
        strategy: dict[str, Any] | str = STRATEGY,
        rule: dict[str, Any] | str = RULE,
        guidelines: str = "",
        seed: int = 13,
        overlap: float = 0.0,
        background: bool = True,
        labels_per_post: int = 2,
        question: str = "",
        labels: Sequence[dict[str, str]] = (),
    ) -> Session:
        """Create a session in a new folder.

        Args:
            folder: created; it may exist if it is empty.
            articles: the seed articles, together one query: whatever `Ranker.rank` takes.
            posts: the posts to label: whatever `Ranker.rank` takes, data frames of pandas and polars among them.
            model: scores and encodes the posts, as for `linker.load`; not needed later.
            strategy: config of a `QueryStrategy`, or its name.
            rule: config of a `StoppingRule`, or its name.
            guidelines: instructions for the annotators, Markdown.
            seed: random seed.
            overlap: share of posts, 0 to 1, that several annotators label, to measure their agreement.
            background: as for `open`.
            labels_per_post: number of annotators who label a post of the overlap.
            question: what annotators answer about each post.
            labels: label set (see `label_set`), each label with `name` and `value`; empty: relevant, not, skip.

        Raises:
            LinkerError: if the folder is not empty, articles or posts cannot be read, the model is not found, or
                a config is invalid.
        """
        from linker.annotation.session.create import start  # imports what only creation needs
        from linker.ranking.inputs import as_articles, as_posts

        settings = Settings(
            model, {}, {}, overlap, seed, guidelines, "", labels_per_post, question, list(labels)
        )
        start(Path(folder), as_articles(articles), as_posts(posts), settings, strategy, rule)
        return cls.open(folder, background)

    @classmethod
    def open(cls, folder: str | Path, background: bool = True) -> Session:
        """Open a session; other processes may have it open as well.

        Args:
            folder: the session's folder.
            background: update the queue in a thread while labels arrive, for a long-running process; otherwise `next`
                updates it when enough labels are new.

        Raises:
            DataError: if the folder has no session, or it is damaged.
        """
        folder = Path(folder)
        return cls(folder, read_session(folder), background)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self, seconds: float | None = None) -> None:
        """End the background work. All labels are already on disk.

        Args:
            seconds: maximum time to wait for a queue that is being computed; None: no maximum.
        """
        self._ranker.close(seconds)

    @property
    def order_revision(self) -> int:
        """Number of labels, changes and undos that the current queue considers."""
        return self._ranker.latest.revision if self._ranker.latest else -1

    def settle(self) -> None:
        """Wait until the queue considers all labels."""
        with self._guard:
            self._take(self._journal.news())
            if not self._background:
                self._ranker.compute(self._state.labels(), self._state.revision)
        self._ranker.wait()

    def next(self, annotator: str, count: int = 1) -> list[Suggestion]:
        """Return the posts that an annotator labels next; the same ones until they are labeled.

        Nobody gets a post twice, and two annotators get different posts, except those that two are to label. Empty if
        no posts are left, or the rest is assigned to others.

        Raises:
            LinkerError: if the name is invalid, or the journal cannot be read or written.
        """
        annotator = annotator_name(annotator)
        with self._guard:
            self._take(self._journal.news())
            waiting = self._assigner.pending(annotator)
            if len(waiting) < count:
                if not self._background:
                    self._renew()
                with self._journal.locked() as news:
                    self._take(news)
                    self._assign(annotator, count - len(self._assigner.pending(annotator)))
                waiting = self._assigner.pending(annotator)
            first = list(waiting.items())[:count]
            return [self._suggestion(annotator, place, assignment) for place, assignment in first]

    def label(self, annotator: str, post_id: str, value: LabelValue, note: str | None = None) -> None:
        """Label a post and its near-duplicates, replacing an earlier label by the same annotator.

        When this returns, the label is on the disk.

        Raises:
            LinkerError: if the post or value is unknown, or the label cannot be written.
        """
        self.act(Action("label", annotator, post_id, value, note))

    def note(self, annotator: str, post_id: str, text: str) -> None:
        """Store a note on a post, replacing an earlier note by the same annotator.

        Raises:
            LinkerError: if the post is unknown, or the note cannot be written.
        """
        self.act(Action("note", annotator, post_id, note=text))

    def undo(self, annotator: str) -> str | None:
        """Take back the annotator's last label; call again for earlier labels. The post is suggested next.

        Returns:
            The post's id; None if there is nothing to take back.

        Raises:
            LinkerError: if it cannot be written.
        """
        return self.act(Action("undo", annotator))

    def resolve(self, annotator: str, post_id: str, value: LabelValue) -> None:
        """Set the adjudicated label of a post on which annotators disagree; `skip` withdraws it.

        Raises:
            LinkerError: if the post or value is unknown, or the label cannot be written.
        """
        self.act(Action("resolve", annotator, post_id, value))

    def act(self, action: Action) -> str | None:
        """Record an action. An action with an `id` that was recorded before changes nothing.

        When this returns, the action is on the disk.

        Returns:
            The id of the post; None for an `undo` without a label to take back.

        Raises:
            LinkerError: if the annotator's name, the post or the value is invalid, or the journal cannot be written.
        """
        annotator, post_id = annotator_name(action.annotator), action.post
        place = None if action.kind == "undo" else self._place(post_id)
        if action.kind in ("label", "resolve"):
            self.label_set.check(action.value, action.choice)
        with self._guard, self._journal.locked() as news:
            self._take(news)
            state = self._state
            if action.id is not None and action.id in state.requests:
                return state.requests[action.id]
            if annotator in state.machines:
                raise LinkerError(f"{annotator!r} is the name of a machine in this session; use another name")
            who = state.annotator(annotator)
            if place is None:
                if not who.undo_stack:
                    if action.id is not None:  # sent again after a label, it must not take that label back
                        state.requests[action.id] = None
                    return None
                post_id = self.pool.posts[who.undo_stack[-1][0]].id
                came = None
            else:
                came = who.assigned.get(place) or who.given.get(place)
            values = {**asdict(action), "annotator": annotator, "post": post_id, "time": now()}
            if action.kind == "label":
                values["note"] = action.note or None  # an empty note with a label keeps an earlier one
                values["at_random"] = came is not None and came.at_random
            self._add([Event(**values)])
            return post_id

    def labeled(self, resolved: bool = False, machines: bool = False) -> list[LabeledPost]:
        """Return all posts with their labels, as an export writes them: in order, near-duplicates included.

        Args:
            resolved: return one record per post, with the adjudicated or majority label.
            machines: return the labels of machines and adjudicated ones as well, unless `resolved`.

        Raises:
            DataError: if the journal cannot be read.
        """
        with self._guard:
            self._take(self._journal.news())
            strategy = str(self.settings.strategy.get("type", "strategy"))
            if resolved:
                return resolved_labels(self._state, self.pool, self.posts, self.label_set, strategy)
            return all_labels(self._state, self.pool, self.posts, strategy, machines)

    def import_labels(
        self,
        labels: Sequence[ImportedLabel],
        annotator: str | None = None,
        source: str = "import",
        machine: bool = False,
    ) -> int:
        """Import labels from a file; those that the session already has are skipped.

        Args:
            labels: from `linker.data.labels.reading`.
            annotator: annotator of labels without a name in the file.
            source: name of the file in messages.
            machine: whether programs gave these labels, whatever the file says (decision 112).

        Returns:
            The number of new labels.

        Raises:
            LinkerError: if one does not fit the session, or they cannot be written; then none is imported.
        """
        with self._guard, self._journal.locked() as news:
            self._take(news)
            events = events_of(
                labels, self._state, annotator, source, self.label_set, self.pool, self.posts, machine
            )
            if events:
                self._add(events)
            return len(events)

    def agreement(self) -> Agreement:
        """Return the inter-annotator agreement on posts with several labels.

        Raises:
            DataError: if the journal cannot be read.
        """
        with self._guard:
            self._take(self._journal.news())
            return agreement_of(self._state, self.pool, self.label_set)

    def review(self) -> Review:
        """Return the agreement of people and machines, and the posts to adjudicate."""
        with self._guard:
            self._take(self._journal.news())
            return review_of(self._state, self.pool, self.label_set, self._assigner.needs_labels)

    def labels_of(self, annotator: str) -> list[LabelValue]:
        """Return the labels of one annotator, in the order in which they labeled the posts first."""
        with self._guard:
            self._take(self._journal.news())
            return [label.value for label in self._state.annotator(annotator).given.values()]

    def status(self) -> Status:
        """Return the progress of the session.

        Raises:
            DataError: if the journal cannot be read.
        """
        with self._guard:
            self._take(self._journal.news())
            decision, estimate = self._decision(), self._estimate()
            waiting = sum(map(self._assigner.needs_labels, self._state.short_of_labels))
            return status_of(self._state, self.pool, estimate, decision, self._ranker.problem, waiting)

    def _take(self, events: Sequence[Event]) -> None:
        for number, event in enumerate(events, start=self._journal.lines - len(events) + 1):
            try:
                self._state.apply(event)
            except (KeyError, IndexError) as error:
                raise DataError(
                    f"{self._journal.path}, line {number}: does not fit the lines before it or the posts; "
                    "put back a copy of the folder"
                ) from error
        if self._background and events:
            self._ranker.request(self._state.labels(), self._state.revision)

    def _add(self, events: Sequence[Event]) -> None:
        self._journal.add(events)
        self._take(events)

    def _assign(self, annotator: str, count: int) -> None:
        order = self._ranker.latest
        assert order is not None
        time, line = now(), self._journal.lines
        assigned = self._assigner.assign(annotator, count, order, self._decision().draw_at_random, time, line)
        events = [
            Event("hand", annotator, post.id, time=time, at_random=one.at_random, position=one.position)
            for post, one in ((self.pool.posts[place], one) for place, one in assigned.items())
        ]
        if events:
            self._journal.add(events, durable=False)
            self._take(events)

    def _renew(self) -> None:
        """Update the queue in the foreground, less often the more labels there are."""
        known = self.order_revision
        if self._state.revision - known > known // 20:
            self._ranker.compute(self._state.labels(), self._state.revision)

    def _decision(self) -> Decision:
        labels = self._state.labels()
        key = self._state.revision, labels.unreached
        if self._decided is None or self._decided[0] != key:
            self._decided = key, self._rule.decide(labels, len(self.pool))
        decision = self._decided[1]
        held = self._state.held(now()) if labels.unreached else 0
        return while_held(decision, held) if held else decision

    def _estimate(self) -> Estimate:
        labels = self._state.labels()
        key = self._state.revision, labels.unreached
        if self._estimated is None or self._estimated[0] != key:
            self._estimated = key, estimate(labels, len(self.pool))
        return self._estimated[1]

    def _suggestion(self, annotator: str, place: int, assignment: Assignment) -> Suggestion:
        if self._explanations is None:
            self._explanations = Explanations(self.folder, len(self.pool))
        note = self._state.notes.get((place, annotator), "")
        return suggestion_of(self.pool, place, assignment, self._explanations.of(place), note)

    def _place(self, post_id: str) -> int:
        if post_id not in self._places:
            raise LinkerError(f"{self.folder}: post {post_id!r} is not in this session")
        return self._places[post_id]
