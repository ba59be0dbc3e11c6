"""Training that begins with the weights of a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linker.errors import ConfigError
from linker.models.folder import read_config
from linker.models.model import Model

# Where a model's words and weights came from before is no part of what it is.
_ORIGINS = ("vectors", "path")


def begin_with(model: Model, folder: Path, config: dict[str, Any]) -> None:
    """Give a model the weights (and vocabulary) of a model folder; vector files that the config names are not read.

    Args:
        model: made from `config`, not prepared.
        folder: of the same model.
        config: the resolved `model` section.

    Raises:
        ModelError: there is no such folder, or it is damaged.
        ConfigError: it is that of another model.
    """
    other = read_config(folder)["model"]
    if differing := _difference(config, other, "model"):
        raise ConfigError(f"start: {folder} is another model: {differing}; make it with the same config")
    model.load_state(folder)


def _difference(ours: Any, theirs: Any, place: str) -> str | None:
    """Where two configs differ first."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        pairs = [
            (key, ours.get(key), theirs.get(key))
            for key in sorted((ours.keys() | theirs.keys()) - set(_ORIGINS))
        ]
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = [(str(i), one, other) for i, (one, other) in enumerate(zip(ours, theirs))]
    else:
        return None if ours == theirs else f"{place} is {theirs!r} there and {ours!r} here"
    found = (_difference(one, other, f"{place}.{key}") for key, one, other in pairs)
    return next(filter(None, found), None)
