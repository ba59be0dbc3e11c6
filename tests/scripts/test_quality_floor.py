"""No change may make a model worse on the sample: floors are pinned in quality_floor.json."""

import json

import pytest

from scripts import quality_floor as floor

PINNED = json.loads(floor.FLOOR.read_text())


# The bundled models are loaded, and score the sample, once.
pytestmark = pytest.mark.xdist_group("quality_floor")


def test_the_sample_is_the_one_that_the_floors_belong_to():
    assert PINNED["sample"] == floor.sample_digest(), "the sample changed: measure again, --allow-regression"


@pytest.mark.parametrize("model", PINNED["models"])
def test_no_model_falls_below_its_floor(model):
    assert floor.shortfalls(floor.measure(model), PINNED["models"][model]) == []


def test_a_worse_model_is_noticed():
    assert floor.shortfalls({"pair AP": 0.3994}, {"pair AP": 0.4}) == ["pair AP: 0.3994 is below 0.4000"]
    assert floor.shortfalls({"pair AP": 0.3996}, {"pair AP": 0.4}) == []


def test_no_bundled_model_scores_pairs_otherwise():
    changed = floor.changed_scores(floor.scores_of_pairs(), floor.pinned_scores())
    assert not changed, (
        f"{len(changed)} scores changed; scripts/quality_floor.py says how to pin them: {changed[:5]}"
    )


def test_a_changed_score_is_named_and_a_rounded_one_is_not():
    old = [{"article": "a", "post": "p", "best": "50.0000"}]
    assert floor.changed_scores([{**old[0], "best": "50.0090"}], old) == []
    assert floor.changed_scores([{**old[0], "best": "50.0200"}], old) == [
        "best, article a, post p: 50.0200 was 50.0000"
    ]
    assert floor.changed_scores([{**old[0], "post": "q"}], old) == [
        "the pairs are others than the pinned ones"
    ]
