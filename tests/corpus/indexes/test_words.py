"""BM25 over a corpus: the scores of the model over the same posts, whatever was added when."""

from pathlib import Path

import numpy as np
import pytest

from linker.corpus.corpus import Corpus
from linker.corpus.storage.store import Store
from linker.data.types import Article, Post
from linker.models.bm25 import BM25Model
from linker.models.features.postings import postings_of
from linker.ranking.search import mean_scores
from tests.corpus.conftest import add, build_of, ids_in, odd_posts, some_posts

ARTICLES = [
    Article("a", "The harbour0 harbour1 harbour1 harbour1 w1, w2 and #GlacierNews w3 n5", "Otters n7"),
    Article("b", "orchard1 orchard2 w7 unheard-of"),
    Article("c", "and the of"),
    Article("d", "quite other things"),
]


pytestmark = pytest.mark.usefixtures("small_shards")


@pytest.fixture
def built(tmp_path, model_folder):
    return build_of(tmp_path / "corpus", odd_posts(150), model_folder)


def expected(posts: list[dict], articles: list[Article]) -> np.ndarray:
    return BM25Model().score(articles, [Post(post["id"], post["text"]) for post in posts]).mean(axis=0)


def scores(folder, articles) -> np.ndarray:
    return mean_scores(BM25Model(), Corpus.open(folder).table, articles)


def files(folder) -> list[Path]:
    return sorted((folder / "shards").glob("*/plain-words.english-*"))


@pytest.mark.parametrize("articles", [[one] for one in ARTICLES] + [ARTICLES], ids=lambda a: str(len(a)))
def test_scores_are_those_of_the_model(built, articles):
    got = scores(built, articles)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected(odd_posts(150), articles), rtol=1e-5, atol=1e-7)
    assert got[11] == got[12]


def test_posts_added_later_count(built):
    for count in (151, 170, 192, 193, 400):
        scores(built, ARTICLES)
        add(built, odd_posts(count)[-60:])
        held = set(ids_in(built))
        posts = [post for post in odd_posts(400) if post["id"] in held]
        np.testing.assert_allclose(scores(built, ARTICLES), expected(posts, ARTICLES), rtol=1e-5, atol=1e-7)
    shards = Store.open(built).shards()
    assert shards is not None
    assert len(shards) == 6, "small ones were merged"
    assert all(len(list(shard.files.folder.glob("plain-words.english-*"))) == 1 for shard in shards)


def test_whoever_sees_fewer_posts_does_not_see_the_postings_of_others(built):
    before = Corpus.open(built)
    add(built, some_posts(5, start=150))
    scores(built, ARTICLES)
    np.testing.assert_allclose(
        mean_scores(BM25Model(), before.table, ARTICLES),
        expected(odd_posts(150), ARTICLES),
        rtol=1e-5,
        atol=1e-7,
    )


def test_postings_of_many_and_of_long_posts():
    texts = [f"word{i} harbour harbour" for i in range(70_000)] + ["glacier " * 70_000]
    arrays = postings_of(texts, "english")
    assert arrays["places"].dtype == np.uint32
    assert arrays["counts"].max() == 70_000
    assert arrays["lengths"][-1] == 70_000
    assert postings_of(texts[:9], "english")["places"].dtype == np.uint16
    assert postings_of([], "english")["lengths"].shape == (0,)
