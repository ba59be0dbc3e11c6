"""A labeling session: a folder in which several annotators and processes can work at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linker.annotation.formats.records import LabeledPost
from linker.annotation.pool import Pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.session.assignment import Assigner
from linker.annotation.session.events import Event, RefusedError, annotator_name, now
from linker.annotation.session.export import all_labels, events_of, resolved_labels
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.queue import BackgroundRanker, Queue
from linker.annotation.session.review import Review, review_of
from linker.annotation.session.session_file import SessionFile, Settings
from linker.annotation.session.state import SessionState
from linker.annotation.session.status import Agreement, Status, agreement_of, status_of
from linker.annotation.session.suggestion import Suggestion, suggestion_of
from linker.annotation.stopping_rules.estimate import Estimate, estimate
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule, while_held
from linker.common.errors import ConfigError, DataError
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

    def __init__(self, folder: Path, background: bool) -> None:
        self._file = SessionFile(folder)
        contents = self._file.data()
        settings = contents.settings
        self.folder = folder
        self.name = real_path(folder).name
        self.settings = settings
        self.guidelines = settings.guidelines
        self.label_set = LabelSet(settings.labels)
        self.articles: list[Article] = contents.pool.articles
        self.pool: Pool = contents.pool
        self.posts: list[Post] = contents.posts
        self._state = SessionState(contents.indices, len(self.pool), settings.labels_per_post)
        try:
            self._rule: StoppingRule = build(StoppingRule, settings.rule)
            strategy: QueryStrategy = build(QueryStrategy, settings.strategy)
        except ConfigError as error:
            raise ConfigError(f"{self._file.path}: {error}") from error
        latest = self._file.queue(len(self.pool))
        self._ranker = BackgroundRanker(
            self.pool, strategy, settings.seed, latest and Queue(*latest), self._store_queue
        )
        self._background = background
        name = str(settings.strategy.get("type", "strategy"))
        self._assigner = Assigner(self._state, self.pool.posts, name, settings.overlap, settings.seed)
        self._decided: tuple[tuple[int, int], Decision] | None = None
        self._estimated: tuple[tuple[int, int], Estimate] | None = None
        self._guard = threading.RLock()
        self._refresh()

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
        return cls(Path(folder), background)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self, seconds: float | None = None) -> None:
        """Close the session. All labels are already on disk.

        Args:
            seconds: maximum time to wait for a queue that is being computed; None: no maximum.
        """
        self._ranker.close(seconds)
        with self._guard:
            self._file.close()

    def end_ranking(self) -> None:
        """End the background work; requests in progress can still be recorded."""
        self._ranker.close()

    @property
    def number_of_events(self) -> int:
        """Number of events so far, by all processes."""
        with self._guard:
            self._refresh()
            return self._file.count

    def settle(self) -> None:
        """Wait until the queue considers all labels."""
        with self._guard:
            self._refresh()
            if not self._background:
                self._ranker.compute(self._state.labels(), self._state.revision)
        self._ranker.wait()

    def next(self, annotator: str, count: int = 1) -> list[Suggestion]:
        """Return the posts that an annotator labels next; the same ones until they are labeled.

        Nobody gets a post twice, and two annotators get different posts, except those that two are to label. Empty if
        no posts are left, or the rest is assigned to others.

        Raises:
            LinkerError: if the name is invalid, or the session cannot be read or written.
        """
        annotator = annotator_name(annotator)
        with self._guard:
            self._refresh()
            if len(self._assigner.pending(annotator)) < count:
                queue = self._current_queue()
                with self._file.writing(durable=False):
                    self._refresh()
                    missing = count - len(self._assigner.pending(annotator))
                    at_random = self._decision().draw_at_random
                    self._file.add(
                        self._assigner.assign(annotator, missing, queue, at_random, now(), self._file.count)
                    )
                self._refresh()
            first = list(self._assigner.pending(annotator).items())[:count]
            return [self._suggestion(annotator, index, assignment) for index, assignment in first]

    def label(self, annotator: str, post_id: str, value: LabelValue, note: str | None = None) -> None:
        """Label a post and its near-duplicates, replacing an earlier label by the same annotator.

        When this returns, the label is on the disk.

        Raises:
            LinkerError: if the post or value is unknown, or the label cannot be written.
        """
        self.act(Event("label", annotator, post_id, value, note))

    def note(self, annotator: str, post_id: str, text: str) -> None:
        """Store a note on a post, replacing an earlier note by the same annotator.

        Raises:
            LinkerError: if the post is unknown, or the note cannot be written.
        """
        self.act(Event("note", annotator, post_id, note=text))

    def undo(self, annotator: str) -> str | None:
        """Take back the annotator's last label; call again for earlier labels. The post is suggested next.

        Returns:
            The post's id; None if there is nothing to take back.

        Raises:
            LinkerError: if it cannot be written.
        """
        return self.act(Event("undo", annotator))

    def resolve(self, annotator: str, post_id: str, value: LabelValue) -> None:
        """Set the adjudicated label of a post on which annotators disagree; `skip` withdraws it.

        Raises:
            LinkerError: if the post or value is unknown, or the label cannot be written.
        """
        self.act(Event("resolve", annotator, post_id, value))

    def act(self, action: Event) -> str | None:
        """Record an action, at the present time. An action with an `id` that was recorded before changes nothing.

        When this returns, the action is on the disk.

        Args:
            action: `label`, `note`, `undo` or `resolve`; its time, and how the post was drawn, are determined here.

        Returns:
            The id of the post; None for an `undo` without a label to take back.

        Raises:
            RefusedError: if the annotator's name, the post or the label is invalid.
            LinkerError: if the session cannot be written.
        """
        annotator = annotator_name(action.annotator)
        if action.kind not in ("label", "note", "undo", "resolve"):
            raise RefusedError(f"unknown action {action.kind!r}")
        if action.kind != "undo" and action.post not in self._state.indices:
            raise RefusedError(f"{self.name}: post {action.post[:100]!r} is not in this session")
        if action.kind in ("label", "resolve"):
            self.label_set.check(action.value, action.choice)
        with self._guard:
            with self._file.writing():
                self._refresh()
                if action.id is not None and (done := self._file.post_of_action(action.id)) is not None:
                    return done or None
                if annotator in self._state.machines:
                    raise RefusedError(
                        f"{annotator!r} is the name of a machine in this session; use another name"
                    )
                event = self._completed(action, annotator)
                # An undo without a label is recorded too: sent again after a label, it must not take that one back.
                if event.post or event.id is not None:
                    self._file.add([event])
            self._refresh()
            return event.post or None

    def _completed(self, action: Event, annotator: str) -> Event:
        """Return the event that records an action."""
        event = Event(
            action.kind, annotator, action.post, action.value, action.note, action.id, action.choice, now()
        )
        person = self._state.annotator(annotator)
        if action.kind == "undo":
            last = self.pool.posts[person.undo_stack[-1][0]].id if person.undo_stack else ""
            return replace(event, post=last)
        if action.kind == "label":
            event = replace(
                event, note=action.note or None
            )  # an empty note with a label keeps an earlier one
            index = self._state.indices[action.post]
            if drawn := person.assigned.get(index) or person.labels.get(index):
                return replace(
                    event,
                    strategy=drawn.strategy,
                    at_random=drawn.at_random,
                    frame=drawn.frame,
                    probability=drawn.probability,
                )
        return event

    def labeled(self, resolved: bool = False, machines: bool = False) -> list[LabeledPost]:
        """Return all posts with their labels, as an export writes them: in order, near-duplicates included.

        Args:
            resolved: return one record per post, with the adjudicated or majority label.
            machines: return the labels of machines and adjudicated ones as well, unless `resolved`.

        Raises:
            DataError: if the session cannot be read.
        """
        with self._guard:
            self._refresh()
            if resolved:
                return resolved_labels(self._state, self.pool, self.posts, self.label_set)
            return all_labels(self._state, self.pool, self.posts, machines)

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
        with self._guard:
            with self._file.writing():
                self._refresh()
                events = events_of(
                    labels, self._state, annotator, source, self.label_set, self.pool, self.posts, machine
                )
                self._file.add(events)
            self._refresh()
            return len(events)

    def agreement(self) -> Agreement:
        """Return the inter-annotator agreement on posts with several labels.

        Raises:
            DataError: if the session cannot be read.
        """
        with self._guard:
            self._refresh()
            return agreement_of(self._state, self.pool, self.label_set)

    def review(self) -> Review:
        """Return the agreement of people and machines, and the posts to adjudicate."""
        with self._guard:
            self._refresh()
            return review_of(self._state, self.pool, self.label_set, self._assigner.needs_labels)

    def labels_of(self, annotator: str) -> list[LabelValue]:
        """Return the labels of one annotator, in the order in which they labeled the posts first."""
        with self._guard:
            self._refresh()
            labels = self._state.annotator(annotator).labels.values()
            return [label.value for label in labels if label.value is not None]

    def status(self) -> Status:
        """Return the progress of the session.

        Raises:
            DataError: if the session cannot be read.
        """
        with self._guard:
            self._refresh()
            decision, estimate = self._decision(), self._estimate()
            waiting = sum(map(self._assigner.needs_labels, self._state.short_of_labels))
            return status_of(self._state, self.pool, estimate, decision, self._ranker.problem, waiting)

    def _refresh(self) -> None:
        """Read what was added since the last call, by any process."""
        events = self._file.news()
        for event in events:
            try:
                self._state.apply(event)
            except (KeyError, IndexError) as error:
                raise DataError(
                    f"{self._file.path}: the {event.kind} of post {event.post!r} by {event.annotator!r} does not fit "
                    "the events before it or the posts; put back a copy of the folder"
                ) from error
        if self._background and events:
            self._ranker.request(self._state.labels(), self._state.revision)

    def _current_queue(self) -> Queue:
        """Return the queue; without a thread, it is updated first, less often the more labels there are."""
        queue, revision = self._ranker.latest, self._state.revision
        if queue is None or (not self._background and revision - queue.revision > queue.revision // 20):
            return self._ranker.compute(self._state.labels(), revision)
        return queue

    def _store_queue(self, queue: Queue) -> None:
        with self._guard:
            self._file.store_queue(queue.revision, queue.posts)

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

    def _suggestion(self, annotator: str, index: int, assignment: Event) -> Suggestion:
        note = self._state.notes.get((index, annotator), "")
        return suggestion_of(self.pool, index, assignment, self._file.explanation(index), note)
