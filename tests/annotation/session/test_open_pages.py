"""While other pages hold posts, a random sample cannot contain them: no claim may be made that leaves them out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

from linker.annotation.pool import Labels
from linker.annotation.session import session as module
from linker.annotation.session.session import Session
from linker.annotation.session.status import Status
from linker.annotation.stopping_rules.estimate import estimate
from linker.annotation.stopping_rules.recall import RecallRule
from linker.annotation.stopping_rules.stopping_rule import Decision, while_held
from linker.data.types import Post

WORDS = ["otter", "wolf", "moon", "tram", "match", "election", "fire", "phone", "rain", "bread", "rye"]
ARTICLE = "The ferry sank off the island. A helicopter rescued the captain."
RELEVANT = {str(number) for number in range(20)}


class Clock:
    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, 9, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        return self.time

    def wait(self, **duration: float) -> None:
        self.time += timedelta(**duration)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(module, "now", found)
    return found


def posts(seed: int) -> list[Post]:
    draw = random.Random(seed)
    texts = (" ".join(draw.choices(WORDS, k=8)) + f" z{13 * number}" for number in range(160))
    about = " ferry island helicopter captain"
    return [
        Post(str(number), text + (about[: draw.choice([6, 13, 24, 32])] if str(number) in RELEVANT else ""))
        for number, text in enumerate(texts)
    ]


def session(folder: Path, target: float, seed: int) -> Session:
    rule = {"type": "recall", "target": target, "patience": 20}
    return Session.create(folder, ARTICLE, posts(seed), "bm25", rule=rule, seed=seed, background=False)


def labeled(session: Session, clock: Clock, seconds: float = 4) -> Iterator[Status]:
    """Label as one person until no post is left for them; the status after each label."""
    while found := session.next("lee"):
        clock.wait(seconds=seconds)
        session.label("lee", found[0].post.id, "relevant" if found[0].post.id in RELEVANT else "not")
        yield session.status()


def check(status: Status) -> None:
    """No claim is false: neither the interval nor that of the rule."""
    left = len(RELEVANT) - status.relevant
    assert status.estimate.low <= left <= status.estimate.high, status.estimate.sentence
    if status.decision.stop:
        assert status.relevant >= 0.95 * len(RELEVANT), status.decision.reason


@pytest.mark.parametrize("seed", range(3))
def test_no_claim_leaves_out_what_an_idle_page_holds(tmp_path: Path, clock: Clock, seed: int) -> None:
    with session(tmp_path / "job", 0.95, seed) as job:
        held = {suggestion.post.id for suggestion in job.next("idle", 4)}
        statuses = list(labeled(job, clock))
        for status in statuses:
            check(status)
            assert not status.decision.stop
        assert len(statuses) == 156
        assert "4 posts are open on other pages" in statuses[-1].decision.reason
        assert statuses[-1].estimate.high == 4 >= len(held & RELEVANT) > 0
        # Half an hour later they go to others, and everything is known.
        clock.wait(minutes=31)
        *_, last = labeled(job, clock)
        assert last.decision == Decision(True, "every post has a label")


def test_held_posts_come_first_once_their_page_has_expired(tmp_path: Path, clock: Clock) -> None:
    with session(tmp_path / "job", 0.8, 1) as job:
        held = {suggestion.post.id for suggestion in job.next("idle", 4)}
        for status in labeled(job, clock):
            if status.decision.draw_at_random and "open on other pages" in status.decision.reason:
                break
        assert not status.decision.stop
        clock.wait(minutes=31)
        job.next("lee")  # was suggested before
        *_, last = (status for status, _ in zip(labeled(job, clock), range(5)))
        assert held <= {one.post.id for one in job.labeled() if one.value}
        assert "reach" not in last.decision.reason + last.estimate.basis


def test_a_page_that_is_used_keeps_nobody_from_stopping(tmp_path: Path, clock: Clock) -> None:
    with session(tmp_path / "job", 0.8, 0) as job:
        job.next("kim", 4)
        for number, status in enumerate(labeled(job, clock)):
            check(status)
            if number % 8 == 7:  # kim labels four posts at a time
                for one in job.next("kim", 4):
                    job.label("kim", one.post.id, "relevant" if one.post.id in RELEVANT else "not")
            if status.decision.stop:
                break
        assert status.decision.stop
        assert status.labeled < 150


def sample(drawn: int, unreached: int) -> Labels:
    """20 relevant posts in order, 20 others, then a sample without relevant posts."""
    size = 40 + drawn
    order = np.arange(size)
    return Labels(order, order < 20, order >= 40, unreached)


def test_posts_out_of_reach_count_as_relevant() -> None:
    rule = RecallRule(0.8, patience=20)
    assert rule.decide(sample(150, 0), 400).stop
    with_some = rule.decide(sample(150, 3), 400)
    assert not with_some.stop
    assert "3 that the sample could not reach count as relevant" in with_some.reason
    # 20 of 25 would be 80 %: with 5 more nothing can be claimed, however many are drawn.
    assert not rule.decide(sample(350, 6), 400).stop
    assert rule.decide(sample(350, 3), 400).stop
    alone, found = estimate(sample(150, 0), 400), estimate(sample(150, 3), 400)
    assert found.high >= alone.high + 2
    assert found.low <= alone.low
    assert found.basis.endswith("; the sample could not reach 3, so all of these may be")


def test_a_stop_is_withheld_while_posts_are_held() -> None:
    held = while_held(Decision(True, "recall is at least 95%"), 1)
    assert held == Decision(False, "1 post is open on other pages and may be relevant", draw_at_random=True)
    assert while_held(Decision(False, "why"), 2) == Decision(False, "2 posts are open on other pages; why")
