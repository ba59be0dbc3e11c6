"""Measure peak memory and time of a training step by batch size, at once and in chunks (`trainer.chunk_tokens`).

    python -m benchmarks.training.memory [--articles 64 256 1024] [--tokens 1000] [--chunk 16384]

The Adaptive Siamese Transformer of configs/ast.jsonnet (300 numbers a word, 10 heads of 30) over random texts: each
article of --tokens tokens has two posts of 20. Each step runs in a process of its own; its peak is what the operating
system reports, minus what the process used before the step. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time

import numpy as np
import torch

from linker.config import build
from linker.data.types import Article, LinkedPosts, Post
from linker.models.model import Model
from linker.modules.losses.triplet_margin import TripletMarginLoss
from linker.modules.miners import MultiSimilarityMiner
from linker.training.rng_state import seed_everything
from linker.training.trainer import Trainer
from linker.training.training_state import TrainingTask

MIB = 2**20
VOCABULARY = 50_000


def made_up(articles: int, tokens: int) -> LinkedPosts:
    """Return texts whose words follow Zipf's law."""
    rng = np.random.default_rng(1)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    weights /= weights.sum()

    def text(length: int) -> str:
        return " ".join(f"w{i}" for i in rng.choice(VOCABULARY, length, p=weights))

    return LinkedPosts(
        [Article(f"a{i}", text(tokens)) for i in range(articles)],
        [Post(f"a{i}p{k}", text(20), (f"a{i}",)) for i in range(articles) for k in range(2)],
    )


def one_step(articles: int, tokens: int, chunk_tokens: int | None, precision: str) -> dict[str, float]:
    """Return seconds and MiB of one step over all articles."""
    seed_everything(1)
    data = made_up(articles, tokens)
    encoder = {"type": "star_transformer", "num_heads": 10, "head_dim": 30, "score": "cosine"}
    embedder = {"type": "word_vectors", "dim": 300, "trainable": True, "dropout": 0.05}
    model = build(
        Model, {"type": "siamese", "tokenizer": "whitespace", "encoder": encoder, "embedder": embedder}
    )
    model.prepare(data)
    trainer = build(
        Trainer,
        {
            "optimizer": "adam",
            "schedule": "constant",
            "batches": {"articles": articles, "posts_per_article": 2},
            "chunk_tokens": chunk_tokens,
            "precision": precision,
        },
    )
    run = trainer.start(TrainingTask(model, MultiSimilarityMiner(), TripletMarginLoss(), data))
    model.train()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    run.epoch(1, lambda values: None)
    assert run.step == 1
    seconds = time.monotonic() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": seconds,
        "step": (peak - before) * 1024 / MIB,
        "process": peak * 1024 / MIB,
        "loss": run.loss_sum,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--tokens", type=int, default=1000)
    parser.add_argument("--chunk", type=int, default=16_384)
    parser.add_argument("--precision", default="float32")
    parser.add_argument(
        "--largest-whole", type=int, default=256, help="largest batch that is also measured without chunks"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one_step(*json.loads(arguments.one))))
        return
    print(f"{platform.machine()}, torch {torch.__version__}, {torch.get_num_threads()} threads\n")
    print(f"| articles × {arguments.tokens:,} tokens | chunk | step, MiB | process, MiB | seconds | loss |")
    print("|---|---|---|---|---|---|")
    for articles in arguments.articles:
        for chunk in (None, arguments.chunk):
            if chunk is None and articles > arguments.largest_whole:
                continue
            setting = json.dumps([articles, arguments.tokens, chunk, arguments.precision])
            result = subprocess.run(
                [sys.executable, "-m", "benchmarks.training.memory", "--one", setting],
                capture_output=True,
                text=True,
            )
            if result.returncode:
                print(
                    f"| {articles:,} | {chunk or 'all'} | ended with {result.returncode} | | | |", flush=True
                )
                continue
            seen = json.loads(result.stdout)
            figures = (
                f"{seen['step']:,.0f} | {seen['process']:,.0f} | {seen['seconds']:.1f} | {seen['loss']:.6f}"
            )
            print(f"| {articles:,} | {chunk or 'all'} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
