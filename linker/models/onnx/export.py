"""Export of trained transformers to ONNX graphs in int8."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from linker.common.errors import LinkerError, ModelError
from linker.common.files import write_json
from linker.common.locks import only_writer
from linker.data.types import Article
from linker.models.archive import CONFIG, load_model, read_config, write_manifest
from linker.models.model import all_submodels
from linker.models.onnx.graph import BertGraph, Ranges
from linker.models.onnx.session import GRAPH
from linker.models.siamese.quantization import FILE, save_int8
from linker.models.siamese.transformer import FOLDER, TransformerModel

#: Values beyond these percentiles of a dimension are clipped.
_PERCENTILES = (0.05, 99.95)
_TEXTS = 2_000
_UNQUANTIZED = "model.safetensors"


def export_model(folder: Path, out: Path, texts: Sequence[str] = ()) -> None:
    """Write a model folder whose transformers score in int8 by ONNX Runtime, without torch.

    Args:
        folder: a model folder with one or more `transformer` models of the BERT architecture.
        out: the folder to write; must not exist.
        texts: posts and articles that are typical of what will be ranked, of which up to 2,000 are read: activations
            are quantized to their range; by default some of the sample in `data/`.

    Raises:
        ModelError: if the model has no such part, or the package onnx is missing.
        LinkerError: if another process writes the folder, or it exists.
    """
    model = load_model(folder)
    transformers = [part for part in all_submodels(model) if isinstance(part, TransformerModel)]
    if not transformers:
        raise ModelError(f"{folder}: has no transformer to export; other encoders need no torch or are small")
    for part in transformers:
        _check(folder, part)
    with only_writer(out), tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as name:
        if out.exists():
            raise LinkerError(f"{out}: exists; give another folder")
        new = Path(name) / out.name  # renamed when it is complete
        shutil.copytree(folder, new)
        for part, place in zip(transformers, sorted(new.rglob(FOLDER)), strict=True):
            _export(part, place, texts or _sample())
        config = read_config(new)
        _set_precision(config["model"])
        write_json(new / CONFIG, config)
        write_manifest(new)
        new.rename(out)


def _check(folder: Path, part: TransformerModel) -> None:
    try:
        import onnx  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModelError("onnx is not installed: pip install 'article-linker[onnx]'") from error
    config = part.network.config
    kind = getattr(config, "model_type", "unknown")
    if kind != "bert" or config.hidden_act != "gelu" or part.pooling not in ("mean", "cls"):
        raise ModelError(
            f"{folder}: cannot be exported; only BERT networks with gelu and mean or cls pooling can, "
            f"this one is {kind} with {config.hidden_act} and {part.pooling}"
        )


def _export(part: TransformerModel, folder: Path, texts: Sequence[str]) -> None:
    weights = {name: weight.detach().float() for name, weight in part.network.state_dict().items()}
    if not (folder / FILE).is_file():
        save_int8(weights, folder / FILE)
        (folder / _UNQUANTIZED).unlink(missing_ok=True)
    arrays = {name: weight.numpy() for name, weight in weights.items()}
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    graph = BertGraph(config, arrays, ranges_of(part, texts), str(part.pooling), folder / FILE)
    graph.write(folder / GRAPH)


def _sample() -> list[str]:
    """Return texts of the sample, one per line."""
    return (resources.files("linker.models.onnx") / "texts.txt").read_text(encoding="utf-8").splitlines()


def ranges_of(part: TransformerModel, texts: Sequence[str]) -> Ranges:
    """Measure the ranges of the inputs of a network's linear layers."""
    seen: dict[str, list[np.ndarray]] = {}
    hooks = []
    for name, module in part.network.named_modules():
        if isinstance(module, nn.Linear) and not name.startswith("pooler"):

            def remember(module: nn.Module, inputs: tuple[Any, ...], name: str = name) -> None:
                values: Tensor = inputs[0]
                seen.setdefault(name, []).append(
                    values.detach().float().reshape(-1, values.shape[-1]).numpy()
                )

            hooks.append(module.register_forward_pre_hook(remember))
    try:
        part.eval()
        with torch.no_grad():
            # One text at a time, so that no padding is measured.
            for text in texts[:_TEXTS]:
                part([part.article_tokens(Article("", text))])
    finally:
        for hook in hooks:
            hook.remove()
    low, high = dict[str, np.ndarray](), dict[str, np.ndarray]()
    for name, values in seen.items():
        low[name], high[name] = np.percentile(np.concatenate(values), _PERCENTILES, axis=0).astype(np.float32)
    return Ranges(low, high)


def _set_precision(config: Any) -> None:
    if isinstance(config, dict):
        if config.get("type") == "transformer":
            config["precision"] = "int8"
        for value in config.values():
            _set_precision(value)
    elif isinstance(config, list):
        for value in config:
            _set_precision(value)
