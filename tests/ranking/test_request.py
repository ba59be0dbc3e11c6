"""The options of a ranking: the same for posts in memory and in a corpus, checked before any work."""

import inspect
import math
from dataclasses import fields
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
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
    assert everything.threshold is None
    expected = everything.thresholds
    assert expected is not None
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
    by_dev = ranker.rank(ARTICLE, TOY.posts, calibration=fits).thresholds
    assert by_dev is not None
    assert 0 < by_dev.at(everything[0].score).recall.value < 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threshold": math.nan}, "nan: no score can be compared"),
        ({"offset": -1}, "offset -1"),
        ({"precision": 0.5, "recall": 0.5, "labels": {}}, "both set the threshold"),
        ({"precision": 0.5}, "no relevance labels"),
        ({"recall": 1.5, "labels": {}}, "above 0 and up to 1"),
        ({"top": "3", "explain": pd.Series([1])}, "top is a str; give a whole .*; explain is a pandas"),
        ({"top": -1}, "top -1"),
        ({"threshold": "50"}, "threshold is a str; give a number"),
        ({"calibration": pd.DataFrame()}, "calibration is a pandas.DataFrame; give a Calibration"),
        ({"since": pd.NaT}, "since: .* is not a date"),
        ({"lang": [5]}, "lang is a .*; give"),
        ({"langs": "en"}, r"unknown options: langs; did you mean lang\?"),
        ({"labels": b"x"}, "labels is bytes; give a dict or Series"),
        ({"labels": [True]}, "labels is a list of 1 labels for .* posts; give one per post"),
    ],
)
def test_contradictions_are_refused(options: dict, words: str) -> None:
    if "labels is" not in words and "unknown" not in words:  # labels are read with the posts
        with pytest.raises(LinkerError, match=words):
            RankRequest(**options)
    with pytest.raises(LinkerError, match=words):
        linker.load("bm25").rank(ARTICLE, TOY.posts, **options)


def test_labels_by_id_by_row_and_in_order_are_the_same() -> None:
    texts = ["an otter in the river", "what a goal", "an otter at the mill", "rain"]
    frame = pd.DataFrame(
        {"id": [5, 3, 9, 8], "text": texts, "label": ["yes", "no", "yes", None]}, index=[7, 1, 2, 4]
    )
    ranker, by_id = linker.load("bm25"), {5: "yes", 3: "no", "9": "yes"}
    query = "An otter in the river, then an otter at the mill."
    expected = ranker.rank(query, frame, labels=by_id)
    assert [ranked.post.id for ranked in expected if ranked.probability == 1] == ["9", "5"]
    column = frame["label"]
    for labels in (
        pd.Series(by_id), pd.Series({5.0: 1, 3.0: 0, 9.0: 1}), column, column.dropna()[::-1], list(column),
        pl.Series(["yes", "no", "yes", None]), np.array([1, 0, 1, np.nan]), frame[["id", "label"]],
    ):  # fmt: skip
        assert ranker.rank(query, frame, labels=labels) == expected


def test_conditions_take_dates_and_languages_of_every_type() -> None:
    posts = [{"id": n, "text": f"otter {n}", "lang": "de", "created_at": f"2024-05-0{n}"} for n in (1, 2, 3)]
    days: list[Any] = [
        "2024-05-02",
        date(2024, 5, 2),
        pd.Timestamp("2024-05-02"),
        np.datetime64("2024-05-02"),
    ]
    for day in days:
        for lang in ("de", ["German"], pd.Series(["de", "en"])):
            ranking = linker.load("bm25").rank("An otter.", posts, since=day, until="2024-05-03", lang=lang)
            assert [ranked.post.id for ranked in ranking] == ["2"]


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
    assert "date" in dated[0].explanation.points
    for ignored in (
        ranker.rank(article, posts, explain=True),
        ranker.rank(article, posts, explain=True, published="2024-01-16", ignore_dates=True),
    ):
        assert all(one.explanation is not None and "date" not in one.explanation.points for one in ignored)
