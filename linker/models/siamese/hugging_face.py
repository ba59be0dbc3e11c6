"""Load and save Hugging Face networks and tokenizers; files that are present are not downloaded again."""

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
from linker.common.files import atomic_write, write_json
from linker.models.averaged_word_vectors import check_finite
from linker.models.files.weight_files import check_weight_files
from linker.models.siamese.quantization import FILE as INT8_FILE
from linker.models.siamese.quantization import load_int8

Pooling = Literal["mean", "cls", "max"]

MODULES, POOLING, LIMITS = "modules.json", "1_Pooling", "sentence_bert_config.json"
_MODES = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
}
# transformers 4 raises an AttributeError if a tokenizer's files are missing.
_UNLOADABLE = (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError, SafetensorError)
# Modules of sentence-transformers that do not change cosines.
_HARMLESS = ("Transformer", "Pooling", "Normalize", "Dropout")


def load_network(path: str, head: Literal["none", "masked_lm"] = "none") -> tuple[nn.Module, Any]:
    """Load a network (float32, on the CPU, in evaluation mode) and its tokenizer.

    Args:
        path: folder of a Hugging Face or sentence-transformers model, or a name on the Hugging Face hub. Only names are
            looked up on the hub; with HF_HUB_OFFLINE=1 only in its local cache.
        head: `masked_lm` loads the masked-language-model head as well.

    Raises:
        ModelError: if the package transformers is missing, or the model is not found, damaged, without the head, or
            has weights only in a pickle.
    """
    transformers = _package()
    location = str(_network_folder(Path(path))) if os.path.isdir(path) else path
    if os.path.isdir(location):
        check_weight_files(Path(location))
    auto = transformers.AutoModel if head == "none" else transformers.AutoModelForMaskedLM
    verbosity = transformers.utils.logging.get_verbosity()
    transformers.utils.logging.set_verbosity_error()  # missing weights are reported below
    try:
        options = {"local_files_only": os.path.isdir(location), "trust_remote_code": False}
        tokenizer = transformers.AutoTokenizer.from_pretrained(location, **options)
        if head == "none" and (quantized := Path(location) / INT8_FILE).is_file():
            network = auto.from_config(transformers.AutoConfig.from_pretrained(location, **options))
            missing_keys = network.load_state_dict(load_int8(quantized), strict=False).missing_keys
        else:
            network, report = auto.from_pretrained(
                location, **options, use_safetensors=True, dtype=torch.float32, output_loading_info=True
            )
            missing_keys = report["missing_keys"]
    except _UNLOADABLE as error:
        reason = str(error).strip().split("\n")[0]
        if os.path.isdir(path):
            raise ModelError(f"{path}: cannot be loaded as a Hugging Face model ({reason})") from error
        is_offline = bool(os.environ.get("HF_HUB_OFFLINE"))
        offline = "HF_HUB_OFFLINE is set, so nothing is downloaded; " if is_offline else ""
        raise ModelError(
            f"{path}: not found as a folder or on the Hugging Face hub ({reason}); "
            f"{offline}download the model and give its folder"
        ) from error
    finally:
        transformers.utils.logging.set_verbosity(verbosity)
    missing = sorted(name for name in missing_keys if not name.startswith("pooler."))
    if missing:
        names = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        problem = "the model has no masked-LM head" if head == "masked_lm" else "the model is incomplete"
        raise ModelError(
            f"{path}: {problem} (missing weights: {names}); "
            + ("give the pretrained model" if head == "masked_lm" else "copy or download it again")
        )
    check_finite(path, network.state_dict())
    return network.eval(), tokenizer


