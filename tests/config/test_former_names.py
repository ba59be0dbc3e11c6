"""Configs and model folders with former names of components and keys are still read."""

from __future__ import annotations

from typing import Any

import pytest

from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.stopping_rules.stopping_rule import StoppingRule
from linker.common.errors import ConfigError
from linker.config import build, check, resolve
from linker.config.registrable import Registrable
from linker.data.readers.reader import PairReader
from linker.models.model import Model
from linker.training.batch_sampler import BatchSampler
from linker.training.loss_rule import LossRule

TRAINER = "linker.training.trainer:Trainer"


@pytest.mark.parametrize(
    ("target", "former", "current"),
    [
        (QueryStrategy, {"type": "learning", "presumed": 5}, {"pseudo_negatives": 5}),
        (QueryStrategy, {"type": "rocchio", "relevant": 0.5, "other": 0.0}, {"beta": 0.5, "gamma": 0.0}),
        (StoppingRule, {"type": "one_more", "labels": 7}, {"labels": 7}),
        (StoppingRule, {"type": "knee", "at_least": 7}, {"min_labels": 7}),
        (PairReader, {"type": "labelled_texts", "labels": "a.csv"}, {"labels": "a.csv"}),
        (BatchSampler, {"type": "linked_posts", "neighbours": 3}, {"articles_per_story": 3}),
        (BatchSampler, {"type": "class_pairs", "most": 8}, {"max_pairs": 8}),
        (LossRule, {"type": "drop_then_stop", "least_fall": 0.5}, {"min_delta": 0.5}),
        (Model, {"type": "siamese", "title_share": 0.5}, {"title_weight": 0.5}),
        (
            Model,
            {"type": "competing", "model": "bm25", "temperature": 1, "none": 2, "kinship": 3},
            {"null_score": 2.0, "neighbor_weight": 3.0},
        ),
        (
            TRAINER,
            {"clip_norm": 2, "start_share": 0.5, "optimizer": "adam", "schedule": "constant", "batches": {}},
            {"max_grad_norm": 2.0, "initial_weight": 0.5},
        ),
    ],
    ids=str,
)
def test_former_names_are_read(target: Any, former: dict[str, Any], current: dict[str, Any]) -> None:
    resolved = resolve(target, former)
    assert {key: resolved.get(key) for key in current} == current
    assert check(target, resolved) == []


class Tool(Registrable):
    """A family defined at run time."""


@Tool.register("saw")
class Saw(Tool):
    """A component with a renamed key."""

    former_keys = (("teeth_number", "teeth"),)

    def __init__(self, teeth: int = 8) -> None:
        self.teeth = teeth


def test_former_keys_of_live_classes_are_read() -> None:
    assert build(Tool, {"type": "saw", "teeth_number": 9}).teeth == 9


def test_a_key_under_both_names_is_refused() -> None:
    with pytest.raises(ConfigError, match='teeth_number: former name of "teeth", which is set as well'):
        build(Tool, {"type": "saw", "teeth_number": 9, "teeth": 9})
