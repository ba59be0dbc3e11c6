"""Model fingerprints, which guard against mixing embeddings of different models."""

from __future__ import annotations

from linker.common.errors import ModelError
from linker.models.files.resolve import ModelReference


def fingerprint(model: ModelReference) -> str:
    """Return the SHA-256 of a model's config and weights; of the config alone for a model without weights.

    Raises:
        ModelError: if the model has no embeddings.
    """
    if model.kind == "baseline":
        raise ModelError(
            f"{model.given}: has no embeddings to store in a corpus; give a trained model folder"
        )
    return model.fingerprint
