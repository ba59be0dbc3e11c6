"""Training that starts from the weights of a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError
from linker.config import resolve
from linker.config.jsonnet import diff_configs
from linker.models.files.archive import check_manifest, read_config
from linker.models.files.hub import is_hub_name
from linker.models.files.resolve import resolve_model
from linker.models.model import Model, all_submodels
from linker.models.pretrained import FOLDERS


def load_initial_weights(model: Model, start: str, config: dict[str, Any]) -> None:
    """Load the weights (and vocabulary) of a model folder; vector files that the config names are not read.

    Args:
        model: built from `config`, not prepared.
        start: a folder of the same model, or the name of a bundled one or of one on a Hugging Face hub. The two may
            differ in keys that do not affect the weights (see `Model.keys_without_weights`).
        config: the resolved `model` section.

    Raises:
        ModelError: if the folder is not found, or is damaged.
        ConfigError: if it contains another model.
    """
    folder = FOLDERS.get(start) or (resolve_model(start).folder if is_hub_name(start) else Path(start))
    harmless = set[str]().union(*(part.keys_without_weights for part in all_submodels(model)))
    for path, there, here in diff_configs(resolve(Model, read_config(folder)["model"]), config, "model"):
        if harmless.isdisjoint(path.split(".")):
            raise ConfigError(
                f"start: {folder} is another model: {path} is {there!r} there and {here!r} here; "
                "use the same model config"
            )
    check_manifest(folder)
    model.load_state(folder)
