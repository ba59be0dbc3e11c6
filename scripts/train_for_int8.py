"""Train the transformer of a model for int8: quantization-aware training towards the embeddings of a teacher.

    python scripts/train_for_int8.py linker/models/pretrained/best runs/int8 --texts texts.txt --typical typical.txt
    python scripts/make_pretrained.py best runs/int8 --texts typical.txt

The network computes with weights and activations rounded as in the graph of `linker model export` (fake quantization
with straight-through gradients; Jacob et al. 2018, section 3), and is trained to give the embeddings that the teacher
gives in float32: one minus their cosine. Embedding matrices stay as they are. Decision 168 has the reasons.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from linker.common.console import info, progress_bar
from linker.data.types import Post
from linker.data.vocabulary import EncodedText
from linker.models.files.archive import load_model, read_config, save_model
from linker.models.model import Model, embedding_submodel
from linker.models.onnx.export import ranges_of
from linker.models.onnx.graph import (
    LARGEST_ACTIVATION,
    LARGEST_WEIGHT,
    activation_grid,
    smoothing_factors,
)
from linker.models.siamese.transformer import TransformerModel

BATCH = 32
# Batches that are filled with texts of similar length, so that little is padded.
BATCHES_SORTED = 16
WARMUP = 20
HELD_OUT = 400
# Shares of the steps after which the ranges of the activations are measured again.
RANGES_AT = (0.5, 0.85)


class FakeQuantizedLinear(nn.Linear):
    """A linear layer with the rounding of its integers in the graph: 8 bits of its input, 7 of its weights.

    Args:
        linear: the layer, whose weights are shared.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__(linear.in_features, linear.out_features, device="meta")
        self.weight, self.bias = linear.weight, linear.bias
        self._factors, self._step, self._zero = torch.ones(1), 1.0, 0.0
        self._is_measured = False

    def measure(self) -> None:
        """Compute in float32, until the next `calibrate`."""
        self._is_measured = True

    def calibrate(self, low: np.ndarray, high: np.ndarray, factors: np.ndarray) -> None:
        """Set the grid of the inputs by their ranges, each (inputs,)."""
        step, zero = activation_grid(low, high, factors)
        self._factors, self._step, self._zero = torch.from_numpy(factors).float(), float(step), float(zero)
        self._is_measured = False

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs, (..., outputs), for inputs (..., inputs)."""
        if self._is_measured:
            return functional.linear(x, self.weight, self.bias)
        integers = (x / self._factors / self._step).clamp(-self._zero, LARGEST_ACTIVATION - self._zero)
        weights = self.weight * self._factors
        scales = weights.detach().abs().amax(dim=1).clamp(min=1e-12) / LARGEST_WEIGHT  # (outputs,)
        rows = weights / scales[:, None]
        products = functional.linear(
            _straight_through(integers, integers.round()), _straight_through(rows, rows.round())
        )
        return products * (scales * self._step) + self.bias


def _straight_through(x: Tensor, rounded: Tensor) -> Tensor:
    """`rounded` with the gradient of `x`."""
    return x + (rounded - x).detach()


def groups(layers: int) -> Iterator[list[str]]:
    """Yield the names of the linear layers of a BERT network, those with the same input together."""
    for number in range(layers):
        name = f"encoder.layer.{number}"
        yield [f"{name}.attention.self.{kind}" for kind in ("query", "key", "value")]
        yield [f"{name}.attention.output.dense"]
        yield [f"{name}.intermediate.dense"]
        yield [f"{name}.output.dense"]


def calibrate(part: TransformerModel, texts: Sequence[str]) -> None:
    """Put fake-quantized layers into the network, with the ranges that an export with these texts measures."""
    together = [
        [_fake_quantized(part.network, name) for name in names]
        for names in groups(part.network.config.num_hidden_layers)
    ]
    for layer in chain.from_iterable(together):
        layer.measure()
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    ranges = ranges_of(part, texts)
    torch.set_float32_matmul_precision(before)
    for names, layers in zip(groups(part.network.config.num_hidden_layers), together):
        low, high = ranges.low[names[0]], ranges.high[names[0]]
        factors = smoothing_factors(low, high, [layer.weight.detach().numpy() for layer in layers])
        for layer in layers:
            layer.calibrate(low, high, factors)


def _fake_quantized(network: nn.Module, name: str) -> FakeQuantizedLinear:
    """Return the layer of this name, replaced by a fake-quantized one where it is not."""
    layer = network.get_submodule(name)
    if not isinstance(layer, FakeQuantizedLinear):
        parent, _, own = name.rpartition(".")
        layer = FakeQuantizedLinear(cast(nn.Linear, layer))
        setattr(network.get_submodule(parent), own, layer)
    return layer


def batches(lengths: Sequence[int], seed: int) -> list[list[int]]:
    """Return the texts' indices in batches of similar length, in random order."""
    shuffle = random.Random(seed).shuffle
    order, found = list(range(len(lengths))), []
    shuffle(order)
    for begin in range(0, len(order), BATCH * BATCHES_SORTED):
        similar = sorted(order[begin : begin + BATCH * BATCHES_SORTED], key=lengths.__getitem__)
        some = [similar[i : i + BATCH] for i in range(0, len(similar), BATCH)]
        shuffle(some)
        found += some
    return found


