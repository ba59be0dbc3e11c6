"""Numbers that make no sense for a component are refused by name, before anything is computed with them."""

from typing import Any

import pytest

from linker.common.errors import ConfigError
from linker.config import build
from linker.models.model import Model
from linker.modules.embedders.embedder import Embedder
from linker.modules.encoders.encoder import Encoder
from linker.modules.losses.loss import Loss
from linker.training.experiment import Experiment

RIVALS = {"temperature": 1, "null_score": 0, "model": "tfidf"}
REFUSED: dict[type, list[tuple[dict[str, Any], str]]] = {
    Encoder: [
        ({"type": "star_transformer", "num_heads": 0}, "num_heads is 0, but must be at least 1"),
        ({"type": "star_transformer", "head_dim": -3}, "head_dim is -3, but must be at least 1"),
        ({"type": "star_transformer", "cycles": 0}, "cycles is 0, but must be at least 1"),
        ({"type": "star_transformer", "window": -1}, "window is -1, but must be at least 0"),
        ({"type": "star_transformer", "dropout": 2.0}, "dropout is 2.0, but must be between 0 and 1"),
        ({"type": "cnn", "num_filters": 0}, "num_filters is 0, but must be at least 1"),
        ({"type": "cnn", "hidden_dim": 0}, "hidden_dim is 0, but must be at least 1"),
        ({"type": "cnn", "ngram_sizes": []}, r"ngram_sizes: \[\] is empty or has a number below 1"),
        ({"type": "cnn", "ngram_sizes": [2, 0]}, r"ngram_sizes: \[2, 0\] is empty or has a number below 1"),
        ({"type": "gru", "hidden_dim": 0}, "hidden_dim is 0, but must be at least 1"),
        ({"type": "bigru", "hidden_dim": -2}, "hidden_dim is -2, but must be at least 1"),
    ],
    Loss: [
        ({"type": "triplet_margin", "margin": -0.1}, "margin is -0.1, but must be at least 0"),
        ({"type": "nt_xent", "temperature": 0.0}, "temperature is 0.0, but must be above 0"),
        ({"type": "multi_similarity", "alpha": 0.0}, "alpha is 0.0, but must be above 0"),
        ({"type": "multi_similarity", "beta": -5.0}, "beta is -5.0, but must be above 0"),
    ],
    Embedder: [
        ({"type": "word_vectors", "trainable": True, "dim": 0}, "dim is 0, but must be at least 1"),
        ({"type": "word_vectors", "trainable": True, "buckets": 0}, "buckets is 0, but must be at least 1"),
    ],
    Model: [
        ({"type": "article_softmax", **RIVALS, "temperature": 0}, r"temperature is 0\.0, but"),
        ({"type": "article_softmax", **RIVALS, "neighbor_weight": -0.1}, "neighbor_weight"),
        ({"type": "bm25", "k1": -1.0}, "k1 is -1.0, but must be at least 0"),
        ({"type": "bm25", "b": 2.0}, "b is 2.0, but must be between 0 and 1"),
        (
            {"type": "siamese", "encoder": "mean", "embedder": "word_vectors", "min_count": 0},
            "min_count is 0",
        ),
        (
            {"type": "siamese", "encoder": "mean", "embedder": "word_vectors", "max_article_tokens": 0},
            "max_article_tokens is 0",
        ),
        (
            {"type": "siamese", "encoder": "mean", "embedder": "word_vectors", "max_post_tokens": -5},
            "max_post_tokens is -5",
        ),
    ],
}


@pytest.mark.parametrize(
    ("family", "config", "message"), [(family, *row) for family in REFUSED for row in REFUSED[family]]
)
def test_settings_that_make_no_sense(family, config, message):
    with pytest.raises(ConfigError, match=message):
        build(family, config, input_dim=4, vocabulary_size=3)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seeds_that_numpy_refuses(seed):
    unused: Any = None
    with pytest.raises(ValueError, match=f"seed is {seed}, but must be between 0 and"):
        Experiment(unused, unused, unused, unused, unused, seed=seed)
