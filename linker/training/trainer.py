"""The training loop: mined pairs, a loss, a step; the best epoch on the dev set wins."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from rich.progress import Progress, TaskID
from torch import Tensor, nn

from linker.bounds import above, at_least
from linker.data.types import LinkedPosts
from linker.errors import ConfigError, LinkerError
from linker.evaluation.protocol import ARTICLE_METRICS, PAIR_METRICS, evaluate
from linker.models.siamese import SiameseModel
from linker.modules.loss import Loss
from linker.modules.mining import Miner
from linker.progress import progress_bar, stderr
from linker.training.batches import PairBatch, PairBatches
from linker.training.callbacks import Callback
from linker.training.optimizers import Optimizer, Schedule


@dataclass
class TrainingResult:
    """How a run went.

    Attributes:
        epochs: the dev metrics after each epoch, in order; empty dictionaries without a dev set.
        best_epoch: counted from 1; 0 where nothing was trained.
        best_state: the weights after the best epoch.
        interrupted: the run was stopped by Ctrl-C.
    """

    epochs: list[dict[str, float]] = field(default_factory=list)
    best_epoch: int = 0
    best_state: dict[str, Tensor] = field(default_factory=dict)
    interrupted: bool = False


class Trainer:
    """Trains a Siamese model.

    Args:
        optimizer: how weights follow gradients.
        schedule: how the learning rate changes over the run.
        batches: which articles and posts meet in a step.
        epochs: passes over the training posts, at most; 0 measures the model as it is prepared (untrained vectors).
        patience: stop after this many epochs without a better `metric`; null never stops early.
        metric: the dev metric that says which epoch is best, as `linker evaluate` names it.
        clip_norm: gradients longer than this are shortened to it; null leaves them.
        callbacks: what watches the run.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedule: Schedule,
        batches: PairBatches,
        epochs: int = 10,
        patience: int | None = 5,
        metric: str = "mAP",
        clip_norm: float | None = 1.0,
        callbacks: list[Callback] | None = None,
    ) -> None:
        at_least(0, epochs=epochs)
        at_least(1, patience=patience)
        above(0, clip_norm=clip_norm)
        known = [*PAIR_METRICS, *ARTICLE_METRICS]
        if metric not in known:
            raise ConfigError(
                f"trainer.metric: there is no metric {metric!r}; choose one of {', '.join(known)}"
            )
        self.optimizer, self.schedule, self.batches = optimizer, schedule, batches
        self.epochs, self.patience, self.metric, self.clip_norm = epochs, patience, metric, clip_norm
        self.callbacks = callbacks or []

    def train(
        self,
        model: SiameseModel,
        miner: Miner,
        loss: Loss,
        train: LinkedPosts,
        dev: LinkedPosts | None,
        seed: int,
        log_dir: Path,
        on_epoch: Callable[[TrainingResult], None] = lambda result: None,
    ) -> TrainingResult:
        """Train until the epochs or the patience are used up, or Ctrl-C.

        Args:
            model: prepared; holds the weights of the last epoch afterwards.
            miner: chooses pairs.
            loss: over the chosen pairs.
            train: what is learned from.
            dev: what chooses the best epoch; without it the last one counts as best.
            seed: decides the order of the batches.
            log_dir: for callbacks.
            on_epoch: called after each epoch, when the best state is up to date.

        Raises:
            LinkerError: the loss is not a number; the message names the batch's articles.
        """
        result = TrainingResult()
        if self.epochs == 0:
            self._record(result, 0, _measure(model, dev), model)
            on_epoch(result)
            return result
        run = _Run(self, model, miner, loss, train, seed)
        _start(self.callbacks, log_dir)
        try:
            for number in range(1, self.epochs + 1):
                started = time.monotonic()
                run.epoch(number)
                metrics = _measure(model, dev)
                self._record(result, number, metrics, model)
                on_epoch(result)
                _report(number, self.epochs, run, metrics, self.metric, result, time.monotonic() - started)
                for callback in self.callbacks:
                    callback.epoch(number, metrics)
                if dev and self.patience is not None and number - result.best_epoch >= self.patience:
                    stderr.print(f"no better {self.metric} for {self.patience} epochs: stopping early")
                    break
        except KeyboardInterrupt:
            if not result.epochs:
                raise
            result.interrupted = True
        finally:
            for callback in self.callbacks:
                callback.close()
        return result

    def _record(
        self, result: TrainingResult, number: int, metrics: dict[str, float], model: nn.Module
    ) -> None:
        if metrics and self.metric not in metrics:
            raise LinkerError(
                f"trainer.metric: the dev set is too small for {self.metric}; choose one of {', '.join(metrics)}"
            )
        best = result.epochs[result.best_epoch - 1] if result.best_epoch else None
        result.epochs.append(metrics)
        if best is None or not metrics or metrics[self.metric] > best[self.metric]:
            result.best_epoch = number
            result.best_state = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


