"""BM25 over a corpus: the scores of the model over the same posts, whatever was added when."""

from pathlib import Path

import numpy as np
import pytest

from linker.corpus import builder
from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.storage.store import Store
from linker.data.io.columns import PostColumns
from linker.data.types import Article, Post
from linker.models.bm25 import BM25Model
from linker.models.features.postings import postings_of
from linker.ranking.search import mean_scores
from tests.corpus.conftest import some_posts, write_posts

ARTICLES = [
    Article("a", "The harbour0 harbour1 harbour1 harbour1 w1, w2 and #GlacierNews w3 n5", "Otters n7"),
    Article("b", "orchard1 orchard2 w7 unheard-of"),
    Article("c", "and the of"),
    Article("d", "quite other things"),
]


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(builder, "POSTS_AT_ONCE", 64)


def made(count: int) -> list[dict]:
    posts = some_posts(count)
    posts[3]["text"] = "the of and"  # no word that counts
    posts[9]["text"] = "harbour1 " * 300 + "#GlacierNews harbour1's"
    posts[12]["text"] = posts[11]["text"]
    return posts


@pytest.fixture
def built(tmp_path, model_folder):
    path = write_posts(tmp_path / "posts.jsonl", made(150))
    build_corpus(tmp_path / "corpus", [path], str(model_folder), PostColumns())
    return tmp_path / "corpus"


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
    np.testing.assert_allclose(got, expected(made(150), articles), rtol=1e-5, atol=1e-7)
    assert got[11] == got[12]


def test_posts_added_later_count(built, tmp_path):
    for count in (151, 170, 192, 193, 400):
        scores(built, ARTICLES)
        path = write_posts(tmp_path / "more.jsonl", made(count)[-60:])
        add_to_corpus(built, [path], None, PostColumns())
        dataset = Store.open(built).dataset()
        assert dataset is not None
        held = {row["id"] for row in dataset.to_table(columns=["id"]).to_pylist()}
        posts = [post for post in made(400) if post["id"] in held]
        np.testing.assert_allclose(scores(built, ARTICLES), expected(posts, ARTICLES), rtol=1e-5, atol=1e-7)
    shards = Store.open(built).shards()
    assert shards is not None
    assert len(shards) == 6, "small ones were merged"
    assert all(len(list(shard.files.folder.glob("plain-words.english-*"))) == 1 for shard in shards)


def test_whoever_sees_fewer_posts_does_not_see_the_postings_of_others(built, tmp_path):
    before = Corpus.open(built)
    add_to_corpus(
        built, [write_posts(tmp_path / "more.jsonl", some_posts(5, start=150))], None, PostColumns()
    )
    scores(built, ARTICLES)
    np.testing.assert_allclose(
        mean_scores(BM25Model(), before.table, ARTICLES), expected(made(150), ARTICLES), rtol=1e-5, atol=1e-7
    )


def test_postings_of_many_and_of_long_posts():
    texts = [f"word{i} harbour harbour" for i in range(70_000)] + ["glacier " * 70_000]
    arrays = postings_of(texts, "english")
    assert arrays["places"].dtype == np.uint32
    assert arrays["counts"].max() == 70_000
    assert arrays["lengths"][-1] == 70_000
    few = postings_of(texts[:9], "english")
    assert few["places"].dtype == np.uint16
    assert postings_of([], "english")["lengths"].shape == (0,)
