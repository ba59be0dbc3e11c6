"""No change may make a model worse on the sample: floors are pinned in quality_floor.json."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("quality_floor", ROOT / "scripts" / "quality_floor.py")
assert spec is not None
assert spec.loader is not None
floor = importlib.util.module_from_spec(spec)
spec.loader.exec_module(floor)
PINNED = json.loads(floor.FLOOR.read_text())


def test_the_sample_is_the_one_that_the_floors_belong_to():
    assert PINNED["sample"] == floor.sample_digest(), "the sample changed: measure again, --allow-regression"


@pytest.mark.parametrize("model", PINNED["models"])
def test_no_model_falls_below_its_floor(model):
    assert floor.shortfalls(floor.measure(model), PINNED["models"][model]) == []


def test_a_worse_model_is_noticed():
    assert floor.shortfalls({"mAP": 0.3994}, {"mAP": 0.4}) == ["mAP: 0.3994 is below 0.4000"]
    assert floor.shortfalls({"mAP": 0.3996}, {"mAP": 0.4}) == []
