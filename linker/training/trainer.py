"""The training loop: mined pairs, a loss, a step; the best epoch on the dev set wins."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from torch import nn

from linker.common.checks import above, at_least, between
from linker.common.console import stderr
from linker.common.errors import ConfigError, LinkerError
from linker.contrib.deboom2016.loss_rule import LossRule
from linker.data.types import LinkedPosts
from linker.evaluation.evaluate import ARTICLE_METRICS, PAIR_METRICS
from linker.models.model import Model
from linker.models.siamese.siamese import SiameseModel
from linker.modules.losses.loss import Loss
from linker.modules.miners import Miner
from linker.modules.precision import Precision
from linker.training.batch_sampler import BatchSampler
from linker.training.callbacks import Callback
from linker.training.checkpointing.saver import Keeping, Saver, TrainingResult, restore, seed_rank
from linker.training.checkpointing.signals import GracefulExit, StopSignals
from linker.training.distributed.context import DistributedContext
from linker.training.memory_bank import CrossBatchMemory
from linker.training.optimizers import Optimizer, Schedule, scale_learning_rate
from linker.training.training_state import Run
from linker.training.validation import dev_metrics
from linker.training.weight_interpolation import InterpolatedWeights


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
        checkpoint_seconds: how much time may pass between two checkpoints; the end of an epoch always makes one.
        chunk_tokens: encode at most so many tokens at a time, at the price of encoding everything twice: the same
            gradients in memory bounded by the chunk. Null encodes a batch at once.
        memory: compare articles with posts of earlier batches too.
        loss_rule: lowers the learning rate and ends the run by the training loss, beside `patience`.
        precision: of what the encoder computes; weights, mining and loss are always float32. `auto`: bfloat16 where the
            device itself multiplies it, else float32. float16 needs a GPU.
        start_share: of the weights that training began with, in the model that is measured and written.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedule: Schedule,
        batches: BatchSampler,
        epochs: int = 10,
        patience: int | None = 5,
        metric: str = "mAP",
        clip_norm: float | None = 1.0,
        callbacks: list[Callback] | None = None,
        checkpoint_seconds: float = 600.0,
        chunk_tokens: int | None = None,
        memory: CrossBatchMemory | None = None,
        loss_rule: LossRule | None = None,
        precision: Precision = "float32",
        start_share: float = 0.0,
    ) -> None:
        at_least(0, epochs=epochs, checkpoint_seconds=checkpoint_seconds)
        at_least(1, patience=patience, chunk_tokens=chunk_tokens)
        above(0, clip_norm=clip_norm)
        between(0, 1, start_share=start_share)
        known = [*PAIR_METRICS, *ARTICLE_METRICS]
        if metric not in known:
            raise ConfigError(
                f"trainer.metric: there is no metric {metric!r}; choose one of {', '.join(known)}"
            )
        self.optimizer, self.schedule, self.batches = optimizer, schedule, batches
        self.epochs, self.patience, self.metric, self.clip_norm = epochs, patience, metric, clip_norm
        self.callbacks = callbacks or []
        self.checkpoint_seconds, self.chunk_tokens = checkpoint_seconds, chunk_tokens
        self.memory, self.loss_rule, self.precision = memory, loss_rule, precision
        self.start_share = start_share

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
        keeping: Keeping | None = None,
        workers: DistributedContext | None = None,
        whole: Model | None = None,
    ) -> TrainingResult:
        """Train until the epochs or the patience are used up, or a signal ends it.

        Args:
            model: prepared; holds the weights of the last epoch afterwards.
            miner: chooses pairs.
            loss: over the chosen pairs.
            train: what is learned from.
            dev: what chooses the best epoch; without it the last one counts as best.
            seed: decides the order of the batches.
            log_dir: for callbacks.
            on_epoch: called after each epoch, when the best state is up to date, in the process that writes.
            keeping: where the run is saved, and where it goes on; None: it begins and is not saved.
            workers: the processes that share the work; None: this one alone.
            whole: what the dev set judges, if `model` is only a part of it.

        Raises:
            LinkerError: the loss or its gradient is not a number, or memory is out; the message names the batch's
                articles. Or the checkpoint does not fit.
            StepError: a step ended in another error, with the same said.
        """
        workers, whole = workers or DistributedContext(), whole or model
        result = TrainingResult()
        if self.epochs == 0:
            self._record(result, 0, dev_metrics(model, whole, dev, workers), model)
            if workers.is_main:
                on_epoch(result)
                stderr.print(
                    f"not trained{_figures(result.epochs[0], self.metric)}", highlight=False, soft_wrap=True
                )
            return result
        blend = InterpolatedWeights(model, self.start_share)
        run = Run(self, model, miner, loss, train, seed, workers)
        seed_rank(seed, workers.rank)
        resumed = keeping is not None and restore(run, result, keeping)
        self._follow_loss(run, result)
        callbacks = self.callbacks if workers.is_main else []
        with StopSignals() as signals:
            saver = Saver(run, result, keeping, self.checkpoint_seconds, signals)
            try:
                _start(callbacks, log_dir, run.step if resumed else None, len(result.epochs))
                while not self._done(result, dev):
                    self._epoch(run, blend, result, whole, dev, saver, callbacks, on_epoch)
            except KeyboardInterrupt:
                result.stopped_by = signal.SIGINT
            except GracefulExit as stop:
                result.stopped_by = stop.number
                saver.save()
            finally:
                for callback in callbacks:
                    callback.close()
        return result

    def _epoch(
        self,
        run: Run,
        blend: InterpolatedWeights,
        result: TrainingResult,
        whole: Model,
        dev: LinkedPosts | None,
        saver: Saver,
        callbacks: list[Callback],
        on_epoch: Callable[[TrainingResult], None],
    ) -> None:
        """One epoch, or the rest of one: steps, metrics, the model folder, a checkpoint."""
        number = len(result.epochs) + 1
        started = time.monotonic()

        def after_step(values: dict[str, float]) -> None:
            for callback in callbacks:
                callback.step(run.step, values)
            saver.after_step()

        run.epoch(number, after_step)
        # Several processes stop between steps only, so that none waits for one that has left.
        with blend.applied(run.model):
            with saver.signals.interruptible() if run.workers.size == 1 else nullcontext():
                metrics = dev_metrics(run.model, whole, dev, run.workers)
            self._record(result, number, metrics, run.model)
            result.losses.append(run.workers.all_gather_object(run.loss_sum / run.steps)[0])
            if run.workers.is_main:
                on_epoch(result)
        if run.workers.is_main:
            _report(number, self.epochs, run, metrics, self.metric, result, time.monotonic() - started)
        for callback in callbacks:
            callback.epoch(number, metrics)
        run.next_epoch()
        self._follow_loss(run, result)
        finished = self._done(result, dev)
        if finished and number < self.epochs and run.workers.is_main:
            stderr.print(f"{self._why_done(result)}: stopping early")
        saver.save_or_warn(finished)

    def _done(self, result: TrainingResult, dev: LinkedPosts | None) -> bool:
        """Are the epochs or the patience used up, or does the training loss hardly fall?"""
        behind = len(result.epochs) - result.best_epoch
        impatient = dev is not None and self.patience is not None and behind >= self.patience
        used_up = len(result.epochs) >= self.epochs or (impatient and bool(result.epochs))
        return used_up or self._loss_stays(result)

    def _loss_stays(self, result: TrainingResult) -> bool:
        return self.loss_rule is not None and self.loss_rule.after(result.losses)[1]

    def _why_done(self, result: TrainingResult) -> str:
        if self._loss_stays(result):
            return "the training loss hardly falls"
        return f"no better {self.metric} for {self.patience} epochs"

    def _follow_loss(self, run: Run, result: TrainingResult) -> None:
        """Set the learning rate that the rule asks for after the epochs so far."""
        if self.loss_rule is None:
            return
        factor, stop = self.loss_rule.after(result.losses)
        if scale_learning_rate(run.scheduler, factor) and run.workers.is_main and not stop:
            stderr.print(f"the training loss rose: learning rate × {factor:g} from here on", highlight=False)

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


def _start(callbacks: list[Callback], log_dir: Path, step: int | None, epochs: int) -> None:
    try:
        for callback in callbacks:
            if step is None:
                callback.start(log_dir)
            else:
                callback.resume(log_dir, step, epochs)
    except OSError as error:
        raise LinkerError(f"{error.filename or log_dir}: cannot be written ({error.strerror})") from error


def _report(
    number: int,
    epochs: int,
    run: Run,
    metrics: dict[str, float],
    metric: str,
    result: TrainingResult,
    seconds: float,
) -> None:
    """One line per epoch that stays on the screen."""
    best = "  best so far" if metrics and result.best_epoch == number else ""
    stderr.print(
        f"epoch {number}/{epochs}  loss {run.loss_sum / run.steps:.4f}"
        f"  {run.counted} per batch {run.count_sum / run.steps:,.0f}{_figures(metrics, metric)}"
        f"  {seconds:.0f} s{best}",
        highlight=False,
        soft_wrap=True,
    )


def _figures(metrics: dict[str, float], metric: str) -> str:
    """The dev metrics of an epoch's line: the paper's, MAP, and the one that chooses the best epoch."""
    shown = {"mRP": "r-Precision (mRP)"}
    return "".join(
        f"  {shown.get(name, name)} {metrics[name]:.2%}"
        for name in dict.fromkeys(["mRP", "mAP", "AUC", "MAP", metric])
        if name in metrics
    )
