"""Training that begins with the weights of a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError
from linker.config.jsonnet import differing
from linker.models.archive import read_config
from linker.models.model import Model
from linker.models.pretrained import FOLDERS

# Where a model's words and weights came from before is no part of what it is.
_ORIGINS = {"vectors", "path"}
# Nor is how texts are spelled for it, how vectors are computed and what scores are made of them.
_SCORING = {
    "temperature",
    "none",
    "null_score",
    "kinship",
    "neighbor_weight",
    "weights",
    "fusion",
    "title_share",
    "precision",
    "normalization",
}


def begin_with(model: Model, start: str, config: dict[str, Any]) -> None:
    """Give a model the weights (and vocabulary) of a model folder; vector files that the config names are not read.

    Args:
        model: made from `config`, not prepared.
        start: a folder of the same model, or the name of one that linker brings along.
        config: the resolved `model` section.

    Raises:
        ModelError: there is no such folder, or it is damaged.
        ConfigError: it is that of another model.
    """
    folder = FOLDERS.get(start, Path(start))
    for path, theirs, ours in differing(read_config(folder)["model"], config, "model"):
        if not (_ORIGINS | _SCORING) & set(path.split(".")):
            raise ConfigError(
                f"start: {folder} is another model: {path} is {theirs!r} there and {ours!r} here; "
                "make it with the same config"
            )
    model.load_state(folder)
