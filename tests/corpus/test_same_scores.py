"""The same posts have the same scores in a file and in a corpus that was built from it."""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.calibration.calibrate import calibrate
from linker.corpus.builder import build_corpus
from linker.corpus.corpus import Corpus
from linker.data.io.columns import PostColumns
from linker.data.io.records import read_posts
from linker.data.types import Article
from linker.models.features.feature import word_statistics
from linker.models.features.memory_table import MemoryTable
from linker.models.pretrained import BEST, DISTILLED
from linker.ranking.ranker import Ranker, load
from tests.corpus.conftest import CONFIG, add, build_of, odd_posts, write_model

ARTICLES = [
    Article(
        "a", "The harbour0 harbour1 harbour1 w1, w2 and #GlacierNews w3 n5. " * 40, "Otters in the harbour2"
    ),
    Article("b", "orchard1 orchard2 w7 unheard-of, the storm and the bridge"),
    Article("c", "and the of"),
    Article(
        "d", "Die Otter im harbour0 und die Katze der glacier1 sind von dem Eis in das Wasser gesprungen."
    ),
]
SUM = {
    "type": "ensemble",
    "fusion": "sum",
    "parts": [CONFIG, "tfidf", {**CONFIG, "title_weight": 0.5}],
    "weights": [1, 1, 0.2],
}
MODELS: dict[str, dict[str, Any]] = {
    "of three parts": {"type": "article_softmax", "temperature": 0.06, "null_score": 0.3, "model": SUM},
    "with elapsed time": {
        "type": "article_softmax",
        "temperature": 0.06,
        "null_score": 0.3,
        "model": SUM,
        "time": "elapsed_time",
    },
    "by language": {
        "type": "ensemble",
        "fusion": "sum",
        "parts": [CONFIG, {"type": "tfidf", "stop_words": "by_language", "min_words": 3}],
        "languages": ["en"],
        "other_weights": [0.3, 1],
    },
    "with stop words": {
        "type": "ensemble",
        "fusion": "sum",
        "parts": [
            {"type": "tfidf", "stop_words": "none"},
            CONFIG,
            {"type": "bm25", "k1": 0.9, "b": 0.4},
            {"type": "elapsed_time", "weight": 0.1},
        ],
    },
    "standardized": {"type": "ensemble", "parts": [CONFIG, "bm25"], "weights": [1, 0.5]},
    "by distances": {**CONFIG, "similarity": "euclidean"},
}


pytestmark = pytest.mark.usefixtures("small_shards")


def posts_with_oddities() -> list[dict]:
    posts = odd_posts(150)
    posts[80]["text"] = "storm at the bridge, unheard-of"
    del posts[20]["created_at"]
    return posts


def opened(name: str, folder: Path) -> tuple[str, Ranker, Corpus]:
    """A file of posts, and a model and a corpus of them."""
    model = write_model(folder / "model", 1, MODELS[name])
    corpus = Corpus.open(build_of(folder / "corpus", posts_with_oddities(), model))
    return str(folder / "corpus.jsonl"), load(model), corpus


def agree(of_file, of_corpus, tolerance: float = 2e-5) -> None:
    """The same posts with the same scores, in the same order but for scores that are equal to rounding."""
    expected = {ranked.post.id: ranked.score for ranked in of_file}
    assert {ranked.post.id for ranked in of_corpus} == set(expected)
    found = [ranked.score for ranked in of_corpus]
    np.testing.assert_allclose(
        [expected[ranked.post.id] for ranked in of_corpus], found, rtol=1e-5, atol=tolerance
    )
    assert found == sorted(found, reverse=True)
    np.testing.assert_allclose([ranked.score for ranked in of_file], found, rtol=1e-5, atol=tolerance)


@pytest.mark.parametrize("name", MODELS)
def test_models_of_parts(tmp_path, name):
    path, loaded, corpus = opened(name, tmp_path)
    for articles in ([ARTICLES[0]], [ARTICLES[1]], [ARTICLES[2]], ARTICLES):
        agree(loaded.rank(articles, path, copies=True), corpus.rank(articles, None, copies=True))
    of_file = loaded.rank(ARTICLES[0], path, top=7, lang="de", offset=2)
    found = corpus.rank(ARTICLES[0], 7, offset=2, lang="de")
    assert [(r.rank, r.copies) for r in of_file] == [(r.rank, r.copies) for r in found]
    agree(of_file, found)


