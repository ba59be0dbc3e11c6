"""Measure time and memory of a training step by encoder, batch size, article length and precision.

    python -m benchmarks.training.sizes [--device cuda] [--out benchmarks/training/results/sizes.md]

The encoders of configs/ast, cnn, gru and bigru.jsonnet (300 numbers a word, frozen) over random texts: --posts posts of
20 tokens, two for each article of --tokens tokens. Each cell is measured in a process of its own. Each other encoder's
step is a ratio to that of --opponent over the same batch, measured in the same process in alternation; figures are
medians. Peak memory is that of a step above the level before it: of the process on a CPU (VmHWM), of torch's allocator
on a GPU (torch.cuda.max_memory_allocated).
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from benchmarks.measurement import process_status, reset_peak_memory
from linker.config import build
from linker.data.types import Article, LinkedPosts, Post
from linker.models.model import Model
from linker.modules.losses.triplet_margin import TripletMarginLoss
from linker.modules.miners import MultiSimilarityMiner
from linker.training.distributed.context import DistributedContext
from linker.training.rng_state import seed_everything
from linker.training.trainer import Trainer
from linker.training.training_state import TrainingTask

# As the configs have them.
ENCODERS = {
    "ast": {"type": "star_transformer", "num_heads": 10, "head_dim": 30, "score": "cosine"},
    "cnn": {"type": "cnn", "num_filters": 100, "ngram_sizes": [1, 2, 3, 4], "hidden_dim": 300},
    "gru": {"type": "gru", "hidden_dim": 300},
    "bigru": {"type": "bigru", "hidden_dim": 300},
}
MIB = 2**20
VOCABULARY = 50_000
HEAD = "| encoder | posts | tokens an article | precision | step, ms | of the opponent's | peak, MiB |"


class Step:
    """One encoder's training step over the same batch, repeatedly."""

    def __init__(self, encoder: str, data: LinkedPosts, tokens: int, precision: str, device: str) -> None:
        seed_everything(1)
        embedder = {"type": "word_vectors", "dim": 300, "trainable": True, "dropout": 0.05}
        config = {
            "type": "siamese",
            "tokenizer": "whitespace",
            "encoder": ENCODERS[encoder],
            "embedder": embedder,
        }
        model = build(Model, config | {"max_article_tokens": tokens})
        model.prepare(data)
        # As with pretrained vectors: there are none of made-up words.
        model.embedder.words.weight.requires_grad_(False)
        model.to(device).train()
        trainer = build(
            Trainer,
            {
                "optimizer": {"type": "adam", "lr": 5e-4},
                "schedule": "constant",
                "batches": {"articles": len(data.articles), "posts_per_article": 2},
                "precision": precision,
            },
        )
        miner = MultiSimilarityMiner()
        task = TrainingTask(model, miner, TripletMarginLoss(), data, workers=DistributedContext(device))
        self.run = trainer.start(task)

    def __call__(self) -> None:
        """One step, to its very end on a GPU."""
        self.run.next_epoch()
        self.run.epoch(1, lambda values: None)


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


def milliseconds(step: Step, device: str) -> float:
    """Return the duration of a step: by events on a GPU, by the clock on a CPU."""
    if device == "cpu":
        started = time.perf_counter()
        step()
        return 1000 * (time.perf_counter() - started)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    step()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def peak(step: Step, device: str) -> float:
    """Return the MiB of a step beyond those allocated before it."""
    if device == "cpu":
        before = reset_peak_memory()
        step()
        return (process_status("VmHWM", 0) - before) / MIB
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / MIB


def cell(
    encoder: str, opponent: str, posts: int, tokens: int, precision: str, device: str, repeats: int
) -> dict:
    """Return the milliseconds of both, measured in turn, and the memory of the first."""
    data = made_up(posts // 2, tokens)
    step = Step(encoder, data, tokens, precision, device)
    # First of all: the freed memory of steps before would be used again without being seen.
    memory = peak(step, device)
    rounds: dict[str, list[float]] = {"own": [], "opponent": []}
    steps = {"own": step}
    if opponent != encoder:
        steps["opponent"] = Step(opponent, data, tokens, precision, device)
        steps["opponent"]()
    gc.collect()
    for _ in range(repeats):
        for who, one in steps.items():
            rounds[who].append(milliseconds(one, device))
    found = {who: statistics.median(times) for who, times in rounds.items() if times}
    return {"own": found["own"], "opponent": found.get("opponent", found["own"]), "memory": memory}


def measured(setting: Sequence[object]) -> dict | str:
    """Return `cell` from a separate process, or why it failed."""
    command = [sys.executable, "-m", "benchmarks.training.sizes", "--one", json.dumps(setting)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 0:
        return json.loads(result.stdout.splitlines()[-1])
    return "out of memory" if "memory" in result.stderr else f"ended with {result.returncode}"


def row(setting: Sequence[object]) -> str:
    encoder, opponent, posts, tokens, precision, *_ = setting
    head = f"| {encoder} | {posts:,} | {tokens:,} | {precision} |"
    seen = measured(setting)
    if isinstance(seen, str):
        return f"{head} {seen} | | |"
    ratio = "1" if encoder == opponent else f"{seen['own'] / seen['opponent']:.2f}"
    return f"{head} {seen['own']:,.1f} | {ratio} | {seen['memory']:,.0f} |"


def settings(arguments: argparse.Namespace) -> list[tuple]:
    """Every batch size at one length and every length at one batch size, for each encoder and precision."""
    sizes = [(posts, arguments.at_tokens) for posts in arguments.posts]
    sizes += [(arguments.at_posts, tokens) for tokens in arguments.tokens if tokens != arguments.at_tokens]
    last = (arguments.device, arguments.repeats)
    return [
        (encoder, arguments.opponent, *size, precision, *last)
        for precision in arguments.precisions
        for size in dict.fromkeys(sizes)
        for encoder in arguments.encoders
    ]


def main() -> None:
    cuda = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if cuda else "cpu")
    parser.add_argument("--encoders", nargs="+", choices=ENCODERS, default=list(ENCODERS))
    parser.add_argument("--opponent", choices=ENCODERS, default="gru")
    parser.add_argument("--posts", type=int, nargs="+", default=[32, 128, 512, 1024] if cuda else [32, 64])
    parser.add_argument(
        "--tokens", type=int, nargs="+", default=[100, 1000, 4000, 8000] if cuda else [100, 400]
    )
    parser.add_argument(
        "--at-posts",
        type=int,
        default=128 if cuda else 32,
        help="number of posts where the article length varies",
    )
    parser.add_argument(
        "--at-tokens",
        type=int,
        default=1000 if cuda else 100,
        help="article length where the number of posts varies",
    )
    parser.add_argument("--precisions", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--repeats", type=int, default=9 if cuda else 3)
    parser.add_argument("--out", type=Path, help="file for the table, which is printed in any case")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(cell(*json.loads(arguments.one))))
        return
    where = (
        torch.cuda.get_device_name()
        if arguments.device == "cuda"
        else f"CPU, {torch.get_num_threads()} threads"
    )
    lines = [f"{platform.machine()}, {where}, torch {torch.__version__}; opponent: {arguments.opponent}", ""]
    lines += [HEAD, "|---" * 7 + "|"]
    print("\n".join(lines))
    for setting in settings(arguments):
        lines.append(row(setting))
        print(lines[-1], flush=True)
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
