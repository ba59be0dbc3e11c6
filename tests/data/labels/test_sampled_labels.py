"""Labels of a random sample keep that origin from a file or Python to the intervals of thresholds."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linker
from linker.calibration.labeled_thresholds import LabeledThresholds
from linker.common.errors import LinkerError
from linker.data.labels.post_labels import relevance_of
from linker.data.labels.records import ImportedLabel, SampledLabels
from linker.data.types import Post

WORDS = ["ferry", "harbour", "sank", "rescue", "island", "captain", "engine", "storm", "crew", "port"]
POSTS = [Post(f"p{i}", " ".join(WORDS[: 1 + i % 10]) if i % 3 else f"dinner {i} nice") for i in range(90)]
RELEVANT = {post.id: i % 3 != 0 and i % 10 > 4 for i, post in enumerate(POSTS)}
RANDOM = [post.id for post in POSTS[::2]]


def as_file(folder: Path, sample: Callable[[str], str]) -> str:
    rows = [
        f"{id_},{'relevant' if yes else 'not'},{sample(id_)}\n" for id_, yes in list(RELEVANT.items())[:60]
    ]
    path = folder / "labels.csv"
    path.write_text("id,label,sample\n" + "".join(rows))
    return str(path)


def as_frame(folder: Path, sample: Callable[[str], str]) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.read_csv(as_file(folder, sample))


def as_mapping(folder: Path, sample: Callable[[str], str]) -> Any:
    some = dict(list(RELEVANT.items())[:60])
    return SampledLabels(some, [id_ for id_ in some if sample(id_) == "random"])


@pytest.mark.parametrize("made", [as_file, as_frame, as_mapping])
def test_intervals_need_labels_of_a_random_sample(
    made: Callable[[Path, Callable[[str], str]], Any], tmp_path: Path
) -> None:
    ranker, article = linker.load("bm25"), " ".join(WORDS)
    drawn = made(tmp_path, lambda id_: "random" if id_ in RANDOM else "active_learning")
    found = ranker.rank(article, POSTS, labels=drawn).thresholds
    assert found is not None
    assert "30 of them" in found.basis
    assert "of a random sample" in found.basis
    assert found.for_recall(0.8).recall.low is not None
    chosen = made(tmp_path, lambda id_: "active_learning")
    found = ranker.rank(article, POSTS, labels=chosen).thresholds
    assert found is not None
    assert "not known to be of a random sample" in found.basis
    assert all(one.precision.low is None and one.recall.low is None for one in found.table())
    assert "(95 % interval not known: no random sample)" in found.for_recall(0.8).sentence


def label(post: str, second: float | None, sample: str | None = None, **fields: Any) -> ImportedLabel:
    time = None if second is None else datetime(2031, 3, 3, tzinfo=timezone.utc) + timedelta(seconds=second)
    return ImportedLabel(post, "kim", "relevant", time=time, sample=sample, **fields)


def stretch(name: str, begin: int, count: int, sample: str | None) -> list[ImportedLabel]:
    return [label(f"{name}{i}", begin + i, sample) for i in range(count)]


def test_the_times_of_labels_say_what_a_sample_was_drawn_from() -> None:
    before, random = stretch("b", 0, 9, "active_learning"), stretch("r", 100, 80, "random")
    corrected, after = [label("c", 140.5)], stretch("a", 200, 30, "active_learning")
    short = stretch("s", 300, 20, "Random")
    design = relevance_of([*short, *after, *random, *before, *corrected])
    assert design.random == {one.post_id for one in random}
    assert design.before == {one.post_id for one in before}
    undated = [label("x", None, "random"), *random, *before]
    assert relevance_of(undated).before is None
    assert len(relevance_of(undated).random) == 81
    assert relevance_of([*random, label("y", 100)]).before is None  # at the same time
    settled = [label("r3", 500, adjudicated=True), label("r4", 600, machine=True)]
    assert relevance_of([*random, *settled]).random == design.random
    copies = [label(post, 3.000_001, "random") for post in ("p1", "p2")]
    assert len(set(relevance_of([*copies, *random]).draws.values())) == 1


def test_a_sample_of_other_posts_or_of_copies_is_no_sample_of_these() -> None:
    scores, relevant = np.arange(200, dtype=np.float32), np.arange(200) // 8 % 3 == 0
    labels = {f"p{i}": bool(relevant[i]) for i in range(0, 200, 2)}
    raw = {post: float(scores[int(post[1:])]) for post in labels}
    other = LabeledThresholds.by_scores(scores, raw, SampledLabels(labels, labels, (), posts=150))
    assert "whose random sample is of 150 of these 200 posts only" in other.basis
    assert other.at(100).recall.low is None
    with pytest.raises(LinkerError, match=r"recall>=0.9: recall has no lower bound here; by 100 labels"):
        other.for_recall(0.9, confident=True)
    single = LabeledThresholds.by_scores(scores, raw, SampledLabels(labels, labels, ()))
    fours = {post: str(int(post[1:]) // 8) for post in labels}
    copies = LabeledThresholds.by_scores(scores, raw, SampledLabels(labels, labels, (), fours))
    unknown = LabeledThresholds.by_scores(scores, raw, SampledLabels(labels, list(labels)[:60]))
    known = LabeledThresholds.by_scores(
        scores, raw, SampledLabels(labels, list(labels)[:60], list(labels)[60:])
    )
    for wide, narrow in ((copies, single), (unknown, known)):
        assert (wide.at(150).recall.low or 0) <= (narrow.at(150).recall.low or 0)
        assert (wide.at(150).recall.high or 0) >= (narrow.at(150).recall.high or 0)
    assert "25 of them" in copies.basis
