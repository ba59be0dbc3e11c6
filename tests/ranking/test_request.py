"""The options of a ranking: the same for posts in memory and in a corpus, checked before any work."""

import inspect
import math
from dataclasses import fields

import numpy as np
import pytest

import linker
from linker.calibration.calibrate import calibrate
from linker.common.errors import LinkerError
from linker.ranking.request import RankOptions, RankRequest
from tests.conftest import toy_posts

TOY = toy_posts()
ARTICLE = TOY.articles[0]
LABELS = {post.id: ARTICLE.id in post.article_ids for post in TOY.posts[::2]}


def test_a_ranker_and_a_corpus_take_the_same_options() -> None:
    assert ["top", *RankOptions.__annotations__] == [field.name for field in fields(RankRequest)]
    pytest.importorskip("lance")
    of_corpus, of_ranker = (inspect.signature(cls.rank).parameters for cls in (linker.Corpus, linker.Ranker))
    assert str(of_corpus["options"].annotation) == "Unpack[RankOptions]"
    assert list(of_ranker) == ["self", "article", "posts", "options"]


def test_labels_give_probabilities_and_a_target_cuts() -> None:
    ranker = linker.load("bm25")
    everything = ranker.rank(ARTICLE, TOY.posts, labels=LABELS)
    expected = ranker.thresholds(ARTICLE, TOY.posts, LABELS)
    assert everything.threshold is None
    assert everything.thresholds is not None
    assert everything.thresholds.basis == expected.basis
    raw = np.sort(ranker.model.score_independently([ARTICLE], TOY.posts)[0])[::-1]
    assert [ranked.probability for ranked in everything] == expected.of_raw(raw).tolist()
    for name, chosen in (("recall", expected.for_recall(0.5)), ("precision", expected.for_precision(0.5))):
        kept = ranker.rank(ARTICLE, TOY.posts, labels=LABELS, **{name: 0.5}, copies=True)  # type: ignore[arg-type]
        assert kept.threshold == chosen
        assert len(kept) == chosen.kept
        assert min(ranked.score for ranked in kept) >= chosen.score
    assert ranker.rank(ARTICLE, TOY.posts, top=3)[0].probability is None
    assert everything[:2].thresholds is everything.thresholds
    fits = calibrate(ranker.score(TOY.articles, TOY.posts), TOY.relevance())
    by_dev = ranker.thresholds(ARTICLE, TOY.posts, calibration=fits)
    assert 0 < by_dev.at(everything[0].score).recall.value < 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threshold": math.nan}, "nan: no score can be compared"),
        ({"offset": -1}, "offset -1"),
        ({"precision": 0.5, "recall": 0.5, "labels": {}}, "both set the threshold"),
        ({"precision": 0.5}, "no relevance labels"),
        ({"recall": 1.5, "labels": {}}, "above 0 and up to 1"),
    ],
)
def test_contradictions_are_refused(options: dict, words: str) -> None:
    with pytest.raises(LinkerError, match=words):
        RankRequest(**options)
    with pytest.raises(LinkerError, match=words):
        linker.load("bm25").rank(ARTICLE, TOY.posts, **options)


def test_published_dates_an_article_and_without_a_date_none_has_a_share() -> None:
    ranker = linker.load("best")
    article = linker.Article("a", "Ferry crews voted to strike over night shifts.", "Ferry strike")
    posts = [
        {"id": "1", "text": "the ferry crews strike", "created_at": "2024-01-17"},
        {"id": "2", "text": "the ferry crews strike over shifts", "created_at": "2019-01-17"},
    ]
    dated = ranker.rank(article, posts, explain=True, published="2024-01-16")
    assert [ranked.post.id for ranked in dated] == ["1", "2"]
    assert dated[0].explanation is not None
    assert "date" in dated[0].explanation.shares
    undated = ranker.rank(article, posts, explain=True)
    assert undated[0].explanation is not None
    assert "date" not in undated[0].explanation.shares
