"""Networks and tokenizers of Hugging Face: found, loaded and kept, with nothing fetched that is already here."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from torch import nn

from linker.common.errors import ConfigError, ModelError
from linker.models.siamese.quantization import FILE as EIGHT_BITS
from linker.models.siamese.quantization import load_int8

Pooling = Literal["mean", "cls", "max"]

MODULES, POOLING, LIMITS = "modules.json", "1_Pooling", "sentence_bert_config.json"
_MODES = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
}
# What sentence-transformers may put behind the network without changing cosines.
_HARMLESS = ("Transformer", "Pooling", "Normalize", "Dropout")


def load_network(path: str, head: Literal["none", "masked_lm"] = "none") -> tuple[nn.Module, Any]:
    """The network, float32 on the CPU and ready to be used, and its tokenizer.

    Args:
        path: the folder of a Hugging Face or sentence-transformers model, or a name on the Hugging Face hub. Only a
            name is looked for on the hub, and not where HF_HUB_OFFLINE=1 is set and it was not fetched before.
        head: `masked_lm` loads the head that predicts words, too.

    Raises:
        ModelError: the package is missing, there is no such model, it is damaged, or it lacks the head.
    """
    transformers = _package()
    place = str(_network_folder(Path(path))) if os.path.isdir(path) else path
    auto = transformers.AutoModel if head == "none" else transformers.AutoModelForMaskedLM
    told = transformers.utils.logging.get_verbosity()
    transformers.utils.logging.set_verbosity_error()  # what is missing is told below
    try:
        here = {"local_files_only": os.path.isdir(place), "trust_remote_code": False}
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **here)
        if head == "none" and (small := Path(place) / EIGHT_BITS).is_file():
            network = auto.from_config(transformers.AutoConfig.from_pretrained(place, **here))
            missing_keys = network.load_state_dict(load_int8(small), strict=False).missing_keys
        else:
            network, report = auto.from_pretrained(
                place, **here, dtype=torch.float32, output_loading_info=True
            )
            missing_keys = report["missing_keys"]
    # transformers 4 raises an AttributeError where a tokenizer's files are missing.
    except (
        OSError,
        ValueError,
        KeyError,
        RuntimeError,
        ImportError,
        AttributeError,
        SafetensorError,
    ) as error:
        raise ModelError(_unloadable(path, error)) from error
    finally:
        transformers.utils.logging.set_verbosity(told)
    missing = sorted(name for name in missing_keys if not name.startswith("pooler."))
    if missing:
        shown = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        what = "has no masked-LM head" if head == "masked_lm" else "is not whole"
        raise ModelError(
            f"{path}: this model {what} (weights missing: {shown}); "
            + ("give the model as it was pretrained" if head == "masked_lm" else "copy or download it anew")
        )
    return network.eval(), tokenizer


def saved_pooling(path: str) -> Pooling | None:
    """How the sentence-transformers model in a folder pools; None where it does not say, or is no folder.

    Raises:
        ModelError: it does something that `transformer` does not.
    """
    folder = Path(path)
    if not (folder / MODULES).is_file():
        return None
    pooling: Pooling | None = None
    try:
        for module in _json(folder / MODULES):
            kind = module["type"].rpartition(".")[2]
            if kind not in _HARMLESS:
                raise ModelError(
                    f"{path}: has a module {kind}, which a transformer here has not; use it as it is: "
                    'model {"type": "sentence_transformer"}'
                )
            if kind == "Pooling":
                pooling = _pooling_of(folder / module["path"] / "config.json")
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{folder / MODULES}: not what sentence-transformers writes ({error!r})") from error
    return pooling


def save_network(network: Any, tokenizer: Any, folder: Path, pooling: Pooling, max_tokens: int) -> None:
    """Write a folder that `load_network`, Hugging Face and sentence-transformers load; no pickles.

    Each file takes its place in one piece, the weights last.
    """
    modes = {key: mode == pooling for key, mode in _MODES.items()}
    modules = [("Transformer", ""), ("Pooling", POOLING)]
    told = {
        f"{POOLING}/config.json": {"word_embedding_dimension": network.config.hidden_size, **modes},
        LIMITS: {"max_seq_length": max_tokens, "do_lower_case": False},
        MODULES: [
            {"idx": i, "name": str(i), "path": place, "type": f"sentence_transformers.models.{kind}"}
            for i, (kind, place) in enumerate(modules)
        ],
    }
    try:
        (folder / POOLING).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as name:
            new = Path(name)
            tokenizer.save_pretrained(new)
            network.save_pretrained(new)
            (new / POOLING).mkdir()
            for file, content in told.items():
                (new / file).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
            written = sorted(new.rglob("*"), key=lambda one: (one.suffix == ".safetensors", one))
            for path in filter(Path.is_file, written):
                _finish(path)
                os.replace(path, folder / path.relative_to(new))
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{folder}: cannot be written ({error}); make room and try again") from error


def most_tokens(network: Any, tokenizer: Any) -> int | None:
    """The longest text that the network has positions for, special tokens counted; None where there is no limit."""
    positions = getattr(network.config, "max_position_embeddings", None)
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            # RoBERTa and its kin begin to count behind the padding's row.
            skipped = 0 if module.padding_idx is None else module.padding_idx + 1
            positions = module.num_embeddings - skipped
    limits = [limit for limit in (positions, tokenizer.model_max_length) if limit and 0 < limit < 10**9]
    return min(limits, default=None)


def keep_layers(network: Any, layers: Sequence[int]) -> None:
    """Leave out all other layers of a network.

    Args:
        network: as `load_network` gave it.
        layers: those kept, counted from 0, in the order in which they are to stand.

    Raises:
        ConfigError: there are no such layers.
    """
    count = network.config.num_hidden_layers
    stack = next(
        (
            (parent, name, module)
            for parent in network.modules()
            for name, module in parent.named_children()
            if isinstance(module, nn.ModuleList) and len(module) == count
        ),
        None,
    )
    if stack is None or not layers or not all(0 <= layer < count for layer in layers):
        raise ConfigError(
            f"model.layers: {list(layers)}, but the network has {count} layers, from 0 to {count - 1}"
        )
    parent, name, modules = stack
    setattr(parent, name, nn.ModuleList(modules[layer] for layer in layers))
    network.config.num_hidden_layers = len(layers)


def _package() -> Any:
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise ModelError(
            "the model transformer needs the package transformers: pip install 'article-linker[transformers]'"
        ) from error
    transformers.utils.logging.disable_progress_bar()  # its bars write to pipes too
    return transformers


def _finish(path: Path) -> None:
    """Have a file on the disk, with the rights that a plain open() gives; safetensors makes private ones."""
    umask = os.umask(0)
    os.umask(umask)
    os.chmod(path, 0o666 & ~umask)
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def _network_folder(folder: Path) -> Path:
    """Where in a sentence-transformers folder the network lies; any other folder itself."""
    if (folder / MODULES).is_file():
        for module in _json(folder / MODULES):
            if str(module.get("type")).endswith("Transformer"):
                return folder / module.get("path", "")
    return folder


def _pooling_of(file: Path) -> Pooling:
    told = _json(file)
    modes = [key for key, on in told.items() if key.startswith("pooling_mode_") and on is True]
    if told.get("pooling_mode") in _MODES.values():
        modes = [key for key, mode in _MODES.items() if mode == told["pooling_mode"]]
    if len(modes) != 1 or modes[0] not in _MODES:
        raise ModelError(
            f"{file}: pools by {', '.join(modes) or told.get('pooling_mode') or 'nothing'}; "
            "set `pooling` to mean, cls or max"
        )
    return _MODES[modes[0]]  # type: ignore[return-value]


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{file}: cannot be read as JSON ({error}); copy the model anew") from error


def _unloadable(path: str, error: Exception) -> str:
    why = str(error).strip().split("\n")[0]
    if os.path.isdir(path):
        return f"{path}: cannot be loaded as a Hugging Face model ({why})"
    offline = "HF_HUB_OFFLINE is set, so nothing is fetched; " if os.environ.get("HF_HUB_OFFLINE") else ""
    return (
        f"{path}: there is no such folder, and the Hugging Face hub gave no model of this name ({why}); "
        f"{offline}download it first and give its folder"
    )
