"""Plain SGD and the rule that ends a run by its loss; the recipe trains what its losses ask for."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from linker.config import build, load_config
from linker.contrib.deboom2016.loss_rule import DropThenStop
from linker.contrib.deboom2016.word_weights import WordWeightsEncoder
from linker.models.files.archive import load_model
from linker.models.siamese.word_siamese import WordSiamese
from linker.training.experiment import Experiment
from linker.training.optimizers import SGD


def test_the_l2_term_is_that_of_a_loss_with_lambda_times_the_squares():
    weight = nn.Parameter(torch.tensor([1.0, -2.0]))
    by_hand = weight.detach() - 0.1 * (torch.tensor([3.0, 4.0]) + 2 * 0.01 * weight.detach())
    optimizer = SGD(lr=0.1, l2=0.01).build([weight])
    (weight * torch.tensor([3.0, 4.0])).sum().backward()
    optimizer.step()
    torch.testing.assert_close(weight.detach(), by_hand)


@pytest.mark.parametrize(
    ("losses", "factor", "stop"),
    [
        ([], 1.0, False),
        ([0.9], 1.0, False),
        ([0.9, 0.8, 0.7999], 1.0, False),  # hardly falls, but at the first rate
        ([0.9, 0.8, 0.81], 0.1, False),
        ([0.9, 0.8, 0.81, 0.7], 0.1, False),
        ([0.9, 0.8, 0.81, 0.7, 0.6999], 0.1, True),
        ([0.9, 0.8, 0.81, 0.82], 0.1, True),
    ],
)
def test_the_rate_is_lowered_once_and_then_the_run_ends_when_the_loss_stays(losses, factor, stop):
    assert DropThenStop().after(losses) == (factor, stop)


@pytest.mark.parametrize(
    ("loss", "rate"), [({"type": "median_based", "kappa": 10}, 0.3), ({"type": "contrastive_based"}, 0.3)]
)
def test_the_recipe_learns_that_rare_words_tell_more(tmp_path, loss, rate):
    """Articles with rare words of their own among frequent ones that say nothing: weights must fall with the idf."""
    rng = random.Random(0)
    frequent = [f"f{chr(97 + k)}" for k in range(12)]
    letters = "abcdefghijklmnopqrstuvwxyz"
    rare = [[f"r{a}{letters[k]}" for k in range(6)] for a in letters + "áéíóú"]
    articles = tmp_path / "articles.jsonl"
    with articles.open("w") as file:
        for i, own in enumerate(rare):
            words = [rng.choice(own) if rng.random() < 0.3 else rng.choice(frequent) for _ in range(400)]
            file.write(json.dumps({"id": f"n{i}", "text": " ".join(words)}) + "\n")
    numbers = np.random.default_rng(0)
    vectors = {word: numbers.normal(size=300) * 0.1 for word in frequent}
    for own in rare:
        topic = numbers.normal(size=300) * 0.1
        vectors |= {word: topic + numbers.normal(size=300) * 0.02 for word in own}
    with (tmp_path / "vectors.txt").open("w") as file:
        for word, vector in vectors.items():
            file.write(f"{word} {' '.join(f'{x:.4f}' for x in vector)}\n")
    config = load_config(
        Path(__file__).parents[3] / "configs" / "papers" / "deboom2016.jsonnet",
        overrides=[
            f"loss={json.dumps(loss)}",
            "trainer.epochs=10",
            f"trainer.optimizer.lr={rate}",
            f"data.reader.articles={articles}",
            f"model.vectors.source={tmp_path / 'vectors.txt'}",
        ],
    )
    result = build(Experiment, config).run(tmp_path / "run")
    model = load_model(tmp_path / "run")
    assert isinstance(model, WordSiamese)
    assert isinstance(model.encoder, WordWeightsEncoder)
    weights = model.encoder.weights.detach()
    assert weights[:8].mean() > weights[-8:].mean() + 0.05
    assert result.epochs[result.best_epoch - 1]["AUC"] > 0.7
