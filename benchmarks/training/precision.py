"""Measure speed and dev metrics of each encoder in float32 and in lower precision, on the sample in data/.

    python -m benchmarks.training.precision [--precisions float32 bfloat16] [--epochs 3] [--seeds 1 2]

On a GPU add float16. Trains configs/quickstart.jsonnet with each encoder; prints a Markdown table with the mean seconds
of a step and the mean over seeds of the best epoch's dev metrics.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
ENCODERS = ("star_transformer", "cnn", "gru", "bigru")


def train(encoder: str, precision: str, epochs: int, seed: int, out: Path) -> tuple[float, dict[str, float]]:
    """Return the median seconds of a step and the best dev metrics."""
    command = [
        sys.executable,
        "-m",
        "linker.cli.main",
        "train",
        "configs/quickstart.jsonnet",
        "--out",
        str(out),
    ]
    overrides = {"seed": seed, "trainer.epochs": epochs, "trainer.precision": precision}
    for path, value in overrides.items():
        command += ["-o", f"{path}={value}"]
    # At its defaults, for embeddings of 64 numbers.
    heads = {"type": encoder} | ({"num_heads": 4, "head_dim": 16} if encoder == "star_transformer" else {})
    command += ["-o", f"{{model+: {{encoder: {json.dumps(heads)}}}}}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    log = (out.with_name(out.name + "-log") / "train.jsonl").read_text().splitlines()
    seconds = [record["seconds"] for record in map(json.loads, log) if "step" in record]
    return statistics.median(seconds), json.loads((out / "metrics.json").read_text())["dev"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--precisions", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--encoders", nargs="+", default=list(ENCODERS))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    arguments = parser.parse_args()
    device = (
        torch.cuda.get_device_name()
        if torch.cuda.is_available()
        else f"CPU, {torch.get_num_threads()} threads"
    )
    print(f"{platform.machine()}, torch {torch.__version__}, {device}\n")
    print("| encoder | precision | seconds a step | mAP % | AUC % | MAP % |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for encoder in arguments.encoders:
            for precision in arguments.precisions:
                found = [
                    train(
                        encoder,
                        precision,
                        arguments.epochs,
                        seed,
                        Path(folder) / f"{encoder}-{precision}-{seed}",
                    )
                    for seed in arguments.seeds
                ]
                seconds = statistics.mean(one[0] for one in found)
                dev = [
                    f"{100 * statistics.mean(one[1][name] for one in found):.2f}"
                    for name in ("mAP", "AUC", "MAP")
                ]
                print(f"| {encoder} | {precision} | {seconds:.3f} | {' | '.join(dev)} |", flush=True)


if __name__ == "__main__":
    main()
