"""Searches that leave out most posts find the same posts with the same scores, in every bit."""

import random
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from linker.corpus import builder
from linker.corpus.builder import build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.deletion import delete_posts
from linker.corpus.filters import is_in
from linker.corpus.storage.store import Store
from linker.data.io.columns import PostColumns
from linker.data.types import Article
from linker.models.pretrained import BEST, DISTILLED
from linker.modules.kernels import scoring
from linker.ranking import search
from tests.corpus.conftest import write_posts

START = datetime(2031, 5, 1, tzinfo=timezone.utc)
WORDS = [
    "storm", "bridge", "otter", "river", "harbor", "council", "flood", "ferry", "closed", "rain",
    "the", "mayor",
]  # fmt: skip
ARTICLES = [
    Article(
        "a", "A storm closed the bridge over the river. The ferry and the otters wait.", "Flood", None, START
    ),
    Article("b", "The council and the mayor of the harbor met in the rain, the rain, the rain."),
    Article("c", "zzzz qqqq"),
]


def some_posts() -> list[dict]:
    chance = random.Random(5)
    posts = []
    for i in range(900):
        text = " ".join(chance.choices(WORDS, k=chance.randrange(2, 9)))
        if i % 50 == 0:
            text = "xqzw vvkj"  # no known word
        post = {"id": f"p{i:04d}", "text": text, "lang": ("en", "de")[i % 2]}
        if i % 7:
            post["created_at"] = (START + timedelta(hours=chance.gauss(0, 200))).isoformat()
        posts.append(post)
    return posts


@pytest.fixture(scope="module", params=[BEST, DISTILLED])
def corpus(request, tmp_path_factory):
    if request.param == BEST:
        pytest.importorskip("onnxruntime")
    folder = tmp_path_factory.mktemp("pruned")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "POSTS_AT_ONCE", 250)
        path = write_posts(folder / "posts.jsonl", some_posts())
        build_corpus(folder / "corpus", [path], request.param, PostColumns())
    delete_posts(Store.open(folder / "corpus"), is_in("id", [f"p{i:04d}" for i in range(0, 900, 31)]))
    return Corpus.open(folder / "corpus")


def found(corpus: Corpus, article: Article, count: int, **options) -> list[tuple[str, float]]:
    return [(ranked.post.id, ranked.score) for ranked in corpus.rank(article, count, **options)]


@pytest.mark.parametrize("article", ARTICLES, ids=lambda article: article.id)
@pytest.mark.parametrize("options", [{"copies": True}, {}, {"lang": "de"}, {"threshold": 30.0}], ids=str)
def test_the_same_as_without_pruning(corpus, article, options, monkeypatch):
    pruned = {count: found(corpus, article, count, **options) for count in (1, 5, 40)}
    monkeypatch.setattr(search, "_LARGEST_SHARE", 0.0)
    assert pruned == {count: found(corpus, article, count, **options) for count in (1, 5, 40)}


@pytest.mark.parametrize("article", ARTICLES, ids=lambda article: article.id)
def test_the_same_without_the_native_library(corpus, article, monkeypatch):
    if not scoring.available():
        pytest.skip("the native library is not built")
    native = found(corpus, article, 20)
    monkeypatch.setenv("LINKER_KERNELS", "plain")
    assert not scoring.available()
    assert found(corpus, article, 20) == native


@pytest.mark.parametrize("corpus", [BEST], indirect=True)  # the other has no embeddings in 8 bits
def test_few_posts_are_scored_exactly(corpus, monkeypatch):
    scored: list[int] = []
    whole = search.ScoreBounds._reaching

    def counted(self, *arguments):
        scores, rows = whole(self, *arguments)
        scored.append(len(rows))
        return scores, rows

    monkeypatch.setattr(search.ScoreBounds, "_reaching", counted)
    found(corpus, ARTICLES[0], 5, copies=True)
    assert 5 <= sum(scored) < len(corpus) / 3


@pytest.mark.parametrize("corpus", [BEST], indirect=True)
def test_bounds_are_not_exceeded(corpus):
    for article in ARTICLES:
        model = corpus.model.suited_to([article], corpus.table.languages(None))
        upper = {f: f.upper(corpus.table, article) for f in model.features()}
        known = {feature: bound[None] for feature, bound in upper.items() if bound is not None}
        assert known
        bounds = search.ScoreBounds(model, corpus.table, [article], known)
        assert (search.mean_scores(model, corpus.table, [article]) <= bounds._upper + bounds._error).all()
        assert np.isfinite(bounds._error)
