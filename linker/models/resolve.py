"""The models that are to be compared, by the words that a user gives for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from linker.common.errors import ModelError
from linker.config import build, load_config, resolve
from linker.models.archive import CONFIG, load_model
from linker.models.model import Model
from linker.models.pretrained import FOLDERS

BASELINES = ("bm25", "tfidf")
"""Lexical models that stand beside every other."""


@dataclass(frozen=True)
class Contender:
    """A model to be evaluated: what the user gave for it, and its name in tables and files."""

    given: str
    name: str
    kind: Literal["baseline", "config", "folder"]

    @property
    def file_name(self) -> str:
        """The name without what file names and TREC tags cannot hold."""
        return "_".join(self.name.replace("/", "-").replace("\\", "-").split())

    def load(self) -> Model:
        """The model, ready to score.

        Raises:
            ConfigError: a wrong config.
            ModelError: a damaged model folder.
        """
        if self.kind == "folder":
            return load_model(self.given, for_scoring=True)
        return build(Model, self.given if self.kind == "baseline" else load_config(self.given))


def contenders(given: Sequence[str]) -> list[Contender]:
    """The given models and, after them, the baselines that are not among them; nothing is loaded yet.

    A model is `bm25`, `tfidf`, `best` or `distilled` (which linker brings along), a model folder, or a Jsonnet file
    with the config of a model that needs no training. Its name is the last part of its path, or the whole path where
    two would have the same name.

    Raises:
        ModelError: something that is none of these, or a model given twice.
        ConfigError: everything that is wrong with a config.
    """
    given = [str(FOLDERS.get(text, text)) for text in given]
    kinds = {text: _kind(text) for text in given}
    if len(kinds) < len(given):
        twice = next(text for text, times in Counter(given).items() if times > 1)
        raise ModelError(f"{twice}: given twice; give each model once")
    kinds.update(dict.fromkeys(BASELINES, "baseline"))
    short = {text: _short_name(text) for text in kinds}
    times = Counter(short.values())
    return [Contender(text, name if times[name] == 1 else text, kinds[text]) for text, name in short.items()]


def baseline_name(contenders: Sequence[Contender], wanted: str | None) -> str:
    """The name of the model that the others are compared with: as given or as shown, else the first.

    Raises:
        ModelError: there is no such model among them.
    """
    if wanted is None:
        return contenders[0].name
    for contender in contenders:
        if wanted in (contender.given, contender.name):
            return contender.name
    raise ModelError(f"--baseline {wanted}: not among the models ({', '.join(c.name for c in contenders)})")


def _kind(given: str) -> Literal["baseline", "config", "folder"]:
    if given in BASELINES:
        return "baseline"
    path = Path(given)
    if path.suffix in (".jsonnet", ".json") and path.is_file():
        config = load_config(given)
        if "type" not in config and "model" in config:
            raise ModelError(
                f"{given}: is the config of a training; `linker train {given} --out FOLDER` makes the model "
                "folder to give here"
            )
        resolve(Model, config)
        return "config"
    if not (path / CONFIG).is_file():
        problem = f"not a model folder, it has no {CONFIG}" if path.is_dir() else "no such model folder"
        raise ModelError(
            f"{given}: {problem}; a model is a folder written by `linker train`, a .jsonnet file with the "
            f"config of a model, or {', '.join(FOLDERS)} or {' or '.join(BASELINES)}"
        )
    return "folder"


def _short_name(given: str) -> str:
    path = Path(given)
    return path.stem if path.suffix in (".jsonnet", ".json") else path.name or path.resolve().name
