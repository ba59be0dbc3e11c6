"""Counts of words that are kept: scores do not depend on the other posts."""

import json
from pathlib import Path

import numpy as np
import pytest

import linker
from linker.calibration.calibrate import calibrate
from linker.calibration.calibration import Calibration
from linker.models.bm25 import BM25Model
from linker.models.features.feature import word_statistics
from linker.models.features.memory_table import MemoryTable
from linker.models.features.word_statistics import WordStatistics
from linker.models.features.words import lexical_words
from linker.models.model import Model
from linker.models.tfidf import TfidfModel
from tests.conftest import toy_posts

TOY = toy_posts()
MODELS = {"tfidf": TfidfModel("by_language", 3), "bm25": BM25Model()}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_scores_by_kept_counts_do_not_depend_on_the_other_posts(model: Model) -> None:
    statistics = word_statistics(model.features(), TOY.articles, TOY.posts[::2])
    together = model.score_table(MemoryTable(TOY.posts, statistics), TOY.articles)
    single = (model.score_table(MemoryTable([post], statistics), TOY.articles) for post in TOY.posts)
    alone = np.concatenate([*single], axis=1)
    one_article = model.score_table(MemoryTable(TOY.posts, statistics), TOY.articles[:1])
    np.testing.assert_allclose(alone, together, rtol=1e-6)
    np.testing.assert_allclose(one_article[0], together[0], rtol=1e-6)
    live = model.score_independently(TOY.articles, TOY.posts[:3])
    assert not np.allclose(live, together[:, :3])
    np.testing.assert_array_equal(live, model.score_independently(TOY.articles, TOY.posts[:3]))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_counts_of_the_pool_itself_give_its_scores(model: Model) -> None:
    posts = [*TOY.posts, *TOY.posts]  # each word is in two posts or more
    expected = model.score_independently(TOY.articles, posts)
    statistics = word_statistics(model.features(), TOY.articles, posts)
    found = model.score_table(MemoryTable(posts).counted_by(statistics), TOY.articles)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_word_statistics_come_back_from_json() -> None:
    found = WordStatistics.of([lexical_words(post.text) for post in TOY.posts])
    assert WordStatistics.from_json(json.loads(json.dumps(found.as_json()))) == found
    assert min(found.frequencies.values()) == 2


@pytest.mark.parametrize("name", ["tfidf", "bm25", "distilled"])
def test_a_calibrated_post_has_one_score_and_probability_in_any_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranker = linker.load(name)
    words = word_statistics(ranker.model.features(), TOY.articles, TOY.posts)
    scores = ranker.model.score_table(MemoryTable(TOY.posts, words), TOY.articles)
    scale = ranker.model.score_scale()
    calibrate(scores, TOY.relevance(), scale=scale, words=words).write(tmp_path / "c.json")
    calibration = Calibration.read(tmp_path / "c.json")
    assert calibration.words == words
    whole = ranker.rank(TOY.articles[0], TOY.posts, calibration=calibration, copies=True)
    expected = {one.post.id: (one.score, one.probability) for one in whole}
    assert "words are as rare as in the" in capsys.readouterr().err
    for some in (TOY.posts[:3], TOY.posts[5:6], TOY.posts[::3]):
        for one in ranker.rank(TOY.articles[0], some, calibration=calibration, copies=True):
            assert (one.score, one.probability) == pytest.approx(expected[one.post.id], rel=1e-6)
