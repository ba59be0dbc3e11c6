"""Trainings in processes of their own that are killed at chosen or random moments."""

import hashlib
import json
import multiprocessing.process
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.conftest import toy_posts
from tests.helpers.forked import context

CONFIG = """{
  data: { reader: { type: 'articles_and_posts', articles: 'articles.jsonl', posts: 'posts.jsonl' } },
  model: {
    type: 'siamese',
    encoder: { type: 'star_transformer', num_heads: 2, head_dim: 4, dropout: 0.1 },
    embedder: { type: 'word_vectors', dim: 8, trainable: true, buckets: 50, dropout: 0.2 },
  },
  miner: 'multi_similarity',
  loss: { type: 'triplet_margin', margin: 0.2 },
  trainer: {
    optimizer: { type: 'adam', lr: 0.01 },
    schedule: 'linear',
    batches: { articles: 4 },
    epochs: 4,
    initial_weight: 0.3,
    callbacks: ['json_lines'],
    checkpoint_seconds: 0,
  },
  seed: 4,
}"""


def write_workplace(folder: Path) -> Path:
    """A tiny training set and a config that is saved after every step."""
    data = toy_posts()
    with (folder / "articles.jsonl").open("w") as file:
        for article in data.articles:
            row = {"id": article.id, "title": article.title, "text": article.text, "story": article.story}
            file.write(json.dumps(row | {"split": "dev" if article.id.endswith("-2") else "train"}) + "\n")
    with (folder / "posts.jsonl").open("w") as file:
        for post in data.posts:
            row = {"id": post.id, "text": post.text}
            link = {"article_id": post.article_ids[0]} if post.article_ids else {"split": "train"}
            file.write(json.dumps(row | link) + "\n")
    (folder / "config.jsonnet").write_text(CONFIG)
    return folder


def start(
    folder: Path, *arguments: str, prepare: Callable[[], None] | None = None
) -> multiprocessing.process.BaseProcess:
    """Begin `linker ARGUMENTS` in `folder`; its stderr goes to the file `stderr` there."""
    process = context.Process(target=_child, args=(str(folder), arguments, prepare))
    process.start()
    return process


def run(folder: Path, *arguments: str, prepare: Callable[[], None] | None = None) -> tuple[int, str]:
    """`linker ARGUMENTS` to its end: exit code (negative: the signal), stderr."""
    process = start(folder, *arguments, prepare=prepare)
    process.join(120)
    assert process.exitcode is not None, "did not end"
    return process.exitcode, (folder / "stderr").read_text()


def train(out: str, *more: str) -> list[str]:
    return ["train", "config.jsonnet", "--out", out, *more]


def kill_at_random(folder: Path, out: str, rng: random.Random, longest: float) -> int:
    """Train and kill, again and again, until a run ends by itself; how often it was killed."""
    kills = 0
    while kill_once(folder, out, rng.uniform(0, longest)) is not None:
        kills += 1
    return kills


def kill_once(folder: Path, out: str, seconds: float, *more: str) -> str | None:
    """Train, or train on, and kill after `seconds`: where that struck; None where the run had ended by itself."""
    process = start(folder, *train(out, "--resume", *more))
    process.join(seconds)
    try:
        if process.exitcode is None:
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # it has just ended by itself
        pass
    process.join(60)
    if process.exitcode == 0:
        return None
    assert process.exitcode == -signal.SIGKILL, (folder / "stderr").read_text()
    log = folder / f"{out}-log"
    if log.is_dir() and any(path.name.startswith(".checkpoint") for path in log.iterdir()):
        return "while a checkpoint was being written"
    if (folder / out).is_dir() and any(path.name.startswith(".") for path in (folder / out).iterdir()):
        return "while the model folder was being written"
    return (
        "before the first checkpoint"
        if not (log / "checkpoint.safetensors").exists()
        else "at another moment"
    )


def outcome(folder: Path, out: str) -> dict[str, Any]:
    """All that must not depend on whether a run was killed: the model folder's bytes, the log without times."""
    digests: dict[str, Any] = {
        str(path.relative_to(folder / out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((folder / out).rglob("*"))
        if path.is_file()
    }
    lines = (folder / f"{out}-log" / "train.jsonl").read_text().splitlines()
    log = [json.loads(line) for line in lines]
    for record in log:
        record.pop("seconds", None)
    return digests | {"log": log}


def _child(folder: str, arguments: Sequence[str], prepare: Callable[[], None] | None) -> None:
    import torch

    from linker.cli.main import main
    from linker.common.console import stderr

    torch.set_num_threads(1)
    os.chdir(folder)
    # A name of its own until the end: a killed run's file must not be written on by the next.
    os.dup2(os.open("stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    stderr.file = sys.stderr
    if prepare is not None:
        prepare()
    sys.argv = ["linker", *arguments]
    main()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)
