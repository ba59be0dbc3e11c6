"""Posts on open pages are likely to be relevant: a random sample that left them out would claim too much."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from scipy.stats import binom

from linker.annotation.session import session as module
from linker.annotation.session.session import Session
from linker.annotation.session.status import Status
from linker.data.types import Post

WORDS = ["otter", "wolf", "moon", "tram", "match", "election", "fire", "phone", "rain", "bread", "rye"]
ARTICLE = "The ferry sank off the island. A helicopter rescued the captain."
RELEVANT = {str(number) for number in range(20)}


class Clock:
    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, 9, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "now", clock)
    return clock


def session(folder: Path, target: float, seed: int) -> Session:
    draw = random.Random(seed)
    texts = (" ".join(draw.choices(WORDS, k=8)) + f" z{13 * number}" for number in range(160))
    about = " ferry island helicopter captain"
    posts = [
        Post(str(number), text + (about[: draw.choice([6, 13, 24, 32])] if str(number) in RELEVANT else ""))
        for number, text in enumerate(texts)
    ]
    rule = {"type": "recall", "target": target, "patience": 20}
    return Session.create(folder, ARTICLE, posts, "bm25", rule=rule, seed=seed)


def label(session: Session, annotator: str, post: str) -> None:
    session.label(annotator, post, "relevant" if post in RELEVANT else "not")


def labeled(session: Session, clock: Clock) -> Iterator[Status]:
    """Label as one person until no post is left for them; the status after each label."""
    while suggestions := session.next("lee"):
        clock.time += timedelta(seconds=4)
        label(session, "lee", suggestions[0].post.id)
        yield session.status()


@pytest.mark.parametrize("seed", range(2))
def test_a_sample_contains_what_an_idle_page_holds(tmp_path: Path, clock: Clock, seed: int) -> None:
    with session(tmp_path / "job", 0.95, seed) as job:
        held = {suggestion.post.id for suggestion in job.next("idle", 4)}
        assert held & RELEVANT
        for status in labeled(job, clock):
            assert not status.decision.stop or status.relevant >= 0.95 * len(RELEVANT)
        drawn = {one.post.id for one in job.labeled() if one.sample == "random"}
        assert status.labeled == 160
        assert held <= drawn
        assert job.next("idle", 4) == []


def test_a_sampled_post_counts_for_the_sample_whoever_labels_it(tmp_path: Path, clock: Clock) -> None:
    with session(tmp_path / "job", 0.95, 0) as job:
        held = {suggestion.post.id for suggestion in job.next("kim", 4)}
        for _ in labeled(job, clock):
            sampled = {one.post.id for one in job.next("lee", 160) if one.at_random}
            if sampled & held:
                break
        post = min(sampled & held)
        label(job, "kim", post)
        (record,) = (one for one in job.labeled() if one.post.id == post)
        assert (record.annotator, record.sample) == ("kim", "random")
        assert post not in {one.post.id for one in job.next("lee", 160)}


def test_recall_is_kept_while_a_page_takes_its_time(tmp_path: Path, clock: Clock) -> None:
    failures = 0
    for seed in range(12):
        with session(tmp_path / f"job{seed}", 0.8, seed) as job:
            job.next("kim", 4)
            for number, status in enumerate(labeled(job, clock)):
                if number % 8 == 7:  # kim labels four posts at a time
                    for one in job.next("kim", 4):
                        label(job, "kim", one.post.id)
                if status.decision.stop:
                    break
            failures += status.relevant < 0.8 * len(RELEVANT)
    assert binom.sf(failures - 1, 12, 0.05) > 1e-4
