"""Fingerprint of the model that encoded a corpus; embeddings of two models must never be compared."""

from __future__ import annotations

from linker.common.errors import ModelError
from linker.models.resolve import ModelReference


def fingerprint(model: ModelReference) -> str:
    """Return the model's fingerprint.

    Raises:
        ModelError: if the model has no embeddings.
    """
    if model.kind == "baseline":
        raise ModelError(
            f"{model.given}: gives no vectors that a corpus could keep; give a trained model folder"
        )
    return model.fingerprint
