"""Model folders: config, weights, metrics and model card of one model."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError, ModelError
from linker.common.files import atomic_write, check_regular_files, read_json_object, sha256_of, write_json
from linker.config import build, check, resolve
from linker.models.model import Model
from linker.version import __version__

CONFIG, METRICS, CARD, MANIFEST = "config.json", "metrics.json", "README.md", "manifest.json"
FORMAT = 1
_COPY = "copy the model folder again"


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
    # A save that is killed leaves no manifest, rather than that of other weights.
    try:
        (folder / MANIFEST).unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(f"{folder / MANIFEST}: cannot be written ({error.strerror})") from error
    model.save_state(folder)
    write_manifest(folder)
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
    check_regular_files(folder, ModelError)
    if not file.is_file():
        raise ModelError(f"{folder}: not a model folder, {CONFIG} is missing")
    config = read_json_object(file, _COPY, ModelError)
    if not isinstance(config.get("format"), int) or "model" not in config:
        raise ModelError(f"{file}: not the config of a linker model")
    if config["format"] > FORMAT:
        raise ModelError(
            f"{folder}: written by linker {config.get('linker_version')} in a newer format "
            f"than linker {__version__} reads; upgrade linker"
        )
    return config


def write_manifest(folder: Path) -> None:
    """Record the SHA-256 of the files that a model is loaded from, except its config, which people may edit."""
    checksums = {name: sha256_of(folder / name) for name in _state(folder)}
    write_json(folder / MANIFEST, {"format": FORMAT, "sha256": checksums})


def check_manifest(folder: Path) -> None:
    """Check the files of a model folder against its manifest.

    Raises:
        ModelError: if a file was changed or is missing; all of them are listed.
    """
    path = folder / MANIFEST
    checksums = read_json_object(path, _COPY, ModelError).get("sha256")
    if not isinstance(checksums, dict):
        raise ModelError(f"{path}: not the manifest of a model folder; {_COPY}")
    problems = []
    for name, sha256 in checksums.items():
        try:
            if sha256_of(folder / name) != sha256:
                problems.append(f"{folder / name}: does not match its checksum in {MANIFEST}")
        except FileNotFoundError:
            problems.append(f"{folder / name}: file not found")
        except (OSError, ValueError) as error:
            problems.append(f"{folder / name}: cannot be read ({getattr(error, 'strerror', error)})")
    if problems:
        raise ModelError(f"{'; '.join(problems)}; {_COPY}")


def _state(folder: Path) -> list[str]:
    """Return the files that a model is loaded from, relative to the folder; of a model folder in it, the manifest."""
    inner = [path.parent for path in folder.rglob(f"*/{MANIFEST}")]
    names = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        covered = any(path.is_relative_to(other) and path != other / MANIFEST for other in inner)
        name = path.relative_to(folder).as_posix()
        # Temporary files, and what a run writes beside its best model: checkpoints, and events of TensorBoard.
        hidden = any(part.startswith(".") for part in name.split("/"))
        passing = hidden or name.startswith("last") or path.name.startswith("events.out.tfevents")
        if not covered and not passing and name not in (CONFIG, METRICS, CARD, MANIFEST):
            names.append(name)
    return names


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
        again = (
            f"if it worked before, install linker {config.get('linker_version')}, or train the model again"
        )
        raise ModelError(f"{folder / CONFIG}: {error}; {again}") from error
    check_manifest(folder)
    model.load_state(folder)
    return model


def scoring_config(config: Any) -> Any:
    """Return the config of a model that loads the same folder and gives the same scores, but cannot be trained.

    `siamese` with `mean` and `word_vectors` with subwords becomes `averaged_word_vectors`; `transformer` with
    `precision: 'int8'` becomes `onnx_transformer`. An invalid config, or one without such a component, is returned
    unchanged.

    Args:
        config: the section `model` of a config.
    """
    replaced = _without_torch(config)
    return replaced if replaced != config and not check(Model, replaced) else config


def _without_torch(config: Any) -> Any:
    if isinstance(config, list):
        return [_without_torch(item) for item in config]
    if not isinstance(config, dict):
        return config
    if config.get("type") == "transformer" and config.get("precision") == "int8":
        dropped = ("path", "pooling", "layers", "precision", "type")
        return {"type": "onnx_transformer"} | {key: v for key, v in config.items() if key not in dropped}
    if config.get("type") != "siamese":
        return {key: _without_torch(value) for key, value in config.items()}
    try:
        whole = resolve(Model, config)
    except ConfigError:
        return config
    embedder = whole["embedder"]
    kinds = whole["encoder"]["type"], embedder["type"], embedder.get("unknown")
    if kinds != ("mean", "word_vectors", "subwords"):
        return config
    shared = ("tokenizer", "max_article_tokens", "max_post_tokens", "similarity", "title_weight")
    tables = {key: embedder[key] for key in ("dim", "buckets")}
    return {"type": "averaged_word_vectors", **{key: whole[key] for key in shared}, **tables}


def walk(config: Any) -> Iterator[Any]:
    """Yield a config and everything in it: objects, lists and values."""
    yield config
    for item in config.values() if isinstance(config, dict) else config if isinstance(config, list) else ():
        yield from walk(item)