@pytest.mark.parametrize("name", ["of three parts", "by language", "with stop words"])
def test_explanations_are_the_same_whatever_is_shown(tmp_path, name):
    path, loaded, corpus = opened(name, tmp_path)
    for articles in ([ARTICLES[0]], ARTICLES):
        expected = {r.post.id: r.explanation for r in loaded.rank(articles, path, explain=True, copies=True)}
        for top, offset in ((1, 0), (5, 3), (40, 0)):
            for ranked in corpus.rank(articles, top, offset=offset, explain=True, copies=True):
                own, of_file = ranked.explanation, expected[ranked.post.id]
                assert own is not None
                assert of_file is not None
                assert own.article_words[0][0] == of_file.article_words[0][0]
                for one, other in (
                    (own.article_words, of_file.article_words),
                    (own.post_words, of_file.post_words),
                ):
                    weights = dict(one)
                    for word, weight in other:
                        assert weights.get(word, 0) == pytest.approx(weight, abs=2e-4)


def test_equal_posts_have_equal_scores_and_added_ones_count(tmp_path):
    model = write_model(tmp_path / "model", 1, MODELS["of three parts"])
    posts = [
        {"id": f"p{i}", "text": text} for i, text in enumerate(["harbour1 w1 #GlacierNews", "w7 x"] * 70)
    ]
    Corpus.open(build_of(tmp_path / "corpus", posts[:90], model)).rank(ARTICLES[0])
    add(tmp_path / "corpus", posts[90:])
    found = Corpus.open(tmp_path / "corpus").rank(ARTICLES[0], None, copies=True)
    assert len({ranked.score for ranked in found}) == 2
    assert [r.post.id for r in found[:70]] == sorted((f"p{i}" for i in range(0, 140, 2)), reverse=True)
    agree(load(model).rank(ARTICLES[0], posts, copies=True), found)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """The sample's posts in a corpus of each model that linker brings."""
    pytest.importorskip("transformers")
    path = Path(__file__).parents[2] / "data/posts.jsonl"
    folders = {}
    for name in (BEST, DISTILLED):
        folders[name] = tmp_path_factory.mktemp("shipped") / name
        build_corpus(folders[name], [str(path)], name, PostColumns())
    return path, folders


@pytest.mark.parametrize("name", [BEST, DISTILLED])
def test_the_sample_with_the_models_that_linker_brings(shipped, name):
    path, folders = shipped
    story = json.loads((path.parent / "articles.jsonl").read_text(encoding="utf-8").splitlines()[0])
    article = Article(story["id"], story["text"], story["title"])
    loaded, corpus = load(name), Corpus.open(folders[name])
    # Texts that are encoded together with others differ in the last bits; / 0.06.
    agree(loaded.rank(article, path, copies=True), corpus.rank(article, None, copies=True), 1e-4)
    assert corpus.store.facts.model == name
    once, found = loaded.rank(article, path, top=50), corpus.rank(article, 50)
    assert sum(a.post.id == b.post.id for a, b in zip(once, found)) >= 48


@functools.cache
def distilled():
    return load(DISTILLED)


WORDS = ["storm", "bridge", "otter", "river", "the", "a", "council", "#OtterWatch", "closed", "2031"]


@settings(max_examples=10)
@given(
    texts=st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join), min_size=1, max_size=12
    ),
    article=st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
    offset=st.integers(0, 3),
)
def test_any_posts(tmp_path_factory, texts, article, offset):
    folder = tmp_path_factory.mktemp("any")
    posts = [{"id": f"p{i}", "text": text} for i, text in enumerate(texts)]
    loaded, corpus = distilled(), Corpus.open(build_of(folder / "corpus", posts, DISTILLED))
    path = str(folder / "corpus.jsonl")
    query = Article("q", article)
    agree(loaded.rank(query, path, copies=True), corpus.rank(query, None, copies=True))
    once, found = loaded.rank(query, path, offset=offset), corpus.rank(query, None, offset=offset)
    assert sorted(r.copies for r in once) == sorted(r.copies for r in found)


def test_words_counted_by_a_calibration_give_a_corpus_and_a_file_the_same_scores(tmp_path):
    path, loaded, corpus = opened("of three parts", tmp_path)
    pool = read_posts(path)[::2]
    words = word_statistics(loaded.model.features(), ARTICLES, pool)
    assert words
    scores = loaded.model.score_table(MemoryTable(pool, words), ARTICLES[:2])
    relevance = np.arange(scores.size).reshape(scores.shape) % 3 == 0
    fingerprint = corpus.store.facts.fingerprint
    calibration = calibrate(scores, relevance, fingerprint=fingerprint, words=words)
    of_file = loaded.rank(ARTICLES[0], path, copies=True, calibration=calibration)
    found = corpus.rank(ARTICLES[0], None, copies=True, calibration=calibration)
    agree(of_file, found)
    in_file, in_corpus = (
        np.array([one.probability for one in some], dtype=float) for some in (of_file, found)
    )
    np.testing.assert_allclose(in_file, in_corpus)
    counted = {one.post.id: one.score for one in corpus.rank(ARTICLES[0], None, copies=True)}
    assert any(abs(counted[one.post.id] - one.score) > 1e-4 for one in found)
