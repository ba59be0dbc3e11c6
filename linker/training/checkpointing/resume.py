"""Whether a run may begin or go on, and from where."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linker.common.console import stderr
from linker.common.errors import ConfigError, LinkerError
from linker.config.jsonnet import ABSENT, differing
from linker.data.types import LinkedPosts
from linker.models.archive import CARD, CONFIG, METRICS
from linker.models.siamese.siamese import SiameseModel
from linker.models.siamese.transformer import FOLDER as NETWORK
from linker.models.siamese.word_siamese import VOCABULARY, WEIGHTS
from linker.training.checkpointing.checkpointer import Checkpoint, Checkpoints

LAST = "last.safetensors"
# Differences shown when a config has changed.
SHOWN = 20


def log_dir_of(out: Path) -> Path:
    """Where the logs of a run go: beside the model folder, which stays the same from run to run."""
    return out.with_name(out.name + "-log")


def checkpoints_of(out: Path) -> Checkpoints:
    """Where the checkpoints of a run are."""
    return Checkpoints(log_dir_of(out) / "checkpoints")


def check_output_dir(out: Path) -> None:
    """Make sure that a new run would replace nothing.

    Raises:
        LinkerError: there is a model folder, or a run that is not finished.
    """
    checkpoint, problems = checkpoints_of(out).newest()
    if checkpoint is not None and not checkpoint.facts["finished"]:
        raise LinkerError(
            f"{out}: holds an unfinished run, {position(checkpoint)}; "
            "continue it with --resume, replace it with --overwrite, or choose another folder with --out"
        )
    if checkpoint is None and problems:
        raise LinkerError(f"{problems[0]}; start again with --overwrite, or choose another folder with --out")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        more = "train it further with --resume --changed-config -o trainer.epochs=N, " if checkpoint else ""
        raise LinkerError(
            f"{out}: already exists; {more}replace it with --overwrite, or choose another folder with --out"
        )


def position(checkpoint: Checkpoint) -> str:
    """How far a run had come, for people."""
    facts = checkpoint.facts
    return f"at epoch {len(facts['epochs']) + 1}, batch {facts['batch']} of {facts['steps_in_epoch']}"


def find_checkpoint(
    out: Path, config: dict[str, Any], changed_config: bool
) -> tuple[Checkpoint | None, bool]:
    """Where a run goes on, and whether its config is the same as then; None where there is nothing to go on from.

    Checkpoints that are damaged are told of on stderr, and set aside.

    Raises:
        ConfigError: the config is another one, and that was not asked for.
        LinkerError: there are checkpoints, but none of them is whole; or there is a model and no checkpoint.
    """
    checkpoints = checkpoints_of(out)
    checkpoint, problems = checkpoints.newest()
    if checkpoint is None:
        if problems:
            raise LinkerError(f"{'; '.join(problems)}; start again with --overwrite")
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise LinkerError(
                f"{out}: exists, but there is no checkpoint of it in {checkpoints.folder}; "
                "choose another folder with --out, or start again with --overwrite"
            )
        return None, True
    for problem in problems:
        _say(f"{problem}; going on from the one before it")
    changes = list(differences(checkpoint.facts["config"], config))
    if changes and not changed_config:
        shown = "\n  ".join(
            changes[:SHOWN] + ([f"and {len(changes) - SHOWN} more"] if len(changes) > SHOWN else [])
        )
        raise ConfigError(
            f"{out}: the run that would go on was begun with another config:\n  {shown}\n"
            "Undo the change, allow it with --changed-config, or start again with --overwrite"
        )
    _say(
        f"going on {position(checkpoint)}"
        + (f" with {len(changes)} changes of the config" if changes else "")
    )
    return checkpoint, not changes


def differences(before: Any, after: Any) -> Iterator[str]:
    """`path: before → after` for each value in which two configs differ."""
    for path, old, new in differing(before, after):
        yield f"{path}: {_shown(old, '(new)')} → {_shown(new, '(gone)')}"


def _shown(value: Any, absent: str) -> str:
    return absent if value is ABSENT else json.dumps(value, ensure_ascii=False)


def remove_half_written(out: Path) -> None:
    """Remove what a run that was killed left half written in its model folder and logs."""
    names = (CONFIG, METRICS, CARD, VOCABULARY, WEIGHTS, NETWORK, LAST)
    for folder, written in ((out, names), (log_dir_of(out), ("train.jsonl",))):
        for name in written:
            for path in folder.glob(f".{name}.*"):
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
    checkpoints_of(out).clean()


def fingerprint(model: SiameseModel, train: LinkedPosts, dev: LinkedPosts | None) -> str:
    """SHA-256 over all that is learned from and measured on, and the vocabulary."""
    digest = hashlib.sha256()
    for part in (train, dev) if dev else (train,):
        for article in part.articles:
            digest.update(repr((article.id, article.full_text, article.story)).encode("utf-8", "replace"))
        for post in part.posts:
            digest.update(repr((post.id, post.text, post.article_ids)).encode("utf-8", "replace"))
    digest.update("\n".join(model.words).encode("utf-8", "replace"))
    return digest.hexdigest()


def check_data(checkpoint: Checkpoint, data: str) -> None:
    """Make sure that a run goes on over the data it began with.

    Raises:
        LinkerError: the data, or the words that have vectors, are others.
    """
    if checkpoint.facts["data"] != data:
        raise LinkerError(
            "the run that would go on was begun with other data: articles, posts, their order, or the words that "
            "have vectors have changed since; put the old files back, or start again with --overwrite"
        )


def _say(text: str) -> None:
    stderr.print(text, highlight=False, soft_wrap=True, markup=False)
