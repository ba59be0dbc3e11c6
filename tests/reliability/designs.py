"""Labeling jobs in which people and files do what they like: what is claimed, beside the truth."""

import random
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.sparse import csr_matrix
from scipy.stats import binom

from linker.annotation.pool import Pool
from linker.annotation.session import session as module
from linker.annotation.session.contents import Contents, Settings
from linker.annotation.session.events import Event
from linker.annotation.session.session import Session
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import LabelValue
from linker.data.types import Article, Post
from tests.reliability.harness import Tally

#: Posts, and relevant ones among them; large pools take long, so they are rarer.
POOLS = [*((60, 3), (60, 20), (60, 24), (150, 6), (150, 30), (150, 60), (400, 16), (400, 80), (400, 120)) * 3]
POOLS += [(2000, 20), (2000, 100), (2000, 600)]
#: How much higher relevant posts score, in standard deviations, and the share of them that score like the others; none:
#: just as many that recall stays below the target until one of them is found.
MODELS = ((0.0, 0.0), (1.0, 0.0), (3.0, 0.3), (6.0, None))
VALUES: tuple[LabelValue, LabelValue] = ("not", "relevant")
#: Probabilities that something happens to a post that is not relevant, and to a relevant one.
Chance = tuple[float, float]


@dataclass(frozen=True)
class Mix:
    """What happens in a job beside labels by lee, who works post by post; probabilities.

    Attributes:
        idle: that, beside a label, somebody opens a page and goes away.
        kim: that the next label is by kim, who works in pages of four.
        leaves: that kim leaves a post of a page open for good.
        skips: that whoever sees a post skips it; always the same posts if `firm`.
        imports: that, beside a label, a third of such posts without a label get one from a file.
        undo: that labels are taken back; they are given again later.
        overlap: that a post needs labels of two people; kim is then wrong about a tenth, until that is adjudicated.
    """

    idle: float = 0.0
    kim: float = 0.0
    leaves: Chance = (0.0, 0.0)
    skips: Chance = (0.0, 0.0)
    firm: bool = False
    imports: Chance = (0.0, 0.0)
    undo: float = 0.0
    overlap: float = 0.0


MIXES = {
    "nothing": Mix(),
    "idle pages": Mix(idle=0.02),
    "relevant posts left open": Mix(kim=0.4, leaves=(0.0, 0.3)),
    "relevant posts skipped": Mix(skips=(0.0, 0.15), firm=True),
    "skips at times": Mix(skips=(0.01, 0.1), kim=0.3),
    "relevant posts imported": Mix(imports=(0.0, 0.02)),
    "other posts imported": Mix(imports=(0.02, 0.0)),
    "undo": Mix(undo=0.1, kim=0.3),
    "two people": Mix(kim=0.5, overlap=0.5, idle=0.01),
    "everything": Mix(0.01, 0.3, (0.0, 0.1), (0.002, 0.02), False, (0.005, 0.005), 0.03, 0.2),
}


class MemoryFile:
    """A session's file in memory: thousands of jobs are labeled in minutes."""

    path = Path("memory")

    def __init__(self, contents: Contents) -> None:
        self.contents, self.count = lambda: contents, 0
        self._events: list[Event] = []

    def news(self) -> list[Event]:
        news, self.count = self._events[self.count :], len(self._events)
        return news

    def writing(self, durable: bool = True) -> Any:
        return nullcontext()

    def add(self, events: Iterable[Event]) -> None:
        self._events.extend(events)

    def explanation(self, index: int) -> None:
        return None


