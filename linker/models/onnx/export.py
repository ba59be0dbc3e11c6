"""Export of trained transformers to ONNX graphs in int8."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from linker.common.errors import LinkerError, ModelError
from linker.common.files import atomic_write, write_json
from linker.common.locks import only_writer
from linker.data.types import Article
from linker.models.files.archive import CONFIG, load_model, read_config, walk, write_manifest
from linker.models.model import Model
from linker.models.onnx.graph import Ranges, bert_graph
from linker.models.onnx.transformer import FOLDER, GRAPH
from linker.models.siamese.hugging_face import MODULES
from linker.models.siamese.quantization import FILE
from linker.models.siamese.transformer import TransformerModel

#: Share of the values of a dimension that are clipped below, and as many above.
_BEYOND = 0.0005
_TEXTS, _TEXTS_HELD = 2_000, 50
_UNQUANTIZED = "model.safetensors"


def export_model(folder: Path, out: Path, texts: Sequence[str] = ()) -> None:
    """Write a model folder whose trained parts score by ONNX Runtime, without torch.

    Args:
        folder: a model folder with one or more `transformer` models of the BERT architecture.
        out: the folder to write; must not exist.
        texts: posts and articles that are typical of what will be ranked, of which up to 2,000 are read: activations of
            transformers are quantized to their range; by default some of the sample in `data/`.

    Raises:
        ModelError: if the model has no such part, one that cannot be exported, or the package onnx is missing.
        LinkerError: if another process writes the folder, or it exists.
    """
    model = load_model(folder)
    parts = [
        (part, inner) for part, inner in _with_folders(model, Path()) if isinstance(part, TransformerModel)
    ]
    if not parts:
        raise ModelError(
            f"{folder}: has no transformer to export; means of word vectors and lexical models need no torch"
        )
    try:
        import onnx  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModelError("onnx is not installed: pip install 'article-linker[onnx]'") from error
    for part, _ in parts:
        _check(folder, part)
    with only_writer(out), tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as name:
        if out.exists():
            raise LinkerError(f"{out}: exists; give another folder")
        new = Path(name) / out.name  # renamed when it is complete
        shutil.copytree(folder, new)
        for part, inner in parts:
            _export_transformer(part, new / inner / FOLDER, texts or _sample())
        config = read_config(new)
        for section in walk(config["model"]):
            if isinstance(section, dict) and section.get("type") == "transformer":
                section["precision"] = "int8"
        write_json(new / CONFIG, config)
        write_manifest(new)
        new.rename(out)


def _with_folders(model: Model, folder: Path) -> Iterator[tuple[Model, Path]]:
    """Yield the model and everything that it combines, with their folders in the model folder."""
    yield model, folder
    for number, part in enumerate(model.submodels()):
        yield from _with_folders(part, folder / model.subfolder(number))


def _check(folder: Path, part: TransformerModel) -> None:
    config = part.network.config
    kind = getattr(config, "model_type", "unknown")
    heads = getattr(config, "num_attention_heads", 0)
    if kind != "bert" or config.hidden_act != "gelu" or part.pooling not in ("mean", "cls") or heads % 4:
        raise ModelError(
            f"{folder}: cannot be exported; of transformers, only BERT networks with gelu, 4, 8, 12 … heads and "
            f"mean or cls pooling can, this one is {kind} with {config.hidden_act}, {heads} and {part.pooling}"
        )


def _export_transformer(part: TransformerModel, folder: Path, texts: Sequence[str]) -> None:
    state = part.network.state_dict().items()
    weights = {name: value.detach().float().numpy() for name, value in state if "pooler." not in name}
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    pooling: Any = part.pooling
    graph = bert_graph(config, weights, ranges_of(part, texts), pooling, folder / FILE)
    (folder / _UNQUANTIZED).unlink(missing_ok=True)
    (folder.parent / MODULES).unlink(missing_ok=True)  # sentence-transformers cannot read these weights
    with atomic_write(folder / GRAPH, "wb") as file:
        file.write(graph)


def _sample() -> list[str]:
    """Return texts of the sample, one per line."""
    return (resources.files("linker.models.onnx") / "texts.txt").read_text(encoding="utf-8").splitlines()


def ranges_of(part: TransformerModel, texts: Sequence[str]) -> Ranges:
    """Measure the ranges of the inputs of a network's linear layers."""
    inputs: dict[str, list[Tensor]] = {}  # each (tokens, 2 · inputs), the second half negative

    def remember(name: str, module: nn.Module, arguments: tuple[Tensor, ...]) -> None:
        values = arguments[0].float().flatten(0, -2)
        inputs.setdefault(name, []).append(torch.cat([values, -values], dim=1))

    part.eval()
    tokens = [part.article_tokens(Article("", text)) for text in texts[:_TEXTS]]
    place = _BEYOND * (sum(len(text.ids) for text in tokens) - 1)
    first, last = int(place), int(place) + 1
    with torch.no_grad(), ExitStack() as hooks:
        for name, module in part.network.named_modules():
            if isinstance(module, nn.Linear) and not name.startswith("pooler"):
                hooks.enter_context(module.register_forward_pre_hook(partial(remember, name)))
        for number, text in enumerate(tokens, 1):
            part([text])  # one at a time, so that no padding is measured
            for name in inputs if number % _TEXTS_HELD == 0 or number == len(tokens) else ():
                rows = torch.cat(inputs[name])
                inputs[name] = [rows.topk(min(len(rows), last + 1), dim=0, largest=False).values]
    ends = {name: torch.lerp(rows[first], rows[last], place % 1).numpy() for name, (rows,) in inputs.items()}
    low, high = ({name: np.split(of_each, 2)[side] for name, of_each in ends.items()} for side in (0, 1))
    return Ranges(low, {name: -values for name, values in high.items()})
