"""A session of labelling: a folder that several people and processes may work in at once."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from linker.annotation.estimate import Estimate, estimate
from linker.annotation.events import VALUES, Event, now
from linker.annotation.folder import (
    JOURNAL,
    ORDER,
    Contents,
    Settings,
    check_new,
    explanation_of,
    read_contents,
    read_explanations,
    write_contents,
)
from linker.annotation.history import Handed, History
from linker.annotation.journal import Journal
from linker.annotation.ordering import OrderingStrategy
from linker.annotation.orders import Orders
from linker.annotation.pool import Pool
from linker.annotation.provisional import build_pool, built, resolved
from linker.annotation.records import Value
from linker.annotation.stopping import Decision, StoppingRule
from linker.data.types import Article, Post
from linker.errors import DataError, LinkerError
from linker.ranking.explanation import Span, WordWeights, explain
from linker.ranking.linker import find_model

_NAME = re.compile(r"[^\x00-\x1f\x7f\s](?:[^\x00-\x1f\x7f]{0,98}[^\x00-\x1f\x7f\s])?")


@dataclass(frozen=True)
class Suggestion:
    """A post to label.

    Attributes:
        post: one post of a group of near-duplicates.
        copies: how many more are labelled with it.
        score: the model's relevance.
        position: where it stood in the order, from 1; 0 where it did not come from there.
        at_random: was it drawn with equal chances, as a stopping rule wanted it?
        marks: where the words stand in the post that carried the score; empty where the model cannot tell.
        article_words: the words of the articles that weighed most, with their weights.
        note: what this annotator noted of it before.
    """

    post: Post
    copies: int
    score: float
    position: int
    at_random: bool
    marks: list[Span]
    article_words: WordWeights
    note: str = ""


@dataclass(frozen=True)
class Status:
    """How far a session is.

    Attributes:
        posts: distinct posts; near-duplicates count once, here and below.
        labelled: posts that somebody called relevant or not.
        relevant: of these, those that are.
        skipped: posts that were skipped and have no label.
        copies_labelled: near-duplicates that took over a label.
        estimate: how many relevant posts are left.
        decision: what the stopping rule says.
        curve: relevant posts found after each label.
        annotators: how many posts each has labelled.
        per_hour: labels of one annotator in an hour of work; None before there are two.
        disputed: posts on which annotators disagree evenly, and nobody has resolved it; they count as relevant.
        problem: why the order is older than it should be; None where it is not.
    """

    posts: int
    labelled: int
    relevant: int
    skipped: int
    copies_labelled: int
    estimate: Estimate
    decision: Decision
    curve: list[int]
    annotators: dict[str, int]
    per_hour: float | None
    disputed: int
    problem: str | None = None


class Session:
    """Made by `Session.create` or `Session.open`. Threads may share one."""

    def __init__(self, folder: Path, contents: Contents, background: bool) -> None:
        settings = contents.settings
        self.folder = folder
        self.name = folder.resolve().name
        self.settings = settings
        self.guidelines = settings.guidelines
        self.articles: list[Article] = contents.pool.articles
        self.pool: Pool = contents.pool
        self.posts: list[Post] = contents.posts
        self._places = contents.places
        self._history = History(contents.places, len(contents.pool))
        self._journal = Journal(folder / JOURNAL)
        self._rule: StoppingRule = built(StoppingRule, settings.rule)
        strategy: OrderingStrategy = built(OrderingStrategy, settings.strategy)
        self._orders = Orders(folder / ORDER, contents.pool, strategy, settings.seed)
        self._background = background
        self._explanations: list[bytes] | None = None
        chances = np.random.default_rng([settings.seed, len(contents.pool)]).random(len(contents.pool))
        self._twice = chances < settings.overlap
        self._decided: tuple[int, Decision] | None = None
        self._estimated: tuple[int, Estimate] | None = None
        self._guard = threading.RLock()
        with self._guard:
            self._take(self._journal.news())
            if self._orders.newest is None:
                self._orders.compute(self._history.labels(), self._history.revision)

    @classmethod
    def create(
        cls,
        folder: str | Path,
        articles: Sequence[Article],
        posts: Sequence[Post],
        model: str = "bm25",
        strategy: dict[str, Any] | str | None = None,
        rule: dict[str, Any] | str | None = None,
        guidelines: str = "",
        seed: int = 13,
        overlap: float = 0.0,
        background: bool = True,
    ) -> Session:
        """Begin a session in a new folder.

        Args:
            folder: made; it may exist if it is empty.
            articles: the seed articles; they make one query.
            posts: what to label.
            model: what gives the scores, as `linker.load` takes it. It is needed now only.
            strategy: config of an `OrderingStrategy`, or its name.
            rule: config of a `StoppingRule`, or its name.
            guidelines: what the annotators are told, Markdown.
            seed: of all that is drawn.
            overlap: the share of posts that two annotators label, for their agreement.
            background: as for `open`.

        Raises:
            LinkerError: the folder is not empty, the model is not there, a config is wrong, or nothing can be written.
        """
        folder = Path(folder)
        if not 0 <= overlap <= 1:
            raise LinkerError(f"overlap {overlap}: is a share of the posts, from 0 to 1")
        if not articles or not posts:
            raise DataError(f"no {'post' if articles else 'article'} was given")
        settings = Settings(
            model,
            resolved(OrderingStrategy, strategy if strategy is not None else {}),
            resolved(StoppingRule, rule if rule is not None else {}),
            overlap,
            seed,
            guidelines,
            now().isoformat(timespec="seconds"),
        )
        check_new(folder)
        scorer = find_model(model).load().model
        pool = build_pool(articles, posts, scorer)
        explanations = explain(scorer, pool.articles, pool.posts, range(len(pool)))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ORDER).unlink(missing_ok=True)
            (folder / JOURNAL).touch()
        except OSError as error:
            raise LinkerError(f"{folder}: cannot be written ({error.strerror})") from error
        journal = Journal(folder / JOURNAL)
        with journal.locked():
            check_new(folder)  # somebody else may have been faster
            write_contents(folder, settings, pool, posts, explanations)
        return cls.open(folder, background)

    @classmethod
    def open(cls, folder: str | Path, background: bool = True) -> Session:
        """Open a session; others may have it open, too.

        Args:
            folder: the session.
            background: renew the order in a thread while labels come in, for a process that stays; otherwise `next`
                renews it on the spot when enough labels are new.

        Raises:
            DataError: there is no session, or it is damaged.
        """
        folder = Path(folder)
        return cls(folder, read_contents(folder), background)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the background work. All labels are on the disk already."""
        self._orders.close()

    def settle(self) -> None:
        """Wait until the order knows all labels."""
        with self._guard:
            self._catch_up()
            if not self._background:
                self._orders.compute(self._history.labels(), self._history.revision)
        self._orders.settle()

    def next(self, annotator: str, count: int = 1) -> list[Suggestion]:
        """The posts that an annotator labels next; the same ones until they are labelled.

        Nobody gets a post twice. Two annotators get different posts, but for those that two are to label. Empty:
        nothing is left, or the rest lies before others.

        Raises:
            LinkerError: a wrong name, or the journal cannot be read or written.
        """
        annotator = _name(annotator)
        with self._guard:
            self._catch_up()
            waiting = self._waiting(annotator)
            if len(waiting) < count:
                if not self._background:
                    self._renew()
                with self._journal.locked() as news:
                    self._take(news)
                    waiting = self._waiting(annotator)
                    time = now()
                    handed = self._more(annotator, count - len(waiting), time)
                    events = [
                        Event(
                            "hand",
                            annotator,
                            self.pool.posts[place].id,
                            time,
                            at_random=one.at_random,
                            position=one.position,
                        )
                        for place, one in handed.items()
                    ]
                    if events:
                        self._journal.add(events, durable=False)
                        self._take(events)
                waiting = self._waiting(annotator)
            return [
                self._suggestion(annotator, place, handed) for place, handed in list(waiting.items())[:count]
            ]

    def label(self, annotator: str, post_id: str, value: Value, note: str | None = None) -> None:
        """Label a post and its near-duplicates; a later label of the same annotator takes the place of an earlier one.

        When this returns, the label is on the disk.

        Raises:
            LinkerError: there is no such post or value, or the label cannot be written.
        """
        annotator = _name(annotator)
        place = self._place(post_id)
        _check_value(value)
        with self._guard, self._journal.locked() as news:
            self._take(news)
            who = self._history.annotator(annotator)
            came = who.handed.get(place) or who.given.get(place)
            event = Event(
                "label",
                annotator,
                post_id,
                now(),
                value,
                note or None,
                at_random=came is not None and came.at_random,
            )
            self._add([event])

    def note(self, annotator: str, post_id: str, text: str) -> None:
        """Keep a note on a post; it takes the place of an earlier one of the same annotator.

        Raises:
            LinkerError: there is no such post, or the note cannot be written.
        """
        annotator = _name(annotator)
        self._place(post_id)
        with self._guard, self._journal.locked() as news:
            self._take(news)
            self._add([Event("note", annotator, post_id, now(), note=text)])

    def undo(self, annotator: str) -> str | None:
        """Take back the annotator's last label; repeat for those before. The post comes back as the next one.

        Returns:
            the post's id; None where there is nothing to take back.

        Raises:
            LinkerError: it cannot be written.
        """
        annotator = _name(annotator)
        with self._guard, self._journal.locked() as news:
            self._take(news)
            steps = self._history.annotator(annotator).steps
            if not steps:
                return None
            post_id = self.pool.posts[steps[-1][0]].id
            self._add([Event("undo", annotator, post_id, now())])
            return post_id

    def resolve(self, annotator: str, post_id: str, value: Value) -> None:
        """Decide what holds for a post that annotators disagree on; `skip` takes an earlier decision back.

        Raises:
            LinkerError: there is no such post or value, or it cannot be written.
        """
        annotator = _name(annotator)
        self._place(post_id)
        _check_value(value)
        with self._guard, self._journal.locked() as news:
            self._take(news)
            self._add([Event("resolve", annotator, post_id, now(), value)])

    def status(self) -> Status:
        """How far the session is.

        Raises:
            DataError: the journal cannot be read.
        """
        with self._guard:
            self._catch_up()
            history = self._history
            labels = history.labels()
            annotators = history.annotators
            skipped = {
                place
                for one in annotators.values()
                for place, given in one.given.items()
                if given.value == "skip" and not history.taken[place]
            }
            work = sum(one.work.total_seconds() for one in annotators.values())
            worked = sum(one.worked for one in annotators.values())
            return Status(
                posts=len(self.pool),
                labelled=len(labels),
                relevant=labels.found,
                skipped=len(skipped),
                copies_labelled=sum(len(self.pool.copies[place]) for place in labels.posts),
                estimate=self._estimate(),
                decision=self._decision(),
                curve=np.cumsum(labels.relevant).tolist(),
                annotators={name: len(one.given) for name, one in annotators.items() if one.given},
                per_hour=round(3600 * worked / work, 1) if work else None,
                disputed=len(history.disputed()),
                problem=self._orders.problem,
            )

    def _catch_up(self) -> None:
        self._take(self._journal.news())

    def _take(self, events: Sequence[Event]) -> None:
        for number, event in enumerate(events, start=self._journal.lines - len(events) + 1):
            try:
                self._history.apply(event)
            except (KeyError, IndexError) as error:
                raise DataError(
                    f"{self._journal.path}, line {number}: does not go with the lines before it or with the posts; "
                    "put back a copy of the folder"
                ) from error
        if self._background and events:
            self._orders.want(self._history.labels(), self._history.revision)

    def _add(self, events: Sequence[Event]) -> None:
        self._journal.add(events)
        self._take(events)

    def _renew(self) -> None:
        """For a process that does not stay: an order on the spot, more seldom the more labels there are."""
        known = self._orders.newest.revision if self._orders.newest else -1
        if self._history.revision - known > known // 20:
            self._orders.compute(self._history.labels(), self._history.revision)

    def _decision(self) -> Decision:
        revision = self._history.revision
        if self._decided is None or self._decided[0] != revision:
            self._decided = revision, self._rule.decide(self._history.labels(), len(self.pool))
        return self._decided[1]

    def _estimate(self) -> Estimate:
        revision = self._history.revision
        if self._estimated is None or self._estimated[0] != revision:
            self._estimated = revision, estimate(self._history.labels(), len(self.pool))
        return self._estimated[1]

    def _waiting(self, annotator: str) -> Mapping[int, Handed]:
        """What lies before an annotator and still needs a label of theirs."""
        handed = self._history.annotator(annotator).handed
        return {place: one for place, one in handed.items() if self._wanted(place)}

    def _wanted(self, place: int) -> bool:
        return not self._history.taken[place] or (self._twice[place] and place in self._history.single)

    def _more(self, annotator: str, count: int, time: datetime) -> dict[int, Handed]:
        """Posts for an annotator beyond those that lie before them."""
        history = self._history
        seen = history.annotator(annotator).seen
        held = history.held(time, annotator)
        chosen: dict[int, Handed] = {}
        for place in history.single if self._twice.any() else ():
            if len(chosen) == count:
                return chosen
            if self._twice[place] and place not in seen and place not in held:
                chosen[place] = Handed(time, False, 0)
        assert self._orders.newest is not None
        order = self._orders.newest.places
        free = ~history.taken
        free[list(seen | held | chosen.keys())] = False
        free_in_order = order[free[order]]
        if len(free_in_order) < np.count_nonzero(free):  # labels were taken back since
            free_in_order = np.concatenate([np.setdiff1d(np.flatnonzero(free), free_in_order), free_in_order])
        count = min(count - len(chosen), len(free_in_order))
        if self._decision().draw_at_random:
            generator = np.random.default_rng([self.settings.seed, history.revision, self._journal.lines])
            picks, at_random = generator.choice(len(free_in_order), size=count, replace=False), True
        else:
            picks, at_random = np.arange(count), False
        for pick in picks.tolist():
            chosen[int(free_in_order[pick])] = Handed(time, at_random, pick + 1)
        return chosen

    def _suggestion(self, annotator: str, place: int, handed: Handed) -> Suggestion:
        if self._explanations is None:
            self._explanations = read_explanations(self.folder)
        explanation = explanation_of(self._explanations[place]) if self._explanations else None
        return Suggestion(
            self.pool.posts[place],
            len(self.pool.copies[place]),
            float(str(self.pool.scores[place])),
            handed.position,
            handed.at_random,
            explanation.post_spans if explanation else [],
            explanation.article_words if explanation else [],
            self._history.notes.get((place, annotator), ""),
        )

    def _place(self, post_id: str) -> int:
        if post_id not in self._places:
            raise LinkerError(f"{self.folder}: there is no post {post_id!r} in this session")
        return self._places[post_id]


def _name(annotator: str) -> str:
    name = annotator.strip()
    if not _NAME.fullmatch(name):
        raise LinkerError(f"annotator {annotator[:120]!r}: give a name of 1 to 100 characters on one line")
    return name


def _check_value(value: str) -> None:
    if value not in VALUES:
        raise LinkerError(f"label {value!r}: is one of {', '.join(VALUES)}")
