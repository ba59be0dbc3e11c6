"""Check and measure linker on a GPU in ten minutes; write results/gpu.md and gpu.json.

    make gpu
    python -m benchmarks.gpu --out DIR
    python -m benchmarks.gpu --rehearse      # without a GPU: small sizes, gloo

Each part runs in a process of its own, so that one that fails leaves the others; the page says which failed and why.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.measurement import machine, say
from benchmarks.speed.workloads import DIM, HEAD_DIM, HEADS
from linker.modules.encoders.cnn import CnnEncoder
from linker.modules.encoders.encoder import Encoder
from linker.modules.encoders.gru import BiGruEncoder, GruEncoder
from linker.modules.encoders.star_transformer import StarTransformerEncoder
from linker.modules.kernels.dispatch import use_kernels
from linker.modules.losses.triplet_margin import TripletMarginLoss
from linker.modules.miners import MultiSimilarityMiner

ROOT = Path(__file__).resolve().parents[2]
Row = dict[str, Any]
ENCODERS: dict[str, Callable[[], Encoder]] = {
    "star transformer": lambda: StarTransformerEncoder(HEADS, HEAD_DIM, input_dim=DIM),
    "CNN": lambda: CnnEncoder(hidden_dim=DIM, input_dim=DIM),
    "GRU": lambda: GruEncoder(DIM, input_dim=DIM),
    "BiGRU": lambda: BiGruEncoder(DIM, input_dim=DIM),
}
PRECISIONS: dict[str, torch.dtype | None] = {"float32": None, "bfloat16": torch.bfloat16}
#: A rehearsal may take this many times longer than the limits of `PARTS`.
SLOWER = 5


class Bench:
    """Device and sizes of a run.

    Args:
        rehearse: small sizes on the CPU.
    """

    def __init__(self, rehearse: bool) -> None:
        self.rehearse = rehearse
        self.device = torch.device("cpu" if rehearse else "cuda")

    def encoder(self, name: str) -> Encoder:
        """Return an encoder with the same weights each time."""
        torch.manual_seed(0)
        return ENCODERS[name]()

    def texts(self, count: int, length: int, seed: int = 0) -> tuple[Tensor, Tensor]:
        """Return random token vectors, tokens × 300, and the lengths of the texts."""
        vectors = torch.randn(count * length, DIM, generator=torch.Generator().manual_seed(seed)) / 3
        return vectors.to(self.device), torch.full((count,), length, device=self.device)

    def autocast(self, precision: str) -> torch.autocast:
        """Return the context of a precision."""
        dtype = PRECISIONS[precision]
        return torch.autocast(self.device.type, dtype or torch.bfloat16, enabled=dtype is not None)

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
            return None
        torch.cuda.reset_peak_memory_stats()
        task()
        return torch.cuda.max_memory_allocated() / 2**20

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def differences(bench: Bench) -> list[Row]:
    """Embeddings of a star transformer, and the gradient of its tokens, beside float64 on the CPU."""
    tokens, lengths = bench.texts(*((4, 12) if bench.rehearse else (64, 200)))
    encoder = bench.encoder("star transformer").eval()  # without dropout

    def embedded(tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        leaf = tokens.clone().requires_grad_()
        vectors = encoder(leaf, lengths).to(leaf.dtype)
        probe = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(1)).to(vectors)
        (vectors * probe).sum().backward()
        assert leaf.grad is not None
        return vectors.detach().cpu().double(), leaf.grad.cpu().double()

    rows = []
    with use_kernels("plain"):
        encoder.double()
        expected, expected_gradient = embedded(tokens.cpu().double(), lengths.cpu())
        encoder.to(bench.device, torch.float32)
        for precision in PRECISIONS:
            with bench.autocast(precision):
                vectors, gradient = embedded(tokens, lengths)
            cosine = float(nn.functional.cosine_similarity(vectors, expected).min())
            difference = float((gradient - expected_gradient).norm() / expected_gradient.norm())
            rows.append({"precision": precision, "least cosine": cosine, "gradient": difference})
    return rows


def steps(bench: Bench) -> list[Row]:
    """Training steps on articles of 300 tokens and as many posts of 30: embeddings, mining, loss, Adam."""
    rows = []
    for articles in (4,) if bench.rehearse else (16, 64, 256):
        for name in ENCODERS:
            for precision in PRECISIONS:
                row: Row = {"articles": articles, "encoder": name, "precision": precision}
                try:
                    step = training_step(bench, name, articles, precision)
                    row["loss after 20 steps"] = [step() for _ in range(2 if bench.rehearse else 20)][-1]
                    row |= {"ms": bench.milliseconds(step), "MiB": bench.peak_mib(step)}
                except torch.cuda.OutOfMemoryError:
                    row |= {"loss after 20 steps": None, "ms": None, "MiB": None}
                    torch.cuda.empty_cache()
                rows.append(row)
    return rows


def training_step(bench: Bench, name: str, articles: int, precision: str) -> Callable[[], float]:
    """Return a function that takes a step and returns its loss."""
    encoder = bench.encoder(name).to(bench.device)
    long, short = (12, 6) if bench.rehearse else (300, 30)
    batches = bench.texts(articles, long), bench.texts(articles, short, seed=1)
    miner, loss_of = MultiSimilarityMiner(), TripletMarginLoss()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-4)
    relevance = torch.eye(articles, dtype=torch.bool, device=bench.device)

    def step() -> float:
        with bench.autocast(precision):
            a, p = (encoder(*batch).float() for batch in batches)
        a, p = nn.functional.normalize(a), nn.functional.normalize(p)
        loss = loss_of(a, p, miner(a, p, relevance))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def devices(bench: Bench) -> list[Row]:
    """`linker train` of the quickstart by one process, and by all GPUs (NCCL) or two processes on the CPU (gloo)."""
    gpus = 0 if bench.rehearse else torch.cuda.device_count()
    runs = [("GPU", number) for number in sorted({1, gpus})] if gpus else []
    if gpus < 2:
        runs += [("CPU", 1), ("CPU", 2)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for device, number in runs:
            hidden = {"CUDA_VISIBLE_DEVICES": ""} if device == "CPU" else {}
            out = Path(folder, f"{device}-{number}")
            command = [
                sys.executable,
                "-m",
                "linker",
                "train",
                "configs/quickstart.jsonnet",
                "--out",
                str(out),
            ]
            command += ["--devices", str(number), "-o", "trainer.epochs=2"]
            begun = time.monotonic()
            done = subprocess.run(
                command, cwd=ROOT, env={**os.environ, **hidden}, capture_output=True, text=True
            )
            if done.returncode:
                raise SystemExit(done.stderr.strip() or f"linker train ended with {done.returncode}")
            dev = json.loads((out / "metrics.json").read_text())["dev"]
            seconds = round(time.monotonic() - begun, 1)
            rows.append(
                {"device": device, "processes": number, "s": seconds, "MAP": dev["MAP"], "AUC": dev["AUC"]}
            )
    return rows


def ranking(bench: Bench) -> list[Row]:
    """Posts of the sample, encoded by `best`: int8 on the CPU, and its network in torch on the GPU."""
    from linker.data.io.records import read_posts
    from linker.models.files.archive import load_model
    from linker.models.files.resolve import resolve_model
    from linker.models.model import embedding_submodel
    from linker.models.pretrained import FOLDERS

    posts = read_posts(str(ROOT / "data" / "posts.jsonl"))
    copies = 1 if bench.rehearse else 20
    posts = posts[:200] if bench.rehearse else posts
    # Numbered, because equal texts are encoded once.
    posts = [replace(post, text=f"{post.text} {copy}") for copy in range(copies) for post in posts]
    int8 = embedding_submodel(resolve_model("best").load())
    network = embedding_submodel(load_model(FOLDERS["best"]))
    assert int8 is not None
    assert isinstance(network, nn.Module)
    network.to(bench.device)
    rows, expected = [], int8.post_vectors(posts[:50])
    assert expected is not None
    for name, model, precision in [
        ("int8, CPU", int8, "float32"),
        *((name, network, name) for name in PRECISIONS),
    ]:
        with torch.no_grad(), bench.autocast(precision):
            vectors = model.post_vectors(posts[:50])
            begun = time.perf_counter()
            model.post_vectors(posts)
            seconds = time.perf_counter() - begun
        assert vectors is not None
        least = float((vectors * expected).sum(axis=1).min())
        rows.append({"model": name, "posts/s": len(posts) / seconds, "least cosine": least})
    return rows


#: Each part, and the seconds that it may take.
PARTS: dict[Callable[[Bench], list[Row]], int] = {differences: 60, steps: 180, devices: 120, ranking: 60}


def measured(name: str, limit: int, rehearse: bool) -> Row:
    """Run a part in a process of its own; return its rows and seconds, or `problem`."""
    command = [sys.executable, "-m", "benchmarks.gpu", "--part", name, *["--rehearse"] * rehearse]
    begun = time.monotonic()
    # Packages may lie in further folders of the path, as on machines without a package index.
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = dict(os.environ, PYTHONPATH=path)
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"took longer than {limit} s"}
    if done.returncode:
        # Whole: on a borrowed machine there may be no second try.
        print(done.stderr, file=sys.stderr, flush=True)
        lines = (done.stderr.strip() or done.stdout.strip() or "ended without a message").splitlines()
        return {"problem": lines[-1][:500]}
    return {"rows": json.loads(done.stdout.splitlines()[-1]), "seconds": round(time.monotonic() - begun, 1)}


def page(results: Row) -> str:
    """Return the page, Markdown, from the figures of all parts so far."""
    made = "Made by `make gpu`."
    if results["rehearsal"]:
        made = (
            "A rehearsal without a GPU: small sizes, gloo. It shows that everything runs, and nothing else."
        )
    sections = ["# linker on a GPU", made, results["machine"]]
    for name, part in results["parts"].items():
        title = next(function.__doc__ or "" for function in PARTS if function.__name__ == name)
        body = f"**Failed**: {part['problem']}" if "problem" in part else table(part["rows"])
        sections += [f"## {name}", title, body]
    return "\n\n".join(sections) + "\n"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a Markdown table; what is missing is a dash."""
    lines = [f"| {' | '.join(rows[0])} |", "|" + "---|" * len(rows[0])]
    for row in rows:
        lines.append(f"| {' | '.join(map(cell, row.values()))} |")
    return "\n".join(lines)


