"""Resolve what a user calls a model: a name, a model folder, or a config."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from linker.common.errors import ModelError
from linker.common.files import real_path, sha256_of
from linker.config import build, load_config, resolve
from linker.config.recipes import find_config
from linker.models.files.archive import CONFIG, load_model, read_config, scoring_config
from linker.models.files.hub import download_model, is_hub_name
from linker.models.model import Model
from linker.models.pretrained import FOLDERS
from linker.models.score_scale import ScoreScale

BASELINES = ("bm25", "tfidf")
"""Lexical models, which need no training."""

_CONFIGS = (".jsonnet", ".json")
_SCALE = ("score_center", "score_width")


@dataclass(frozen=True)
class ModelReference:
    """A model that exists and is not loaded yet.

    Attributes:
        given: `bm25`, `tfidf`, the path of a model folder or config, or `user/model@commit` on a Hugging Face hub.
        name: its name in tables, messages and results.
        kind: what `given` is; a model of a hub is a folder in its cache.
        cached: that folder; None: the model is not of a hub.
    """

    given: str
    name: str
    kind: Literal["baseline", "config", "folder"]
    cached: Path | None = None

    @property
    def folder(self) -> Path:
        """The model folder, if `kind` is `folder`."""
        return self.cached or Path(self.given)

    @property
    def lasting_name(self) -> str:
        """A name that finds the same model from every working folder: of a hub, one with its commit."""
        if self.kind == "baseline" or self.cached is not None:
            return self.given
        bundled = {str(path): name for name, path in FOLDERS.items()}
        return bundled.get(self.given) or str(real_path(self.given))

    def pinned(self, typed: str) -> str:
        """Return the name that finds the same model later: `typed`, or of a hub the name with its commit."""
        return typed if self.cached is None else self.given

    @property
    def file_name(self) -> str:
        """The name without characters that file names and TREC tags cannot contain."""
        return "_".join(self.name.replace("/", "-").replace("\\", "-").split())

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the model's config, weights and graphs; of the config alone for a config; a baseline's name.

        The config has the precision, and a graph the ranges that activations are quantized to.

        Raises:
            ConfigError: if the config is invalid.
            ModelError: if the model folder is damaged.
        """
        if self.kind == "baseline":
            return self.given
        folder = self.folder
        config = load_config(self.given) if self.kind == "config" else read_config(folder)["model"]
        digest = sha256(json.dumps(_without_scale(config), sort_keys=True, default=str).encode())
        for path in sorted(folder.rglob("*")) if self.kind == "folder" else ():
            if path.suffix in (".safetensors", ".txt", ".onnx") and not path.name.startswith("last"):
                digest.update(path.relative_to(folder).as_posix().encode())
                digest.update(sha256_of(path).encode())
        return digest.hexdigest()

    def score_scale(self) -> ScoreScale:
        """Return the scale of the model's scores, without reading its weights.

        Raises:
            ConfigError: if the config is invalid.
            ModelError: if the model folder is damaged.
        """
        if self.kind != "folder":
            return self.load().score_scale()
        return build(Model, scoring_config(read_config(self.folder)["model"])).score_scale()

    def load(self) -> Model:
        """Load the model, ready to score.

        Raises:
            ConfigError: if the config is invalid.
            ModelError: if the model folder is damaged.
        """
        if self.kind == "folder":
            return load_model(self.folder, for_scoring=True)
        return build(Model, self.given if self.kind == "baseline" else load_config(self.given))


def resolve_model(given: str | Path, connect: bool = True) -> ModelReference:
    """Find a model without loading it; one of a hub is downloaded unless it is in the local cache.

    Args:
        given: `best`, `distilled`, `bm25`, `tfidf`, a model folder, a Jsonnet file with the config of a model that
            needs no training, or `user/model` or `user/model@revision` on a Hugging Face hub.
        connect: connect to the hub if `given` is a name there; else only the cache is looked at.

    Raises:
        ModelError: if it is none of these, or cannot be downloaded.
        ConfigError: if the config is invalid; all faults are listed.
    """
    text = str(FOLDERS.get(str(given), given))
    if is_hub_name(text):
        pinned, folder = download_model(text, connect)
        return ModelReference(pinned, pinned.partition("@")[0].partition("/")[2], "folder", folder)
    path = Path(text)
    name = path.stem if path.suffix in _CONFIGS else path.name or real_path(path).name
    return ModelReference(text, name, _kind(text))


def resolve_models(given: Sequence[str]) -> list[ModelReference]:
    """Find the models of an evaluation without loading them: the given ones, then the baselines not among them.

    A model's name is the last part of its path, or the whole path where two models would have the same name.

    Raises:
        ModelError: if one does not exist or is given twice.
        ConfigError: if a config is invalid.
    """
    models = [resolve_model(text) for text in given]
    if twice := [text for text, times in Counter(model.given for model in models).items() if times > 1]:
        raise ModelError(f"{twice[0]}: given twice; give each model once")
    models += [resolve_model(name) for name in BASELINES if name not in {model.given for model in models}]
    times = Counter(model.name for model in models)
    return [model if times[model.name] == 1 else replace(model, name=model.given) for model in models]


def baseline_name(models: Sequence[ModelReference], wanted: str | None) -> str:
    """Return the name of the model that the others are compared with: the first one unless `wanted` names another.

    Raises:
        ModelError: if `wanted` is not among the models.
    """
    if wanted is None:
        return models[0].name
    for model in models:
        if wanted in (model.given, model.name) or (model.cached and model.given.startswith(f"{wanted}@")):
            return model.name
    raise ModelError(f"--baseline {wanted}: not among the models ({', '.join(m.name for m in models)})")


def _kind(given: str) -> Literal["baseline", "config", "folder"]:
    if given in BASELINES:
        return "baseline"
    path = Path(given)
    if path.suffix in _CONFIGS and find_config(path).is_file():
        config = load_config(given)
        if "type" not in config and "model" in config:
            raise ModelError(
                f"{given}: a training config, not a model; `linker train {given} --out FOLDER` trains the model, "
                "then give its FOLDER"
            )
        resolve(Model, config)
        return "config"
    # Unlike methods of `Path`, these take any text, such as that of an article.
    if os.path.isfile(path / CONFIG):
        return "folder"
    is_folder = os.path.isdir(path)
    problem = f"not a model folder, it has no {CONFIG}" if is_folder else "model not found"
    on_hub = not is_folder and is_hub_name(f"{given}@main")
    raise ModelError(
        f"{given}: {problem}; a model is a folder written by `linker train`, a .jsonnet file with the "
        f"config of a model, {', '.join(FOLDERS)}, {', '.join(BASELINES)}, or USER/MODEL on a Hugging Face hub"
        + (f", where {given}@main would be looked up" if on_hub else "")
    )


def _without_scale(config: Any) -> Any:
    """Return a config without the scale of shown scores, which changes no raw score."""
    if isinstance(config, list):
        return [_without_scale(item) for item in config]
    if not isinstance(config, dict):
        return config
    return {key: _without_scale(value) for key, value in config.items() if key not in _SCALE}
