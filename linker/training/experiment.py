"""A training run from its config to a model folder."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import torch

from linker.bounds import between
from linker.config import Lazy
from linker.data.source import DataSource
from linker.data.types import LinkedPosts
from linker.errors import ConfigError
from linker.files import check_writable, unbroken
from linker.models.folder import CONFIG, save_model
from linker.models.model import Model
from linker.models.siamese import SiameseModel, save_weights
from linker.modules.loss import Loss
from linker.modules.mining import Miner
from linker.progress import stderr
from linker.training.card import model_card
from linker.training.trainer import Trainer, TrainingResult


class Experiment:
    """What a training config describes.

    Args:
        data: where articles and posts come from, and how they are split.
        model: what is trained.
        miner: which pairs of a batch are learned from.
        loss: what the pairs are to become.
        trainer: how it is trained.
        seed: decides initial weights, batches and dropout.
    """

    def __init__(
        self, data: DataSource, model: Lazy[Model], miner: Miner, loss: Loss, trainer: Trainer, seed: int = 13
    ) -> None:
        between(0, 2**32 - 1, seed=seed)  # what numpy takes
        self.data, self.model, self.miner, self.loss = data, model, miner, loss
        self.trainer, self.seed = trainer, seed

    def run(self, out: Path, config: dict[str, Any]) -> TrainingResult:
        """Train and write the model folder.

        Args:
            out: the model folder; the best weights so far are in it after every epoch. Logs go to `<out>-log`.
            config: the resolved config that this experiment was built from.
        """
        for place in (out / CONFIG, log_dir_of(out) / "train.jsonl"):
            check_writable(place)
        splits = self.data.load()
        train, dev = splits.train, splits.dev
        seed_everything(self.seed)
        model = self.model.construct()
        if not isinstance(model, SiameseModel):
            raise ConfigError(
                "model.type: this model has no weights to train; use it directly, or set `siamese`"
            )
        model.prepare(train)
        _describe(train, dev, model)

        def save(result: TrainingResult) -> None:
            """The best epoch as the model folder, the last one as weights beside it."""
            with unbroken():
                # An epoch that is not the best so far leaves the model folder as it is.
                if result.best_epoch in (0, len(result.epochs)):
                    metrics = {"best_epoch": result.best_epoch, "dev": result.epochs[-1]}
                    save_model(model, out, config, metrics, model_card(config, metrics, train, dev, model))
                save_weights(model, out / "last.safetensors")

        return self.trainer.train(
            model, self.miner, self.loss, train, dev, self.seed, log_dir_of(out), on_epoch=save
        )


def log_dir_of(out: Path) -> Path:
    """Where the logs of a run go: beside the model folder, which stays the same from run to run."""
    return out.with_name(out.name + "-log")


def seed_everything(seed: int) -> None:
    """Seed every source of chance in this process."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def _describe(train: LinkedPosts, dev: LinkedPosts | None, model: SiameseModel) -> None:
    """What is about to be trained, and how much of the text has a vector."""
    parts = [f"train: {len(train.articles):,} articles, {len(train.posts):,} posts"]
    if dev:
        parts.append(f"dev: {len(dev.articles):,} articles, {len(dev.posts):,} posts")
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    parts.append(f"{trained:,} trained weights")
    stderr.print("; ".join(parts), highlight=False, soft_wrap=True)
    stderr.print(f"vocabulary: {model.coverage}", highlight=False, soft_wrap=True)
