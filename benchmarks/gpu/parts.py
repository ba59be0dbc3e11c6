"""The parts of the GPU kit; each prints its figures as a line of JSON.

python -m benchmarks.gpu.parts PART [--rehearse]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.gpu.contenders import ENCODERS, Padded, contenders, encoder_of
from benchmarks.speed.workloads import DIM
from linker.modules.encoders.encoder import Encoder
from linker.modules.kernels.dispatch import use_kernels
from linker.modules.losses.triplet_margin import TripletMarginLoss
from linker.modules.miners import MultiSimilarityMiner

ROOT = Path(__file__).resolve().parents[2]
Row = dict[str, Any]
_PRECISIONS: Sequence[torch.dtype | None] = (None, torch.bfloat16, torch.float16)


class Bench:
    """Device and sizes of a run.

    Args:
        rehearse: small sizes on the CPU.
    """

    def __init__(self, rehearse: bool) -> None:
        self.rehearse = rehearse
        self.device = torch.device("cpu" if rehearse else "cuda")

    def milliseconds(self, task: Callable[[], object], repeats: int = 10) -> float:
        """Return the median time of a task after two runs that do not count."""
        times = []
        for number in range(2 + (1 if self.rehearse else repeats)):
            self._wait()
            begun = time.perf_counter()
            task()
            self._wait()
            if number > 1:
                times.append(time.perf_counter() - begun)
        return 1000 * sorted(times)[len(times) // 2]

    def peak_mib(self, task: Callable[[], object]) -> float | None:
        """Return the largest memory of the GPU that a task allocates, in MiB; None without a GPU."""
        if self.rehearse:
            task()
            return None
        torch.cuda.reset_peak_memory_stats()
        task()
        return torch.cuda.max_memory_allocated() / 2**20

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def texts(bench: Bench, count: int, length: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return random token vectors, tokens × 300, and the lengths of the texts."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(count * length, DIM, generator=generator) / 3
    return vectors.to(bench.device), torch.full((count,), length, device=bench.device)


def differences(bench: Bench) -> Row:
    """Compare embeddings and gradients of the star transformer with float64 on the CPU, in three precisions."""
    count, length = (4, 12) if bench.rehearse else (64, 200)
    tokens, lengths = texts(bench, count, length)
    encoder = encoder_of("star transformer").eval()  # without dropout
    with use_kernels("plain"):
        expected = embedded(encoder.double(), tokens.cpu().double(), lengths.cpu(), None)
        encoder.to(bench.device, torch.float32)
        rows = []
        for dtype in _PRECISIONS[: 2 if bench.rehearse else None]:
            vectors, gradient = (x.cpu().double() for x in embedded(encoder, tokens, lengths, dtype))
            row = {
                "precision": name_of(dtype),
                "least cosine": float(nn.functional.cosine_similarity(vectors, expected[0]).min()),
                "gradient": float((gradient - expected[1]).norm() / expected[1].norm()),
            }
            rows.append(row)
    return {"rows": rows}


def embedded(
    encoder: Encoder, tokens: Tensor, lengths: Tensor, dtype: torch.dtype | None
) -> tuple[Tensor, Tensor]:
    """Return embeddings and the gradient of the tokens."""
    leaf = tokens.clone().requires_grad_()
    with autocast(tokens.device, dtype):
        vectors = encoder(leaf, lengths).to(leaf.dtype)
    probe = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(1)).to(vectors)
    (vectors * probe).sum().backward()
    assert leaf.grad is not None
    return vectors.detach(), leaf.grad


def autocast(device: torch.device, dtype: torch.dtype | None) -> torch.autocast:
    """Return the context of a precision; None: float32."""
    return torch.autocast(device.type, dtype or torch.bfloat16, enabled=dtype is not None)


def name_of(dtype: torch.dtype | None) -> str:
    """Return the name of a precision."""
    return "float32" if dtype is None else str(dtype).removeprefix("torch.")


def attention(bench: Bench) -> Row:
    """Time forward and backward passes by the length of the texts; the number of tokens stays the same."""
    total = 256 if bench.rehearse else 65_536
    lengths = (8, 32) if bench.rehearse else (32, 128, 512, 2048, 8192)
    rows = []
    for length in lengths:
        tokens, counts = texts(bench, max(1, total // length), length)
        for name, module in contenders().items():
            module.to(bench.device)
            row: Row = {"tokens a text": length, "encoder": name}
            try:
                task = partial(passes, module, tokens, counts)
                with use_kernels("plain"):
                    row["ms"] = bench.milliseconds(task, 5)
                    row["MiB"] = bench.peak_mib(task)
            except torch.cuda.OutOfMemoryError:
                row["ms"] = row["MiB"] = None
                torch.cuda.empty_cache()
            rows.append(row)
    return {"tokens": total, "rows": rows}


def passes(module: Encoder | Padded, tokens: Tensor, lengths: Tensor) -> None:
    """Run a forward and a backward pass."""
    module.zero_grad(set_to_none=True)
    module(tokens, lengths).float().square().sum().backward()


def encoders(bench: Bench) -> Row:
    """Time and memory of a training step of each encoder: articles of 300 tokens, as many posts of 30."""
    batches = (4,) if bench.rehearse else (16, 64, 256)
    rows = []
    for articles in batches:
        for name in ENCODERS:
            step = Step(bench, name, articles)
            row: Row = {"articles": articles, "encoder": name}
            try:
                row["ms"] = bench.milliseconds(step)
                row["MiB"] = bench.peak_mib(step)
            except torch.cuda.OutOfMemoryError:
                row["ms"] = row["MiB"] = None
                torch.cuda.empty_cache()
            rows.append(row)
    return {"rows": rows}


class Step:
    """A training step: embeddings, mining, loss, Adam.

    Args:
        bench: device and sizes.
        name: name of the encoder.
        articles: number of articles, and of posts.
        dtype: precision of the encoder.
    """

    def __init__(self, bench: Bench, name: str, articles: int, dtype: torch.dtype | None = None) -> None:
        self.encoder = encoder_of(name).to(bench.device)
        self.dtype = dtype
        long, short = (12, 6) if bench.rehearse else (300, 30)
        self.articles, self.posts = texts(bench, articles, long), texts(bench, articles, short, seed=1)
        self.miner, self.loss = MultiSimilarityMiner(), TripletMarginLoss()
        self.optimizer = torch.optim.Adam(self.encoder.parameters(), lr=1e-4)
        self.truth = torch.eye(articles, dtype=torch.bool, device=bench.device)

    def __call__(self) -> float:
        """Take the step and return the loss."""
        with autocast(self.truth.device, self.dtype):
            a, p = (self.encoder(*batch).float() for batch in (self.articles, self.posts))
        a, p = nn.functional.normalize(a), nn.functional.normalize(p)
        loss = self.loss(a, p, self.miner(a, p, self.truth))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


def precisions(bench: Bench) -> Row:
    """Time of a step and loss after twenty, in three precisions."""
    articles, steps = (4, 2) if bench.rehearse else (64, 20)
    rows = []
    for name in ENCODERS:
        for dtype in _PRECISIONS:
            if dtype is torch.float16 and bench.rehearse:
                continue  # not on a CPU
            step = Step(bench, name, articles, dtype)
            losses = [step() for _ in range(steps)]
            rows.append(
                {
                    "encoder": name,
                    "precision": name_of(dtype),
                    "ms": bench.milliseconds(step),
                    "loss": losses[-1],
                }
            )
    return {"steps": steps, "rows": rows}


def devices(bench: Bench) -> Row:
    """Train the quickstart with one process and with several; compare the metrics."""
    gpus = 0 if bench.rehearse else torch.cuda.device_count()
    processes = max(2, gpus)
    found: Row = {"processes": processes, "backend": "NCCL" if gpus > 1 else "gloo", "rows": []}
    hidden = {"CUDA_VISIBLE_DEVICES": ""} if bench.rehearse or gpus < 2 else {}
    with tempfile.TemporaryDirectory() as folder:
        for number in (1, processes):
            out = Path(folder, str(number))
            command = [
                sys.executable,
                "-m",
                "linker",
                "train",
                "configs/quickstart.jsonnet",
                "--out",
                str(out),
            ]
            begun = time.monotonic()
            options = ["--devices", str(number), "-o", "trainer.epochs=2"]
            done = subprocess.run(
                [*command, *options],
                cwd=ROOT,
                env={**os.environ, **hidden},
                capture_output=True,
                text=True,
            )
            if done.returncode:
                raise SystemExit(done.stderr.strip().splitlines()[-1])
            metrics = json.loads((out / "metrics.json").read_text())
            found["rows"].append(
                {"processes": number, "s": round(time.monotonic() - begun, 1), "metrics": metrics}
            )
    return found


def ranking(bench: Bench) -> Row:
    """Posts that the bundled model `best` encodes in a second: int8 on the CPU, and its network in torch on the GPU."""
    from linker.data.io.records import read_posts
    from linker.models.files.resolve import resolve_model
    from linker.models.model import embedding_submodel
    from linker.models.pretrained import FOLDERS
    from linker.models.siamese.transformer import TransformerModel

    posts = read_posts(str(ROOT / "data" / "posts.jsonl")) * (1 if bench.rehearse else 20)
    chosen = posts[:200] if bench.rehearse else posts
    int8 = embedding_submodel(resolve_model("best").load())
    assert int8 is not None
    config = json.loads((FOLDERS["best"] / "config.json").read_text())["model"]["model"]["parts"][0]
    config.pop("type")
    network = TransformerModel(**config)
    network.load_state(FOLDERS["best"] / "part-0")
    network.to(bench.device)
    rows = []
    expected = int8.post_vectors(chosen[:50])
    assert expected is not None
    for name, model, dtype in (
        ("int8, CPU", int8, None),
        ("float32", network, None),
        ("bfloat16", network, torch.bfloat16),
    ):
        with torch.no_grad(), autocast(bench.device, dtype):
            vectors = model.post_vectors(chosen[:50])
            begun = time.perf_counter()
            model.post_vectors(chosen)
            taken = time.perf_counter() - begun
        assert vectors is not None
        cosines = (vectors * expected).sum(axis=1)
        rows.append({"model": name, "posts/s": len(chosen) / taken, "least cosine": float(cosines.min())})
    return {"rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser()
    known = {part.__name__: part for part in (differences, attention, encoders, precisions, devices, ranking)}
    parser.add_argument("part", choices=list(known))
    parser.add_argument("--rehearse", action="store_true")
    options = parser.parse_args()
    print(json.dumps(known[options.part](Bench(options.rehearse))))


if __name__ == "__main__":
    main()
