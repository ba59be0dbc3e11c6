"""Model folders: config, weights, metrics and model card of one model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError, ModelError
from linker.common.files import atomic_write, write_json
from linker.config import build
from linker.models.model import Model
from linker.models.scoring_config import scoring_config
from linker.version import __version__

CONFIG, METRICS, CARD = "config.json", "metrics.json", "README.md"
FORMAT = 1


def save_model(
    model: Model, folder: Path, config: dict[str, Any], metrics: dict[str, Any], card: str
) -> None:
    """Write a model folder that loads on any machine.

    Args:
        model: a prepared model.
        folder: the folder, created if missing.
        config: the resolved config; its key `model` rebuilds `model`.
        metrics: measured values that JSON can hold.
        card: the model card, Markdown.
    """
    model.save_state(folder)
    write_json(folder / METRICS, metrics)
    with atomic_write(folder / CARD) as file:
        file.write(card)
    # Last, so that a folder with a config is complete.
    write_json(folder / CONFIG, {"format": FORMAT, "linker_version": __version__, **config})


def read_config(path: str | Path) -> dict[str, Any]:
    """Read the config of a model folder; its key `model` describes the model.

    Raises:
        ModelError: if the folder is missing, incomplete, damaged, or written by a newer version.
    """
    folder = Path(path)
    file = folder / CONFIG
    if not folder.is_dir():
        raise ModelError(
            f"{folder}: model folder not found; train one with `linker train CONFIG --out {folder}`"
        )
    if not file.is_file():
        raise ModelError(f"{folder}: not a model folder, {CONFIG} is missing")
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ModelError(f"{file}: cannot be read as JSON ({error}); copy the model folder again") from error
    if not isinstance(config, dict) or not isinstance(config.get("format"), int) or "model" not in config:
        raise ModelError(f"{file}: not the config of a linker model")
    if config["format"] > FORMAT:
        raise ModelError(
            f"{folder}: written by linker {config.get('linker_version')} in a newer format "
            f"than linker {__version__} reads; upgrade linker"
        )
    return config


def load_model(path: str | Path, for_scoring: bool = False) -> Model:
    """Load a model folder.

    Args:
        path: the folder.
        for_scoring: replace components that need torch by equivalents without it where these exist; for callers that
            neither train the model nor inspect its modules.

    Raises:
        ModelError: if the folder is missing, incomplete, damaged, or written by a newer version.
    """
    folder = Path(path)
    config = read_config(folder)
    try:
        model = build(Model, scoring_config(config["model"]) if for_scoring else config["model"])
    except ConfigError as error:
        raise ModelError(f"{folder / CONFIG}: {error}") from error
    model.load_state(folder)
    return model
