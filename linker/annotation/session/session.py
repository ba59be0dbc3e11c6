"""A labeling session: a folder in which several annotators and processes can work at once."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.annotation.codebook import Answers, Codebook
from linker.annotation.formats.label_format import LabeledPost
from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.session.assignment import Suggestion, assign
from linker.annotation.session.contents import Settings
from linker.annotation.session.events import Event, annotator_name, now
from linker.annotation.session.export import all_labels, resolved_labels
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.merge import Imported, events_of
from linker.annotation.session.review import Review, review_of
from linker.annotation.session.session_file import SessionFile
from linker.annotation.session.state import SessionState
from linker.annotation.session.status import Status, status_of
from linker.annotation.stopping_rules.estimate import Estimate, estimate
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule
from linker.common.errors import ConfigError, DataError, RefusedError
from linker.common.files import real_path
from linker.config import build, resolve
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

    def __init__(self, folder: Path) -> None:
        self._file = SessionFile(folder)
        contents = self._file.contents()
        self.folder, self.name = folder, real_path(folder).name
        self.settings = settings = contents.settings
        self.guidelines = settings.guidelines
        self.label_set = LabelSet(settings.labels)
        self.codebook: Codebook = build(Codebook, {"questions": settings.questions})
        # The same seed for all queues, so that the order of equal scores does not change between them.
        self.pool: Pool = replace(contents.pool, tie_seed=settings.seed)
        self.articles: list[Article] = self.pool.articles
        self.posts: list[Post] = contents.posts
        self._added, shared = contents.added, np.zeros(0, dtype=bool)
        for size in (*(posts for posts, _ in contents.added), len(self.pool)):
            drawn = np.random.default_rng([settings.seed, size]).random(size) < settings.overlap
            shared = np.append(shared, drawn[len(shared) :])
        self._state = SessionState(contents.indices, shared, settings.labels_per_post)
        try:
            self._rule: StoppingRule = build(StoppingRule, settings.rule)
            self._strategy: QueryStrategy = build(QueryStrategy, settings.strategy)
        except ConfigError as error:
            raise ConfigError(f"{self._file.path}: {error}") from error
        # Revision of the state, and what was computed from it: the posts in the order of the strategy; the figures.
        self._queue: tuple[int, np.ndarray] | None = None
        self._figures: tuple[int, Labels, Decision, Estimate] | None = None
        # The second is held while the queue is computed, and never acquired under the first.
        self._guard, self._ordering = threading.RLock(), threading.Lock()
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
        labels_per_post: int = 2,
        question: str = "",
        labels: Sequence[dict[str, str]] = (),
        questions: Sequence[dict[str, Any]] = (),
        blind: bool = False,
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
            labels_per_post: number of annotators who label a post of the overlap.
            question: what annotators answer about each post.
            labels: label set (see `label_set`), each label with `name` and `value`; empty: relevant, not, skip.
            questions: further questions, each with the attributes of `Question`.
            blind: hide scores, marks, and how posts are drawn from annotators.

        Raises:
            LinkerError: if the folder is not empty, articles or posts cannot be read, the model is not found, or
                a config is invalid.
        """
        from linker.annotation.session.create import start  # imports what only creation needs
        from linker.ranking.inputs import as_articles, as_posts

        settings = Settings(
            model,
            {},
            {},
            overlap,
            seed,
            guidelines,
            "",
            labels_per_post,
            question,
            [*labels],
            [*questions],
            blind,
        )
        start(Path(folder), as_articles(articles), as_posts(posts), settings, strategy, rule)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: str | Path) -> Session:
        """Open a session; other processes may have it open as well.

        Raises:
            DataError: if the folder has no session, or it is damaged.
        """
        return cls(Path(folder))

    def change(self, blind: bool, strategy: str) -> None:
        """Change, from now on, whether annotators see scores and marks, and which strategy orders the posts.

        Raises:
            LinkerError: if the strategy is unknown, or the session cannot be written.
        """
        settings = replace(self.settings, blind=blind, strategy=resolve(QueryStrategy, strategy))
        with self._guard:
            self._file.change(settings)
            self.settings, self._queue = settings, None
            self._strategy = build(QueryStrategy, settings.strategy)

    def extend(self, other: Session) -> Path:
        """Take posts and scores of a session with all posts of this one and further ones; what people did stays.

        Random samples begin again: posts drawn before were drawn from fewer posts. Either all of this is on the disk
        or, after an error or a kill, nothing. Then open the session again.

        Args:
            other: the session, created by `start` with this one as `former`.

        Returns:
            A new folder beside this one with the session as it was before.

        Raises:
            LinkerError: if posts of this session are missing in the other one, or it cannot be written.
        """
        if not self._state.indices.items() <= other._state.indices.items():
            raise DataError(
                f"{other.folder}: posts of {self.folder} are missing; add posts to those there are"
            )
        names = (self.folder.with_name(f"{self.folder.name}-before-{number}") for number in count(1))
        before = next(path for path in names if not path.exists())
        before.mkdir()
        try:
            with self._guard, self._file.writing():
                self._refresh()
                added = [*self._added, (len(self.pool), len(self._state.labels()))]
                self._file.copy_to(before)
                self._file.replace_contents(other._file, self.settings, added)
        except BaseException:
            shutil.rmtree(before, ignore_errors=True)
            raise
        return before

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the session. All labels are already on disk."""
        with self._guard:
            self._file.close()

    @property
    def number_of_events(self) -> int:
        """Number of events so far, by all processes."""
        with self._guard:
            self._refresh()
            return self._file.count

    def next(self, annotator: str, count: int = 1) -> list[Suggestion]:
        """Return the posts that an annotator labels next; the same ones until they are labeled.

        Nobody gets a post twice, and two annotators get different posts, except those that two are to label, and those
        of a random sample (see `assign`). Empty if no posts are left, or the rest is assigned to others.

        Raises:
            LinkerError: if the name is invalid, or the session cannot be read or written.
        """
        state = self._state
        with self._guard:
            self._refresh()
            annotator = state.spelling(annotator)
            is_short = len(state.pending(annotator)) < count
        # Outside the guard: labels must not wait for the import of scikit-learn, nor for its classifier.
        queue = self._current_queue() if is_short else None
        with self._guard:
            if queue is not None:
                with self._file.writing(durable=False):
                    self._refresh()
                    _, decision, _ = self._computed()
                    generator = None
                    if decision.draw_at_random or self._strategy.draws:
                        numbers = [self.settings.seed, state.revision, self._file.count]
                        generator = np.random.default_rng(numbers)
                    missing = max(0, count - len(state.pending(annotator)))
                    strategy = str(self.settings.strategy.get("type", "strategy"))
                    events = assign(
                        state, self.pool.posts, annotator, missing, queue, strategy, generator, now()
                    )
                    self._file.add(events)
                self._refresh()
            first = list(state.pending(annotator).items())[:count]
            return [self._suggestion(annotator, index, assignment) for index, assignment in first]

    def label(self, annotator: str, post_id: str, value: LabelValue, note: str | None = None) -> None:
        """Label a post and its near-duplicates, replacing an earlier label by the same annotator.

        When this returns, the label is on the disk.

        Raises:
            LinkerError: if the post or value is unknown, or the label cannot be written.
        """
        self.act(Event("label", annotator, str(post_id), value, note))

    def note(self, annotator: str, post_id: str, text: str) -> None:
        """Store a note on a post, replacing an earlier note by the same annotator.

        Raises:
            LinkerError: if the post is unknown, or the note cannot be written.
        """
        self.act(Event("note", annotator, str(post_id), note=text))

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
        self.act(Event("resolve", annotator, str(post_id), value))

    def act(self, action: Event) -> str | None:
        """Record an action, at the present time. An action with an `id` that was recorded before changes nothing.

        When this returns, the action is on the disk.

        Args:
            action: `label`, `answers`, `note`, `undo` or `resolve`; its time, and how the post was drawn, are
                determined here. Answers are all of the post, and a label without them keeps those before; `answers` is
                for posts that the annotator has labeled.

        Returns:
            The id of the post; None for an `undo` without a label to take back.

        Raises:
            RefusedError: if the annotator's name, the post, the label or an answer is invalid.
            LinkerError: if the session cannot be written.
        """
        annotator_name(action.annotator)
        if action.kind not in ("label", "answers", "note", "undo", "resolve"):
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
                annotator = self._state.spelling(action.annotator)
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
        if action.kind == "note":
            return event
        index = self._state.indices[action.post]
        before = (self._state.adjudicated if action.kind == "resolve" else person.labels).get(index)
        event = replace(event, answers=self._answers(action, before))
        if action.kind != "label":
            return event
        # An empty note with a label keeps an earlier one. A sampled post counts for the sample whoever labels it.
        event = replace(event, note=action.note or None, blind=self.settings.blind)
        origins = self._state.drawn, person.assigned, person.labels
        origin = next((origin[index] for origin in origins if index in origin), None)
        if origin is None:
            return event
        return replace(
            event,
            strategy=origin.strategy,
            at_random=origin.at_random,
            frame=origin.frame,
            probability=origin.probability,
        )

    def _answers(self, action: Event, before: Event | None) -> Answers | None:
        """Return the answers that an action records; None: those before, of which all are still asked."""
        if action.kind == "answers":
            if before is None or not self.codebook.questions:
                raise RefusedError(f"post {action.post[:100]!r} has no label of yours, or no question")
            return self.codebook.check(action.answers or {}, before.value)
        earlier = (before and before.answers) or {}
        given = self.codebook.kept(earlier, action.value) if action.answers is None else action.answers
        kept = self.codebook.check(given, action.value, complete=action.kind == "label")
        return None if kept == earlier and not (kept and action.answers) else kept

    def labeled(
        self, resolved: bool = False, machines: bool = False, ids: Container[str] | None = None
    ) -> list[LabeledPost]:
        """Return all posts with their labels, as an export writes them: in order, near-duplicates included.

        Args:
            resolved: return one record per post, with the adjudicated or majority label.
            machines: return the labels of machines and adjudicated ones as well, unless `resolved`.
            ids: only those of these posts.

        Raises:
            DataError: if the session cannot be read.
        """
        with self._guard:
            self._refresh()
            if resolved:
                return resolved_labels(self._state, self.pool, self.posts, self.label_set, self.codebook)
            posts = self.posts if ids is None else [post for post in self.posts if post.id in ids]
            return all_labels(self._state, self.pool, posts, machines)

    def import_labels(
        self,
        labels: Sequence[ImportedLabel],
        annotator: str | None = None,
        source: str = "import",
        machine: bool = False,
    ) -> Imported:
        """Import labels from a file; those that the session already has, also later ones, are skipped.

        Args:
            labels: from `linker.data.labels.reading`.
            annotator: annotator of labels without a name in the file.
            source: name of the file in messages.
            machine: whether programs gave these labels, whatever the file says (decision 112).

        Returns:
            The numbers of labels by what became of them.

        Raises:
            LinkerError: if one does not fit the session, or they cannot be written; then none is imported.
        """
        with self._guard:
            with self._file.writing():
                self._refresh()
                about = self.label_set, self.codebook, self.pool, self.posts
                events, imported = events_of(labels, self._state, annotator, source, *about, machine)
                self._file.add(events)
            self._refresh()
            return imported

    def review(self) -> Review:
        """Return the agreement of people and machines, and the posts to adjudicate."""
        with self._guard:
            self._refresh()
            return review_of(self._state, self.pool, self.codebook)

    def labels_of(self, annotator: str) -> list[LabelValue]:
        """Return the labels of one annotator, in the order in which they labeled the posts first."""
        with self._guard:
            self._refresh()
            labels = self._state.annotator(self._state.spelling(annotator)).labels.values()
            return [label.value for label in labels if label.value is not None]

    def reveal(self, annotator: str, posts: Iterable[str]) -> None:
        """Record that an annotator is shown the labels of others: later labels of theirs are not independent.

        Raises:
            LinkerError: if it cannot be written.
        """
        with self._guard:
            self._refresh()
            name = self._state.spelling(annotator)
            shown = self._state.annotator(name).independent
            indices = {self._state.indices[post]: post for post in posts}  # near-duplicates share one
            new = [post for index, post in indices.items() if index not in shown]
            if new:
                with self._file.writing():
                    self._file.add([Event("reveal", name, post) for post in new])
                self._refresh()

    def status(self, people: Sequence[str] = ()) -> Status:
        """Return the progress of the session.

        Args:
            people: names of those who are to label; none: anybody.

        Raises:
            DataError: if the session cannot be read.
        """
        with self._guard:
            self._refresh()
            status = status_of(self._state, self.pool, *self._computed())
            return replace(status, waiting_for=self._state.waiting_for(people)) if people else status

    def _refresh(self) -> None:
        """Read what was added since the last call, by any process."""
        for event in self._file.news():
            try:
                self._state.apply(event)
            except (KeyError, IndexError) as error:
                raise DataError(
                    f"{self._file.path}: the {event.kind} of post {event.post!r} by {event.annotator!r} does not fit "
                    "the events before it or the posts; put back a copy of the folder"
                ) from error

    def _current_queue(self) -> np.ndarray:
        """Return posts in the order of the strategy; computed again after one label in twenty, at first after each."""
        with self._ordering:
            with self._guard:
                revision, labels = self._state.revision, self._state.labels()
            if self._queue is None or revision - self._queue[0] > self._queue[0] // 20:
                generator = np.random.default_rng([self.settings.seed, revision])
                order = self._strategy.order(self.pool, labels, generator)
                self._queue = revision, np.asarray(order, dtype=np.int64)
            return self._queue[1]

    def _computed(self) -> tuple[Labels, Decision, Estimate]:
        """Return the labels, the decision of the rule, and the estimate of what is left."""
        revision = self._state.revision
        if self._figures is None or self._figures[0] != revision:
            earlier, size = self._added[-1][1] if self._added else 0, len(self.pool)
            labels = replace(self._state.labels(), earlier=earlier)
            self._figures = revision, labels, self._rule.decide(labels, size), estimate(labels, size)
        return self._figures[1:]

    def _suggestion(self, annotator: str, index: int, assignment: Event) -> Suggestion:
        explanation = None if self.settings.blind else self._file.explanation(index)
        return Suggestion(
            self.pool.posts[index],
            len(self.pool.copies[index]),
            None if self.settings.blind else self.pool.shown_scores[index],
            0 if self.settings.blind else assignment.position,
            not self.settings.blind and assignment.at_random,
            explanation.post_spans if explanation else [],
            explanation.article_words if explanation else [],
            self._state.notes.get((index, annotator), ""),
        )
