"""Posts that say the same have the same score, wherever they stand in the pile."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from linker.data.types import Article, Post
from linker.models.shipped import BEST, DISTILLED
from linker.ranking.linker import load

SAMPLE = Path(__file__).parents[2] / "data/posts.jsonl"


@pytest.mark.parametrize("name", [BEST, DISTILLED])
def test_equal_posts_have_equal_scores(name: str) -> None:
    if name == BEST:
        pytest.importorskip("transformers")
    texts = [
        f"{post.text} {'storm at the bridge ' * (i % 9)}" for i, post in enumerate(toy_posts().posts[:60])
    ]
    posts = [Post(f"{i}-{copy}", text) for i, text in enumerate(texts) for copy in range(3)]
    random.Random(0).shuffle(posts)
    ranking = load(name).rank(Article("a", "a storm at the harbour bridge", "Otters"), posts, copies=True)
    scores: dict[str, set[float]] = {}
    for ranked in ranking:
        scores.setdefault(ranked.post.text, set()).add(ranked.score)
    assert len(ranking) == 3 * len(texts)
    assert all(len(own) == 1 for own in scores.values())
