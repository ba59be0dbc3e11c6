"""The scale of scores: 0 to 100, rising, with an exact inverse; and the scale of every model."""

import json
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.common.errors import DataError
from linker.config import build
from linker.models.files.resolve import resolve_model
from linker.models.model import Model
from linker.models.pretrained import BEST, DISTILLED
from linker.models.score_scale import UNSCALED, Kind, ScoreScale

FLOAT32 = st.floats(-1e6, 1e6, width=32)
SCALES = [
    ScoreScale("logistic", 4, 3, dates=True),
    ScoreScale("standardized"),
    ScoreScale("similarity", width=2.2),
    ScoreScale("distance"),
    ScoreScale("sum", width=0.4),
    ScoreScale("any"),
]


@pytest.mark.parametrize(
    ("scale", "raw", "scores"),
    [
        (ScoreScale("logistic", 4, 3), [4, 4 + 3 * np.log(3), 4 - 3 * np.log(3)], [50, 75, 25]),
        (ScoreScale("standardized"), [0, np.log(9)], [50, 90]),
        (ScoreScale("similarity"), [-0.5, 0, 0.25, 1, 1.0000001], [0, 0, 25, 100, 100]),
        (ScoreScale("similarity", width=2), [0.5, 2], [25, 100]),
        (ScoreScale("distance"), [0, -1, -3], [100, 50, 25]),
        (ScoreScale("sum", width=0.4), [0, 0.4, 1.2], [0, 50, 75]),
        (ScoreScale("any"), [-3, 0, 1, 3], [12.5, 50, 75, 87.5]),
        (UNSCALED, [-3, 7.5], [-3, 7.5]),
    ],
)
def test_scores_by_hand(scale: ScoreScale, raw: list[float], scores: list[float]) -> None:
    assert scale(raw).tolist() == pytest.approx(scores)


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.kind)
@given(raw=st.lists(FLOAT32, min_size=2, max_size=20))
def test_scores_rise_from_0_to_100(scale: ScoreScale, raw: list[float]) -> None:
    scores = scale(np.sort(np.array(raw, dtype=np.float32)))
    assert (np.diff(scores) >= 0).all()
    assert scores.min() >= 0
    assert scores.max() <= 100


@given(low=FLOAT32, step=st.floats(1e-3, 10))
def test_log_odds_that_differ_have_scores_that_differ(low: float, step: float) -> None:
    low = low % 60 - 40
    assert ScoreScale("logistic", 4, 3)([low + step]) > ScoreScale("logistic", 4, 3)([low])


@pytest.mark.parametrize("scale", [*SCALES, UNSCALED], ids=lambda scale: scale.kind)
@given(raw=st.lists(FLOAT32, min_size=1, max_size=20))
def test_the_score_of_a_post_as_threshold_keeps_it_and_drops_all_below(
    scale: ScoreScale, raw: list[float]
) -> None:
    posts = np.array(raw, dtype=np.float32)
    thresholds = scale(posts)
    for score, least in zip(thresholds, scale.least_raw(thresholds)):
        assert ((posts >= least) == (thresholds >= score)).all()
        below = np.nextafter(least, np.float32(-np.inf))
        assert not np.isfinite(below) or float(scale(below)) < score


def test_thresholds_at_the_ends_of_the_scale() -> None:
    scale = ScoreScale("similarity")
    assert scale.least_raw([-1, 0, 100, 100.1]).tolist() == [-np.inf, -np.inf, 1, np.inf]
    assert float(scale.least_raw(50)) == 0.5


def test_a_scale_comes_back_from_json() -> None:
    for scale in SCALES:
        assert ScoreScale.from_json(json.loads(json.dumps(scale.as_json()))) == scale
    values: list[Any] = [
        {},
        None,
        {**UNSCALED.as_json(), "kind": "new"},
        {**UNSCALED.as_json(), "width": 0},
        {**UNSCALED.as_json(), "center": "x"},
    ]
    for wrong in values:
        with pytest.raises(DataError, match="scale of scores"):
            ScoreScale.from_json(wrong)


def test_every_kind_has_a_sentence_and_names_dates_only_where_they_count() -> None:
    for kind in get_args(Kind):
        assert ScoreScale(kind).sentence.startswith("score: 0 to 100, ")
        assert "date" not in ScoreScale(kind).sentence
    assert "text and date fit" in ScoreScale("logistic", dates=True).sentence


@pytest.mark.parametrize(
    ("config", "scale"),
    [
        ("tfidf", ScoreScale("similarity")),
        ("bm25", ScoreScale("sum", width=0.4)),
        ({"type": "ensemble", "parts": ["tfidf", "bm25"]}, ScoreScale("standardized")),
        ({"type": "ensemble", "parts": ["tfidf", "bm25"], "fusion": "sum"}, ScoreScale("any")),
        (
            {"type": "ensemble", "parts": ["tfidf", "tfidf"], "weights": [2, 0.5], "fusion": "sum"},
            ScoreScale("similarity", width=2.5),
        ),
        (
            {"type": "article_softmax", "model": "tfidf", "temperature": 0.1, "null_score": 0.3},
            ScoreScale("logistic"),
        ),
        (
            {
                "type": "article_softmax", "model": "tfidf", "temperature": 0.1, "null_score": 0.3,
                "time": "elapsed_time", "score_center": 2, "score_width": 0.5,
            },
            ScoreScale("logistic", 2, 0.5, dates=True),
        ),
    ],
)  # fmt: skip
def test_the_scale_of_a_model(config: Any, scale: ScoreScale) -> None:
    assert build(Model, config).score_scale() == scale


@pytest.mark.parametrize("name", [BEST, DISTILLED, "bm25"])
def test_the_scale_is_known_without_weights(name: str) -> None:
    reference = resolve_model(name)
    assert reference.score_scale() == reference.load().score_scale()


def test_the_scale_is_not_part_of_the_fingerprint(tmp_path) -> None:
    plain = {"type": "article_softmax", "model": "tfidf", "temperature": 0.1, "null_score": 0.3}
    prints = []
    for number, keys in enumerate(({}, {"score_center": 2.0, "score_width": 3.0}, {"null_score": 0.4})):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps({**plain, **keys}))
        prints.append(resolve_model(path).fingerprint)
    assert prints[0] == prints[1] != prints[2]
