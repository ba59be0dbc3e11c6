"""Equal posts have equal scores, wherever they are in the input."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from linker.data.io.records import read_posts
from linker.data.types import Article, Post
from linker.models.pretrained import BEST, DISTILLED
from linker.ranking.ranker import load

SAMPLE = Path(__file__).parents[2] / "data/posts.jsonl"


@pytest.mark.parametrize("name", [BEST, DISTILLED])
def test_equal_posts_have_equal_scores(name: str) -> None:
    if name == BEST:
        pytest.importorskip("transformers")
    # Enough posts that they are encoded in several batches, between which copies fall.
    texts = list(dict.fromkeys(post.text for post in read_posts(str(SAMPLE))[:300]))
    posts = [Post(f"{i}-{copy}", text) for i, text in enumerate(texts) for copy in range(3)]
    random.Random(0).shuffle(posts)
    ranking = load(name).rank(Article("a", f"{texts[10]} {texts[200]}", "x"), posts, copies=True)
    scores: dict[str, set[float]] = {}
    for ranked in ranking:
        scores.setdefault(ranked.post.text, set()).add(ranked.score)
    assert len(ranking) == 3 * len(texts)
    assert all(len(own) == 1 for own in scores.values())
