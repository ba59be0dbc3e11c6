"""The order of the file decides nothing; seeds and ids decide between equal scores."""

import random
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.annotation.build_pool import build_pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.session.session import Session
from linker.annotation.simulation.simulate import found, labels_to, simulate
from linker.annotation.simulation.task import Task
from linker.config import build
from linker.data.types import Article, Post
from linker.models.bm25 import BM25Model
from linker.models.ensemble import EnsembleModel
from linker.models.model import Model
from linker.models.tfidf import TfidfModel
from tests.annotation.simulation.test_simulate import BreakRule
from tests.helpers.pools import VectorModel
from tests.helpers.sessions import ARTICLE, POSTS

WORDS = ["ferry", "reef", "crew", "rain", "goal", "song", "tea", "cat"]
CONFIGS = [*QueryStrategy.available(), {"type": "active_learning", "pseudo_negatives": 9}]
MODELS = [BM25Model(), TfidfModel(), EnsembleModel([VectorModel(), TfidfModel()])]


def crowd(size: int = 60) -> list[Post]:
    """Posts of few words, so that many have equal scores, and some are near-duplicates of others."""
    draw = random.Random(5)
    return [Post(f"t{i}", " ".join(draw.choices(WORDS, k=5))) for i in range(size)]


def task_of(posts: Sequence[Post], model: Model | None = None) -> Task:
    article = Article("a", "The ferry ran on the reef; the crew is safe.", "Ferry on the reef")
    relevant = {post.id for post in posts if "ferry" in post.text.split() or "crew" in post.text.split()}
    return Task.of("ferry", build_pool([article], posts, model or BM25Model()), relevant)


def labeled(task: Task, config: object, seed: int) -> list[str]:
    """The ids of the posts in the order in which they are labeled, by a rule that samples two at random."""
    run = simulate(task, build(QueryStrategy, config), seed, 0.3, BreakRule())
    return [task.pool.posts[place].id for place in run.labels.posts.tolist()]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@settings(max_examples=5)
@given(shuffling=st.randoms(use_true_random=False), model=st.sampled_from(MODELS), seed=st.integers(0, 99))
def test_shuffled_files_are_labeled_in_the_same_order(
    config: object, shuffling: random.Random, model: Model, seed: int
) -> None:
    posts = crowd()
    task = task_of(posts, model)
    shuffling.shuffle(posts)
    other = task_of(posts, model)
    assert labeled(other, config, seed) == labeled(task, config, seed)
    assert (other.total, other.posts, other.disagreeing) == (task.total, task.posts, task.disagreeing)


@pytest.mark.parametrize("name", ["keywords", "lexical", "seed_similarity", "hybrid", "active_learning"])
def test_posts_with_equal_scores_take_as_many_labels_as_chance(name: str) -> None:
    # No word of the article is in any post: an ordering knows nothing before the first find.
    posts = [Post(f"{'yes' if i < 8 else 'zno'}-{i}", f"post{i} word{i} thing{i} none{i}") for i in range(80)]
    article = Article("a", "Entirely different content.", "Something else")
    task = Task.of("t", build_pool([article], posts, BM25Model()), {post.id for post in posts[:8]})
    first = [
        labels_to(found(task, simulate(task, build(QueryStrategy, name), seed).labels), 1)
        for seed in range(60)
    ]
    # The first of 8 among 80 in random order is at (80 + 1) / (8 + 1) = 9 on average, with a deviation of 8 / √60.
    assert 6 < fmean(label or 0 for label in first) < 12.5
    assert len(set(first)) > 10


def test_equal_scores_are_ordered_by_a_keyed_hash_of_the_id() -> None:
    pool = replace(task_of(crowd(12)).pool, tie_seed=7)
    expected = sorted(
        range(len(pool)),
        key=lambda place: blake2b(pool.posts[place].id.encode(), digest_size=8, key=b"7").digest(),
    )
    assert pool.shuffled.tolist() == expected
    assert replace(pool, tie_seed=8).shuffled.tolist() != expected


def test_representatives_do_not_depend_on_the_order_of_the_file() -> None:
    texts = {"10": "the ferry ran on the reef today", "9": "The ferry ran on the reef today!", "11": "tea"}
    posts = [Post(id_, text) for id_, text in texts.items()]
    for given_posts in (posts, posts[::-1]):
        pool = build_pool([ARTICLE], given_posts, BM25Model())
        assert [post.id for post in pool.posts] == ["9", "11"]
        assert [[copy.id for copy in copies] for copies in pool.copies] == [["10"], []]


class Counted(VectorModel):
    """Counts how many posts it encodes."""

    def __init__(self) -> None:
        self.encoded = 0

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray:
        self.encoded += len(posts)
        return super().post_vectors(posts)


@pytest.mark.parametrize("nested", [False, True])
def test_a_pool_is_encoded_once(nested: bool) -> None:
    part = Counted()
    model = EnsembleModel([part, TfidfModel()]) if nested else part
    pool = build_pool([ARTICLE], crowd(), model)
    assert part.encoded == len(pool)
    assert pool.scores == pytest.approx(model.score([ARTICLE], pool.posts)[0], abs=1e-5)
    assert part.encoded == 2 * len(pool)  # afterwards it encodes what it is asked for


def suggested(folder: Path, seed: int, posts: Sequence[Post], strategy: str = "keywords") -> list[str]:
    with Session.create(folder, [ARTICLE], posts, "bm25", strategy=strategy, seed=seed) as session:
        return [one.post.id for one in session.next("kim", len(session.pool))]


def test_a_session_hands_out_posts_by_seed_and_not_by_file(tmp_path: Path) -> None:
    shuffled = random.Random(1).sample(POSTS, len(POSTS))
    first = suggested(tmp_path / "a", 13, POSTS)
    assert suggested(tmp_path / "b", 13, shuffled) == first
    assert suggested(tmp_path / "c", 14, POSTS) != first


@pytest.mark.parametrize("strategy", ["keywords", "active_learning"])
def test_the_order_of_a_session_is_the_same_after_a_restart(tmp_path: Path, strategy: str) -> None:
    folder = tmp_path / "job"
    Session.create(folder, [ARTICLE], POSTS, "bm25", strategy=strategy).close()
    with Session.open(folder) as session:
        for value in ("relevant", "not", "not"):
            session.label("kim", session.next("kim")[0].post.id, value)
        before = session._current_queue()
    with Session.open(folder) as session:
        assert session._current_queue().tolist() == before.tolist()


def test_an_ordering_that_does_not_learn_keeps_ties_whichever_labels_it_knows(tmp_path: Path) -> None:
    order = suggested(tmp_path / "job", 13, POSTS)
    with Session.open(tmp_path / "job") as session:
        for post in order[:6]:
            session.label("kim", post, "not")
        assert [one.post.id for one in session.next("kim", 100)] == order[6:]
