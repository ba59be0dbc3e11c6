"""The part of a model that embeds texts; configs of small encoders."""

from typing import Any

from linker.models.model import EncoderModel, Model, embedding_submodel

#: A config of each encoder.
ENCODERS: dict[str, Any] = {
    "star_transformer": {"type": "star_transformer", "num_heads": 2, "head_dim": 8},
    "cnn": {"type": "cnn", "num_filters": 8, "hidden_dim": 16},
    "gru": {"type": "gru", "hidden_dim": 16},
    "bigru": {"type": "bigru", "hidden_dim": 16},
    "mean": "mean",
}


def encoder(model: Model) -> EncoderModel:
    found = embedding_submodel(model)
    assert found is not None
    return found