def saved_pooling(path: str) -> Pooling | None:
    """Read the pooling of the sentence-transformers model in a folder; None if it is not such a folder.

    Raises:
        ModelError: if the model has a pooling or further modules that `transformer` does not support.
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
                    f"{path}: the module {kind} is not supported by the model transformer; use "
                    '{"type": "sentence_transformer"}'
                )
            if kind == "Pooling":
                pooling = _pooling_of(folder / module["path"] / "config.json")
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"{folder / MODULES}: not a file of sentence-transformers ({error!r}); copy the model again"
        ) from error
    return pooling


def save_network(network: Any, tokenizer: Any, folder: Path, pooling: Pooling, max_tokens: int) -> None:
    """Write a folder that `load_network`, Hugging Face and sentence-transformers can load; without pickles.

    Files are replaced atomically, the weights last.

    Args:
        network: the network.
        tokenizer: its tokenizer.
        folder: the folder; its parent must exist.
        pooling: pooling over the last layer.
        max_tokens: the limit that sentence-transformers truncates texts to.

    Raises:
        LinkerError: if the folder cannot be written.
    """
    modes = {key: mode == pooling for key, mode in _MODES.items()}
    write_json(
        folder / POOLING / "config.json", {"word_embedding_dimension": network.config.hidden_size, **modes}
    )
    write_json(folder / LIMITS, {"max_seq_length": max_tokens, "do_lower_case": False})
    write_json(folder / MODULES, modules_of(""))
    try:
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as name:
            tokenizer.save_pretrained(name)
            network.save_pretrained(name)
            for source in sorted(
                Path(name).iterdir(), key=lambda file: (file.suffix == ".safetensors", file)
            ):
                with atomic_write(folder / source.name, "wb") as file:
                    file.write(source.read_bytes())
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{folder}: cannot be written ({error}); free disk space and try again") from error


def modules_of(folder: str) -> list[dict[str, Any]]:
    """Return the content of the file that names the modules of an embedder for sentence-transformers.

    Args:
        folder: the folder that `save_network` wrote, relative to the file's.
    """
    modules = [("Transformer", folder), ("Pooling", f"{folder}/{POOLING}".lstrip("/"))]
    return [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (kind, path) in enumerate(modules)
    ]


def token_limit(network: Any, tokenizer: Any) -> int | None:
    """Return the network's maximum text length in tokens, including special tokens; None if it is unlimited."""
    positions = getattr(network.config, "max_position_embeddings", None)
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            # RoBERTa-like models number positions from the row after the padding's.
            skipped = 0 if module.padding_idx is None else module.padding_idx + 1
            positions = module.num_embeddings - skipped
    limits = [limit for limit in (positions, tokenizer.model_max_length) if limit and 0 < limit < 10**9]
    return min(limits, default=None)


def keep_layers(network: Any, layers: Sequence[int]) -> None:
    """Remove all other layers of a network, in place.

    Args:
        network: a network from `load_network`.
        layers: indices of the layers to keep, from 0, in their new order.

    Raises:
        ConfigError: if an index is out of range.
    """
    count = network.config.num_hidden_layers
    stacks = [
        (parent, name, module)
        for parent in network.modules()
        for name, module in parent.named_children()
        if isinstance(module, nn.ModuleList) and len(module) == count
    ]
    if not stacks or not layers or not all(0 <= layer < count for layer in layers):
        raise ConfigError(
            f"model.layers: {list(layers)} is out of range; the network has layers 0 to {count - 1}"
        )
    parent, name, modules = stacks[0]
    setattr(parent, name, nn.ModuleList(modules[layer] for layer in layers))
    network.config.num_hidden_layers = len(layers)


def _package() -> Any:
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise ModelError(
            "transformers is not installed, which the model transformer needs: "
            "pip install 'article-linker[transformers]'"
        ) from error
    transformers.utils.logging.disable_progress_bar()  # it writes to pipes too
    return transformers


def _network_folder(folder: Path) -> Path:
    """The network's folder in a sentence-transformers folder; any other folder itself."""
    if (folder / MODULES).is_file():
        for module in _json(folder / MODULES):
            if str(module.get("type")).endswith("Transformer"):
                return folder / module.get("path", "")
    return folder


def _pooling_of(file: Path) -> Pooling:
    config = _json(file)
    modes = [key for key, on in config.items() if key.startswith("pooling_mode_") and on is True]
    if config.get("pooling_mode") in _MODES.values():
        modes = [key for key, mode in _MODES.items() if mode == config["pooling_mode"]]
    if len(modes) != 1 or modes[0] not in _MODES:
        raise ModelError(
            f"{file}: unsupported pooling ({', '.join(modes) or config.get('pooling_mode') or 'none'}); "
            "set `pooling` to mean, cls or max"
        )
    return _MODES[modes[0]]  # type: ignore[return-value]


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{file}: cannot be read as JSON ({error}); copy the model again") from error
