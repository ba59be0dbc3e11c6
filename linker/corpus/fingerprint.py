"""Model fingerprints, which guard against mixing embeddings of different models."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from linker.common.errors import ModelError
from linker.common.files import sha256_of
from linker.config import load_config
from linker.models.archive import CONFIG
from linker.models.resolve import Contender


def fingerprint(contender: Contender) -> str:
    """Return the SHA-256 of a model's config and weights; of the config alone for a model without weights.

    Raises:
        ModelError: if the model has no embeddings.
    """
    digest = sha256()
    if contender.kind == "baseline":
        raise ModelError(
            f"{contender.given}: gives no vectors that a corpus could keep; give a trained model folder"
        )
    if contender.kind == "config":
        digest.update(json.dumps(load_config(contender.given), sort_keys=True, default=str).encode())
        return digest.hexdigest()
    folder = Path(contender.given)
    model = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["model"]
    digest.update(json.dumps(model, sort_keys=True).encode())
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".safetensors", ".txt") and not path.name.startswith("last"):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(sha256_of(path).encode())
    return digest.hexdigest()
