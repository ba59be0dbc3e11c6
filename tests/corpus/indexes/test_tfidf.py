"""TF-IDF over a corpus: bounds that no score exceeds."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.corpus.indexes.postings import Postings, Segment
from linker.corpus.indexes.tfidf import TfidfQuery
from linker.corpus.indexes.words import words_of
from linker.data.types import Article
from linker.modules.kernels import scoring

native = pytest.mark.skipif(not scoring.available(), reason="the native library is not built")
WORDS = [f"word{n}" for n in range(9)]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=15)


def query(
    shards: list[list[str]], article: str, deleted: frozenset[int] = frozenset(), min_words: int = 0
) -> TfidfQuery:
    segments, first = [], 0
    for some in shards:
        live = np.array([first + n not in deleted for n in range(len(some))])
        segments.append(Segment.of(words_of(some, "english"), None if live.all() else live))
        first += len(some)
    return TfidfQuery(Postings(segments), Article("a", article), min_words)


@given(
    shards=st.lists(texts, min_size=1, max_size=3),
    article=st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=20).map(" ".join),
    deleted=st.frozensets(st.integers(0, 44), max_size=5),
    kernels=st.sampled_from(["auto", "plain"]),
    min_words=st.integers(0, 5),
)
def test_no_cosine_exceeds_its_bound(shards, article, deleted, kernels, min_words) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINKER_KERNELS", kernels)
        asked = query(shards, article, deleted, min_words)
        scores, bounds = asked.scores(), asked.bounds_at(None)
        assert len(scores) == len(bounds) == asked._postings.posts
        assert (bounds >= scores).all()
        places = np.arange(0, len(scores), 2)
        np.testing.assert_array_equal(asked.bounds_at(places), bounds[places])
        np.testing.assert_array_equal(asked.scores_at(places), scores[places])


@native
def test_bounds_of_many_posts_are_close() -> None:
    chance = random.Random(0)
    words = [f"word{n}" for n in range(3_000)]
    posts = [" ".join(chance.choices(words, k=12)) for _ in range(20_000)]
    asked = query([posts[:9_000], posts[9_000:]], " ".join(chance.choices(words, k=200)))
    scores, bounds = asked.scores(), asked.bounds_at(None)
    assert scores.max() > 0.1
    assert (bounds >= scores).all()
    assert (bounds - scores).max() < 0.02 * scores.max()