def _start(callbacks: list[Callback], log_dir: Path) -> None:
    try:
        for callback in callbacks:
            callback.start(log_dir)
    except OSError as error:
        raise LinkerError(f"{error.filename or log_dir}: cannot be written ({error.strerror})") from error


def _measure(model: SiameseModel, dev: LinkedPosts | None) -> dict[str, float]:
    return evaluate(model.score(dev.articles, dev.posts), dev) if dev else {}


class _Run:
    """One model being trained: the optimiser's state, the tokenized training set, the step counter."""

    def __init__(
        self, trainer: Trainer, model: SiameseModel, miner: Miner, loss: Loss, data: LinkedPosts, seed: int
    ) -> None:
        self.model, self.miner, self.loss, self.data, self.seed = model, miner, loss, data, seed
        self.batches, self.clip_norm, self.callbacks = trainer.batches, trainer.clip_norm, trainer.callbacks
        self.steps = self.batches.count(data)
        self.articles = [model.article_tokens(article) for article in data.articles]
        self.posts = [model.post_tokens(post) for post in data.posts]
        self.parameters = [p for p in [*model.parameters(), *loss.parameters()] if p.requires_grad]
        if not self.parameters:
            raise ConfigError(
                "the model has nothing to train: its encoder has no weights and its embedder is frozen"
            )
        self.optimizer = trainer.optimizer.build(self.parameters)
        self.scheduler = trainer.schedule.build(self.optimizer, self.steps * trainer.epochs)
        self.step_number = 0
        self.mean_loss = self.mean_triplets = 0.0

    def epoch(self, number: int) -> None:
        """One pass over the training posts."""
        self.model.train()
        losses, triplets = [], []
        with progress_bar() as progress:
            bar = progress.add_task(f"epoch {number}", total=self.steps)
            for batch in self.batches.epoch(self.data, self.seed * 100_003 + number):
                values = self._step(batch)
                losses.append(values["loss"])
                triplets.append(values["triplets"])
                self._show(progress, bar, number, values)
        self.mean_loss, self.mean_triplets = sum(losses) / len(losses), sum(triplets) / len(triplets)

    def _step(self, batch: PairBatch) -> dict[str, float]:
        started = time.monotonic()
        count = len(batch.articles)
        vectors = self.model(
            [self.articles[i] for i in batch.articles] + [self.posts[j] for j in batch.posts]
        )
        articles, posts = vectors[:count], vectors[count:]
        pairs = self.miner(articles, posts, self._relevance(batch).to(vectors.device))
        loss = self.loss(articles, posts, pairs)
        if not math.isfinite(loss.item()):
            ids = ", ".join(self.data.articles[i].id for i in batch.articles)
            raise LinkerError(
                f"step {self.step_number + 1}: the loss is {loss.item()}; articles of the batch: {ids}"
            )
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.parameters, self.clip_norm)
        rate = self.optimizer.param_groups[0]["lr"]
        self.optimizer.step()
        self.scheduler.step()
        self.step_number += 1
        values = {
            "loss": loss.item(),
            "triplets": float(pairs.triplets),
            "lr": rate,
            "seconds": time.monotonic() - started,
        }
        for callback in self.callbacks:
            callback.step(self.step_number, values)
        return values

    def _relevance(self, batch: PairBatch) -> Tensor:
        """bool, articles × posts of the batch."""
        ids = [self.data.articles[i].id for i in batch.articles]
        linked = [set(self.data.posts[j].article_ids) for j in batch.posts]
        return torch.tensor([[i in links for links in linked] for i in ids])

    def _show(self, progress: Progress, bar: TaskID, number: int, values: dict[str, float]) -> None:
        description = f"epoch {number}  loss {values['loss']:.4f}  triplets {values['triplets']:,.0f}"
        progress.update(bar, advance=1, description=description)


def _report(
    number: int,
    epochs: int,
    run: _Run,
    metrics: dict[str, float],
    metric: str,
    result: TrainingResult,
    seconds: float,
) -> None:
    """One line per epoch that stays on the screen."""
    dev = "".join(
        f"  {name} {metrics[name]:.2%}"
        for name in dict.fromkeys([metric, "mAP", "AUC", "MAP"])
        if name in metrics
    )
    best = "  best so far" if metrics and result.best_epoch == number else ""
    stderr.print(
        f"epoch {number}/{epochs}  loss {run.mean_loss:.4f}  mined triplets {run.mean_triplets:,.0f}{dev}"
        f"  {seconds:.0f} s{best}",
        highlight=False,
        soft_wrap=True,
    )