class Job:
    """A labeling job under a clock of its own; everybody calls a post what it is, in the end."""

    def __init__(self, mix: Mix, draw: random.Random) -> None:
        size, number = draw.choice(POOLS)
        (lift, hidden), self.target = draw.choice(MODELS), draw.choice((0.8, 0.9, 0.95))
        self.mix, self.draw, self.relevant = mix, draw, np.zeros(size, dtype=bool)
        relevant, scores = draw.sample(range(size), number), np.array([draw.gauss(0, 1) for _ in range(size)])
        self.relevant[relevant] = True
        few = int(number * (1 - self.target) + 1e-9) + 1 if hidden is None else round(hidden * number)
        scores[relevant[few:]] += lift
        rule, words = {"type": "recall", "target": self.target}, csr_matrix((size, 1))
        settings = Settings("m", {"type": "seed_similarity"}, rule, mix.overlap, draw.randrange(9**9), "", "")
        posts, indices = [Post(str(i), f"post {i}") for i in range(size)], {str(i): i for i in range(size)}
        pool = Pool([Article("a", "text")], posts, [()] * size, scores, scores, words, words[:1])
        file = MemoryFile(Contents(settings, pool, posts, indices))
        with mock.patch.object(module, "SessionFile", return_value=file):
            self.session = Session(file.path)
        self.time, self.left = datetime(2026, 1, 1, tzinfo=timezone.utc), set[str]()
        self.pages: dict[str, list[str]] = {"kim": [], "lee": []}
        self.skipped = {post for post in indices if self.happens(mix.skips, post)} if mix.firm else set()

    def happens(self, chance: Chance, post: str) -> bool:
        """Return whether something happens to a post."""
        return self.draw.random() < chance[int(self.relevant[int(post)])]

    def work(self, name: str, count: int) -> bool:
        """Label the next post of a person's page; return whether there was one, also after all others have left."""
        page, left = self.pages[name], self.left if name == "kim" else set()
        for wait in (0, 31):
            if not page:
                self.time += timedelta(minutes=wait)
                shown = (one.post.id for one in self.session.next(name, count + len(left)))
                page += [post for post in shown if post not in left]
        if not page:
            return False
        post, self.time = page.pop(0), self.time + timedelta(seconds=self.draw.uniform(3, 20))
        if name == "kim" and self.happens(self.mix.leaves, post):
            self.left.add(post)
        else:
            self.label(name, post)
        return True

    def label(self, name: str, post: str) -> None:
        """Label a post, or skip it; adjudicate what is wrong; take labels back."""
        skips = post in self.skipped or (not self.mix.firm and self.happens(self.mix.skips, post))
        wrong = name == "kim" and bool(self.mix.overlap) and self.draw.random() < 0.1
        self.session.label(name, post, "skip" if skips else VALUES[int(self.relevant[int(post)]) ^ wrong])
        if wrong:
            self.session.resolve("owner", post, VALUES[int(self.relevant[int(post)])])
        elif self.draw.random() < self.mix.undo:
            for _ in range(self.draw.randint(1, 3)):
                self.session.undo(name)
            self.pages[name] = []

    def beside(self) -> None:
        """Let others open a page and go away, or labels be imported."""
        if self.draw.random() < self.mix.idle:
            self.session.next(f"idle {self.time}", 4)
        for is_relevant, chance in enumerate(self.mix.imports):
            if self.draw.random() < chance:
                posts = np.flatnonzero((self.relevant == is_relevant) & ~self.session._state.labeled).tolist()
                some = self.draw.sample(posts, len(posts) // 3)
                self.session.import_labels([ImportedLabel(str(i), "file", VALUES[is_relevant]) for i in some])

    def run(self) -> tuple[float, ...]:
        """Label until the rule stops, or nobody gets a post; return the figures of `designs`, in its order."""
        status, held, widths = self.session.status(), [], []
        while not status.decision.stop:
            if not (self.draw.random() < self.mix.kim and self.work("kim", 4)) and not self.work("lee", 1):
                break
            self.beside()
            status, unlabeled = self.session.status(), ~self.session._state.labeled
            if status.estimate.known and unlabeled.any():
                low, high = status.estimate.low, status.estimate.high
                held.append(low <= int(np.sum(self.relevant & unlabeled)) <= high)
                widths.append((high - low) / unlabeled.sum())
        stop, share = status.decision.stop, status.labeled / status.posts
        false = stop and status.relevant < self.target * self.relevant.sum() - 1e-9
        return stop, false, share, len(held), held.count(False), float(np.mean(widths or 0))


def designs(tally: Tally, folder: Path, jobs: int, draw: random.Random) -> None:
    """Run jobs of each mix: at most 5 % may stop below the target, or ever show an interval without the truth."""
    rows = []
    for name, mix in MIXES.items():
        ends = []
        for _ in range(jobs):
            job = Job(mix, draw)
            with mock.patch.object(module, "now", lambda job=job: job.time):
                ends.append(job.run())
        stops, false, labeled, printed, missed, widths = np.array(ends).T
        rows.append(
            f"{name}: {stops.mean():.0%} stop, {false.mean():.1%} falsely, {labeled.mean():.0%} labeled; "
            f"{np.mean(missed > 0):.1%} ever miss, {missed.sum():.0f} of {printed.sum():,.0f} intervals, "
            f"{widths.mean():.0%} wide"
        )
        for failures in (int(false.sum()), int((missed > 0).sum())):
            tally.check(binom.sf(failures - 1, jobs, 0.05) > 1e-3, rows[-1])
    tally.notes = f"{jobs} jobs of each mix; " + "; ".join(rows)