def cell(value: Any) -> str:
    """Return a cell of a table."""
    if not isinstance(value, float):
        return "–" if value is None else str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.4g}"


def main() -> None:
    names = [part.__name__ for part in PARTS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "gpu" / "results")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="parts to run")
    parser.add_argument(
        "--rehearse", action="store_true", help="run without a GPU, on small sizes; writes rehearsal.md"
    )
    parser.add_argument("--part", choices=names, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(json.dumps(dict(zip(names, PARTS))[options.part](Bench(options.rehearse))))
        return
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    if not gpus and not options.rehearse:
        raise SystemExit("torch finds no GPU; --rehearse runs every part without one, on small sizes")
    about = f"{', '.join(gpus) or 'no GPU'}; CUDA {torch.version.cuda}; {machine()}."
    results: Row = {"machine": about, "rehearsal": options.rehearse, "parts": {}}
    target = options.out / ("rehearsal" if options.rehearse else "gpu")
    options.out.mkdir(parents=True, exist_ok=True)
    for part, limit in PARTS.items():
        name = part.__name__
        if name in options.only:
            say(name)
            results["parts"][name] = measured(
                name, limit * (SLOWER if options.rehearse else 1), options.rehearse
            )
            if "problem" in results["parts"][name]:
                say(f"    failed: {results['parts'][name]['problem']}")
            # After every part: what was measured stays if the machine goes away.
            target.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
            target.with_suffix(".md").write_text(page(results))
    say(f"wrote {target.with_suffix('.md')}")
    if any("problem" in part for part in results["parts"].values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