def embeddings(part: TransformerModel, texts: Sequence[EncodedText]) -> Tensor:
    """Return embeddings of unit length: (texts, dim)."""
    return functional.normalize(torch.from_numpy(part.encode(texts)), dim=1)


def transformer_of(folder: Path) -> tuple[Model, TransformerModel]:
    """Load a model folder; return the model and its transformer, in float32 and without dropout."""
    model = load_model(folder)
    part = cast(TransformerModel, embedding_submodel(model))
    part.precision = "float32"
    part.eval()
    return model, part


def train(
    part: TransformerModel,
    teacher: TransformerModel,
    texts: Sequence[str],
    typical: Sequence[str],
    rate: float,
) -> None:
    """Train the network in one pass over the texts; the last tenth, at most 400, is held out and measured.

    Args:
        part: what is trained; afterwards its network has fake-quantized layers.
        teacher: whose embeddings are the targets.
        texts: posts, articles, sentences.
        typical: texts that the ranges of activations are measured on.
        rate: the highest learning rate; it decreases linearly.
    """
    targets = embeddings(teacher, [teacher.post_tokens(Post("", text)) for text in texts])  # (texts, dim)
    tokens = [part.post_tokens(Post("", text)) for text in texts]
    kept = len(texts) - min(HELD_OUT, len(texts) // 10)

    def cosines() -> str:
        found = (embeddings(part, tokens[kept:]) * targets[kept:]).sum(dim=1)
        return f"{found.mean():.5f}, least {found.min():.5f}"

    calibrate(part, typical)
    info(f"cosine of {len(texts) - kept} texts held out: {cosines()}")
    part.requires_grad_(False)
    trained = [p for name, p in part.network.named_parameters() if _is_trained(name)]
    optimizer = torch.optim.AdamW(trained, lr=rate, weight_decay=0.0, betas=(0.9, 0.99))
    for parameter in trained:
        parameter.requires_grad_(True)
    # Integers up to 256 are exact in bfloat16, so these products stay exact where the processor multiplies it.
    torch.set_float32_matmul_precision("medium")
    steps = batches([len(text.ids) for text in tokens[:kept]], seed=1)
    measured = {int(share * len(steps)) for share in RANGES_AT}
    with progress_bar() as progress:
        bar = progress.add_task("training", total=len(steps))
        for number, batch in enumerate(steps):
            optimizer.param_groups[0]["lr"] = rate * min(1, (number + 1) / WARMUP) * (1 - number / len(steps))
            vectors = functional.normalize(part([tokens[i] for i in batch]), dim=1)
            loss = (1 - (vectors * targets[batch]).sum(dim=1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            progress.update(bar, advance=1, description=f"training  loss {loss.item():.5f}")
            if number in measured:
                calibrate(part, typical)
                info(f"step {number + 1} of {len(steps)}: cosine {cosines()}")
    calibrate(part, typical)
    info(f"trained: cosine {cosines()}")


def _is_trained(name: str) -> bool:
    return not name.startswith("pooler") and ("embeddings" not in name or "LayerNorm" in name)


def main() -> None:
    """Read the models and the texts, train, and write the model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("start", type=Path, help="folder of the model to train")
    parser.add_argument("out", type=Path, help="folder to write")
    parser.add_argument(
        "--teacher", type=Path, help="model folder whose embeddings are learned (default: START)"
    )
    parser.add_argument("--texts", type=Path, required=True, help="texts to train on, one per line")
    parser.add_argument(
        "--typical",
        type=Path,
        required=True,
        help="up to 2,000 texts for the ranges of activations, one per line",
    )
    parser.add_argument("--lr", type=float, default=5e-5, help="highest learning rate (default: 5e-5)")
    options = parser.parse_args()
    texts, typical = (
        path.read_text(encoding="utf-8").splitlines() for path in (options.texts, options.typical)
    )
    model, part = transformer_of(options.start)
    _, teacher = transformer_of(options.teacher or options.start)
    train(part, teacher, texts, typical, options.lr)
    save_model(model, options.out, {"model": read_config(options.start)["model"]}, {}, "")
    info(f"wrote {options.out}")


if __name__ == "__main__":
    main()
