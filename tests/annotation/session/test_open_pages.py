"""Posts that people hold, skip or leave are in the random sample: without them it would claim too much."""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from linker.annotation.session import session as module
from linker.annotation.session.session import Session
from linker.annotation.session.status import Status
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import LabelValue
from linker.data.types import Post
from tests.reliability import designs
from tests.reliability.harness import Tally

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


def test_a_skipped_post_is_sampled_and_shown_once_more_then_to_others(tmp_path: Path, clock: Clock) -> None:
    with session(tmp_path / "job", 0.95, 0) as job:
        skipped = {one.post.id for one in job.next("lee", 3)}
        shown: Counter[str] = Counter()
        while suggestions := job.next("lee"):
            clock.time += timedelta(seconds=4)
            shown.update([post := suggestions[0].post.id])
            if post in skipped:
                job.label("lee", post, "skip")
            else:
                label(job, "lee", post)
        status = job.status()
        assert {shown[post] for post in skipped} == {2}
        assert not status.decision.stop
        assert "; 3 more, skipped or not labeled yet, count as possibly relevant" in status.decision.reason
        assert (status.estimate.low, status.estimate.high) == (0, 3)
        assert {one.post.id for one in job.next("kim", 9) if one.at_random} == skipped
        for post in skipped:
            label(job, "kim", post)
        assert job.status().decision.reason == "every post has a label"


def test_labels_of_files_and_of_the_owner_do_not_change_what_was_drawn(tmp_path: Path, clock: Clock) -> None:
    with session(tmp_path / "job", 0.95, 0) as job:
        for _ in labeled(job, clock):
            drawn = [one.post.id for one in job.next("lee", 4) if one.at_random]
            if len(drawn) == 4:
                break
        free = next(one.post.id for one in job.labeled() if one.value is None and one.post.id not in drawn)
        values: dict[str, LabelValue] = {
            post: "relevant" if post in RELEVANT else "not" for post in (*drawn, free)
        }
        job.import_labels(
            [ImportedLabel(post, "max", values[post], sample="random") for post in (drawn[0], free)]
        )
        job.resolve("owner", drawn[1], values[drawn[1]])
        labels = job._state.labels()
        places = labels.sample[-4:, 0]
        assert [job.posts[labels.posts[place]].id for place in places[:2]] == drawn[:2]
        assert places[2:].tolist() == [-1, -1]
        assert not labels.at_random[labels.posts == job._state.indices[free]].any()


@pytest.mark.parametrize("mix", ["relevant posts skipped", "relevant posts left open", "everything"])
def test_what_is_claimed_is_true_whatever_happens(mix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(designs, "POOLS", [(60, 20), (60, 24), (150, 30)])
    monkeypatch.setattr(designs, "MIXES", {mix: designs.MIXES[mix]})
    designs.designs(tally := Tally(), Path(), 20, random.Random(4))
    assert (tally.tried, tally.faults) == (2, [])
