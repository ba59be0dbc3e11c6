"""A training run from its config to a model folder."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch

from linker.common.checks import between
from linker.common.console import stderr
from linker.common.errors import ConfigError
from linker.common.files import check_writable, unbroken
from linker.config import Lazy
from linker.data.data_source import DataSource
from linker.data.types import LinkedPosts
from linker.models.archive import CONFIG, save_model
from linker.models.model import Model, all_submodels
from linker.models.siamese.siamese import SiameseModel, save_weights
from linker.modules.losses.loss import Loss
from linker.modules.miners import Miner
from linker.training.checkpointing.checkpointer import Checkpoint, Checkpoints
from linker.training.checkpointing.resume import (
    LAST,
    check_data,
    checkpoints_of,
    find_checkpoint,
    fingerprint,
    log_dir_of,
    remove_half_written,
)
from linker.training.checkpointing.saver import Keeping, TrainingResult
from linker.training.distillation.distill_model import distil_model
from linker.training.distillation.teacher import Said
from linker.training.distributed.context import Workers
from linker.training.distributed.process_group import device_for
from linker.training.model_card import model_card, student_card
from linker.training.rng_state import seed_everything
from linker.training.trainer import Trainer
from linker.training.warm_start import begin_with
from linker.version import __version__


class Experiment:
    """What a training config describes.

    Args:
        data: where articles and posts come from, and how they are split.
        model: what is trained; of a model made of others, the one part that has weights.
        miner: which pairs of a batch are learned from.
        loss: what the pairs are to become.
        trainer: how it is trained.
        seed: decides initial weights, batches and dropout.
        start: a model folder of the same model (of `linker distil`, say) whose weights training begins with; or `best`,
            which linker brings along.
    """

    def __init__(
        self,
        data: DataSource,
        model: Lazy[Model],
        miner: Miner,
        loss: Loss,
        trainer: Trainer,
        seed: int = 13,
        start: str | None = None,
    ) -> None:
        between(0, 2**32 - 1, seed=seed)  # what numpy takes
        self.data, self.model, self.miner, self.loss = data, model, miner, loss
        self.trainer, self.seed, self.start = trainer, seed, start

    def run(
        self,
        out: Path,
        config: dict[str, Any],
        resume: bool = False,
        changed_config: bool = False,
        workers: Workers | None = None,
    ) -> TrainingResult:
        """Train and write the model folder.

        Args:
            out: the model folder; the best weights so far are in it after every epoch. Logs and checkpoints go to
                `<out>-log`.
            config: the resolved config that this experiment was built from.
            resume: go on from the newest checkpoint, if there is one; otherwise what was there is replaced.
            changed_config: go on although the config is not that of the checkpoint.
            workers: the processes that share the work; None: this one alone.

        Raises:
            LinkerError: see `Trainer.train` and `find_checkpoint`.
        """
        workers = workers or Workers(device_for(0))
        checkpoints = checkpoints_of(out)
        checkpoint, same_config = None, True
        if workers.first:
            for place in (out / CONFIG, checkpoints.path(0)):
                check_writable(place)
        if resume:
            checkpoint, same_config = self._find(out, config, changed_config, checkpoints, workers)
        with stderr.status("reading articles and posts") if workers.first else nullcontext():
            splits = self.data.load()
        train, dev = splits.train, splits.dev
        seed_everything(self.seed)
        whole = self.model.construct()
        model = _trained_part(whole)
        with stderr.status("preparing the model") if workers.first else nullcontext():
            self._make_ready(whole, train, config)
        model.to(workers.device)
        data = fingerprint(model, train, dev)
        if checkpoint is not None:
            check_data(checkpoint, data)
        if workers.first:
            _describe(train, dev, model)
            checkpoints.lock()
            remove_half_written(out)
            if checkpoint is None:
                checkpoints.clear()
            else:
                checkpoints.set_aside_after(checkpoint.step)

        def save_best(result: TrainingResult) -> None:
            """The model folder; the model holds the best weights."""
            metrics = {"best_epoch": result.best_epoch, "dev": result.epochs[result.best_epoch - 1]}
            save_model(whole, out, config, metrics, model_card(config, metrics, train, dev, model))

        def save(result: TrainingResult) -> None:
            """The best epoch as the model folder, the last one as weights beside it."""
            with unbroken():
                # An epoch that is not the best so far leaves the model folder as it is.
                if result.best_epoch in (0, len(result.epochs)):
                    save_best(result)
                save_weights(model, out / LAST)

        facts = {
            "config": config,
            "data": data,
            "linker_version": __version__,
            "torch_version": torch.__version__,
        }
        keeping = Keeping(checkpoints, facts, checkpoint, same_config, save_best)
        modules = self.miner.to(workers.device), self.loss.to(workers.device)
        try:
            return self.trainer.train(
                model, *modules, train, dev, self.seed, log_dir_of(out), save, keeping, workers, whole
            )
        finally:
            checkpoints.unlock()

    def distil(
        self, out: Path, config: dict[str, Any], texts: Iterable[str], said: Said, epochs: int, rate: float
    ) -> tuple[int, float]:
        """Fit the model to a teacher instead, and write the model folder after every epoch.

        Args:
            out: the model folder.
            config: the resolved config that this experiment was built from.
            texts: what the teacher is asked about.
            said: the teacher.
            epochs: see `distil_model`.
            rate: see `distil_model`.

        Returns:
            See `distil_model`.

        Raises:
            LinkerError: see `distil_model`.
        """
        check_writable(out / CONFIG)
        seed_everything(self.seed)
        whole = self.model.construct()
        model = _trained_part(whole)

        def ready(data: LinkedPosts) -> None:
            self._make_ready(whole, data, config)

        def save(epoch: int, cosine: float) -> None:
            with unbroken():
                metrics = {"epoch": epoch, "cosine_to_teacher": cosine}
                save_model(whole, out, config, metrics, student_card(config, said.teacher, cosine, model))

        precision = self.trainer.precision
        return distil_model(
            model, ready, texts, said, epochs, rate, self.seed, device_for(0), precision, save
        )

    def _make_ready(self, whole: Model, data: LinkedPosts, config: dict[str, Any]) -> None:
        """Prepare the model with the training texts, or let it begin with the weights of `start`."""
        if self.start is None:
            whole.prepare(data)
        else:
            begin_with(whole, self.start, config["model"])

    def _find(
        self,
        out: Path,
        config: dict[str, Any],
        changed_config: bool,
        checkpoints: Checkpoints,
        workers: Workers,
    ) -> tuple[Checkpoint | None, bool]:
        """The first process looks which checkpoint is to be gone on from, all read that one."""
        found: tuple[Checkpoint | None, bool] = None, True
        if workers.first:
            if checkpoints.steps():
                checkpoints.lock()
            found = find_checkpoint(out, config, changed_config)
        step, same = workers.all_of([found[0].step if found[0] else None, found[1]])[0]
        if workers.first or step is None:
            return found[0], same
        return checkpoints.read(step), same


def _trained_part(model: Model) -> SiameseModel:
    """What of a model has weights: itself, or the one part of it that has."""
    found = [part for part in all_submodels(model) if isinstance(part, SiameseModel)]
    if len(found) == 1:
        return found[0]
    problem = (
        "this model has no weights to train; use it directly, or set"
        if not found
        else (f"this model has {len(found)} parts with weights, and one run trains one; set one")
    )
    raise ConfigError(f"model.type: {problem} `siamese` or `transformer`")


def _describe(train: LinkedPosts, dev: LinkedPosts | None, model: SiameseModel) -> None:
    """What is about to be trained, and how much of the text has a vector."""
    parts = [f"train: {len(train.articles):,} articles, {len(train.posts):,} posts"]
    if dev:
        parts.append(f"dev: {len(dev.articles):,} articles, {len(dev.posts):,} posts")
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    parts.append(f"{trained:,} trained weights")
    stderr.print("; ".join(parts), highlight=False, soft_wrap=True)
    stderr.print(f"vocabulary: {model.description}", highlight=False, soft_wrap=True)
