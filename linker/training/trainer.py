"""The training loop: epochs of steps, dev metrics after each, the best epoch kept."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from linker.common.checks import above, at_least, between
from linker.common.console import info
from linker.common.errors import ConfigError, LinkerError
from linker.evaluation.evaluate import ARTICLE_METRICS, PAIR_METRICS
from linker.modules.precision import Precision
from linker.training.batch_sampler import BatchSampler
from linker.training.callbacks import Callback
from linker.training.checkpointing.checkpointer import Checkpointer
from linker.training.checkpointing.signals import GracefulExit, StopSignals
from linker.training.distillation.loss import TEACHER_COSINE
from linker.training.optimizers import LossRule, Optimizer, Schedule, scale_learning_rate
from linker.training.rng_state import seed_rank
from linker.training.training_state import TrainingResult, TrainingState, TrainingTask, holding

#: The metrics that can choose the best epoch.
METRICS = [*PAIR_METRICS, *ARTICLE_METRICS, TEACHER_COSINE]


class Trainer:
    """Trains a bi-encoder.

    Args:
        optimizer: how the weights follow the gradients.
        schedule: how the learning rate changes over the run.
        batches: the batch sampler: which articles and posts form a batch.
        epochs: maximum number of passes over the training posts; 0 measures the model as it is prepared.
        patience: stop after this many epochs without a better `metric`; null never stops early.
        metric: the dev metric that chooses the best epoch, named as in `linker evaluate`; `teacher_cosine` for
            distillation.
        max_grad_norm: shorten gradients longer than this; null leaves them as they are.
        callbacks: observers of the run, such as loggers.
        checkpoint_seconds: maximum number of seconds between two checkpoints; every epoch ends with one.
        loss_rule: lowers the learning rate and ends the run by the training loss, in addition to `patience`.
        precision: of the encoder's computations; weights, mining and loss are always float32. `auto`: bfloat16 if the
            device multiplies it natively, else float32.
        initial_weight: weight of the initial model in the model that is measured and written, from 0 to 1 (WiSE-FT,
            Wortsman et al. 2022, section 3).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedule: Schedule,
        batches: BatchSampler,
        epochs: int = 10,
        patience: int | None = 5,
        metric: str = "pair AP",
        max_grad_norm: float | None = 1.0,
        callbacks: list[Callback] | None = None,
        checkpoint_seconds: float = 600.0,
        loss_rule: LossRule | None = None,
        precision: Precision = "float32",
        initial_weight: float = 0.0,
    ) -> None:
        at_least(0, epochs=epochs, checkpoint_seconds=checkpoint_seconds)
        at_least(1, patience=patience)
        above(0, max_grad_norm=max_grad_norm)
        between(0, 1, initial_weight=initial_weight)
        if metric not in METRICS:
            raise ConfigError(f"trainer.metric: unknown metric {metric!r}; use one of {', '.join(METRICS)}")
        self.optimizer, self.schedule, self.batches = optimizer, schedule, batches
        self.epochs, self.patience, self.metric, self.max_grad_norm = epochs, patience, metric, max_grad_norm
        self.callbacks, self.checkpoint_seconds = callbacks or [], checkpoint_seconds
        self.loss_rule, self.precision, self.initial_weight = loss_rule, precision, initial_weight

    def start(self, task: TrainingTask) -> TrainingState:
        """Return the state of a run before its first step.

        Raises:
            ConfigError: if the model has no trainable weights.
        """
        return TrainingState(
            task, sampler=self.batches, optimizer=self.optimizer, schedule=self.schedule, epochs=self.epochs,
            precision=self.precision, max_norm=self.max_grad_norm,
        )  # fmt: skip

    def train(
        self,
        task: TrainingTask,
        log_dir: Path,
        on_epoch: Callable[[TrainingResult], None] = lambda result: None,
        checkpointer: Checkpointer | None = None,
    ) -> TrainingResult:
        """Train until the epochs or the patience are used up, or a signal stops the run.

        Args:
            task: what is trained; its model holds the weights of the last epoch afterwards.
            log_dir: folder for the callbacks.
            on_epoch: called in the main process after each epoch, when the result is up to date.
            checkpointer: saves the run and resumes it; None trains from the start and saves nothing.

        Returns:
            The history of the run.

        Raises:
            LinkerError: if the loss or its gradient is not finite, or memory is exhausted (the message names the
                batch's articles); or if the checkpoint does not fit.
            StepError: if a step fails for another reason.
        """
        if self.epochs == 0:
            return self._measure(task, on_epoch)
        learning = [(name, p) for name, p in task.model.named_parameters() if p.requires_grad]
        initial = {name: p.detach().clone() for name, p in learning} if self.initial_weight else {}
        state = self.start(task)
        seed_rank(task.seed, task.workers.rank)
        if checkpointer is not None:
            checkpointer.restore(state)
        self._follow_loss(state)
        callbacks = self.callbacks if task.workers.is_main else []
        with StopSignals() as signals, ExitStack() as stack:
            run = _Run(state, initial, callbacks, on_epoch, signals, checkpointer)
            try:
                for callback in callbacks:
                    callback.start(log_dir, state.step, len(state.result.epochs))
                    stack.callback(callback.close)
                while not self._why_done(state):
                    self._epoch(run)
            except KeyboardInterrupt:
                state.result.stopped_by = signal.SIGINT
            except GracefulExit as stop:
                state.result.stopped_by = stop.number
                if checkpointer is not None:
                    checkpointer.save(state)
        return state.result

    def _measure(self, task: TrainingTask, on_epoch: Callable[[TrainingResult], None]) -> TrainingResult:
        """Measure the model without training it."""
        result = TrainingResult()
        self._record(result, 0, task.dev_metrics(), task.model)
        if task.workers.is_main:
            on_epoch(result)
            info(f"not trained{_format_metrics(result.epochs[0], self.metric)}")
        return result

    def _epoch(self, run: _Run) -> None:
        """Train for one epoch or the rest of it; then measure, write the model folder, save a checkpoint."""
        state, result, workers = run.state, run.state.result, run.state.workers
        number = len(result.epochs) + 1
        started = time.monotonic()
        state.epoch(number, lambda figures: self._after_step(run, figures))
        if number == 1 and run.checkpointer is not None:
            # Before the model folder, which cannot be resumed without any checkpoint.
            run.checkpointer.save_or_warn(state)
        mixed = dict(state.model.state_dict())
        for name, initial in run.initial.items():
            mixed[name] = torch.lerp(mixed[name], initial, self.initial_weight)
        with holding(state.model, mixed) if run.initial else nullcontext():
            # Several processes stop between steps only, so that none waits for one that has exited.
            with run.signals.interruptible() if workers.size == 1 else nullcontext():
                metrics = state.task.dev_metrics()
            self._record(result, number, metrics, state.model)
            result.losses.append(workers.all_gather_object(state.loss_sum / state.steps)[0])
            if workers.is_main:
                run.on_epoch(result)
        if workers.is_main:
            best = "  best so far" if metrics and result.best_epoch == number else ""
            info(
                f"epoch {number}/{self.epochs}  loss {state.loss_sum / state.steps:.4f}"
                f"  {state.counted} per batch {state.count_sum / state.steps:,.0f}"
                f"{_format_metrics(metrics, self.metric)}  {time.monotonic() - started:.0f} s{best}"
            )
        for callback in run.callbacks:
            callback.epoch(number, metrics)
        state.batch, state.loss_sum, state.count_sum = 0, 0.0, 0.0
        self._follow_loss(state)
        done = self._why_done(state)
        if done and number < self.epochs and workers.is_main:
            info(f"{done}: stopping early")
        if run.checkpointer is not None:
            run.checkpointer.save_or_warn(state, bool(done))

    def _after_step(self, run: _Run, figures: dict[str, float]) -> None:
        """Call the callbacks; save a checkpoint if one is due; exit if a signal asks for it."""
        for callback in run.callbacks:
            callback.step(run.state.step, figures)
        workers, checkpointer = run.state.workers, run.checkpointer
        due = workers.is_main and checkpointer is not None and checkpointer.is_due(self.checkpoint_seconds)
        due_now, number = workers.all_reduce_max(int(due), run.signals.requested)
        if number:
            raise GracefulExit(number)
        if due_now and checkpointer is not None:
            checkpointer.save_or_warn(run.state)

    def _why_done(self, state: TrainingState) -> str:
        """Return why the run ends after the epochs so far; empty if it does not."""
        result = state.result
        if len(result.epochs) >= self.epochs:
            return "all epochs are done"
        if self.loss_rule is not None and self.loss_rule.after(result.losses)[1]:
            return "the training loss hardly falls"
        without_gain = len(result.epochs) - result.best_epoch
        if state.task.dev is not None and self.patience is not None and without_gain >= self.patience:
            return f"no better {self.metric} for {self.patience} epochs"
        return ""

    def _follow_loss(self, state: TrainingState) -> None:
        """Set the learning rate that the loss rule asks for after the epochs so far."""
        if self.loss_rule is None:
            return
        factor, stop = self.loss_rule.after(state.result.losses)
        if scale_learning_rate(state.scheduler, factor) and state.workers.is_main and not stop:
            info(f"the training loss rose: learning rate × {factor:g} from now on")

    def _record(
        self, result: TrainingResult, number: int, metrics: dict[str, float], model: nn.Module
    ) -> None:
        if metrics and self.metric not in metrics:
            raise LinkerError(
                f"trainer.metric: {self.metric} cannot be measured on this dev set; use one of {', '.join(metrics)}"
            )
        best = result.epochs[result.best_epoch - 1] if result.best_epoch else None
        result.epochs.append(metrics)
        if best is None or not metrics or metrics[self.metric] > best[self.metric]:
            result.best_epoch = number
            result.best_state = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


@dataclass
class _Run:
    """What the epochs of one call of `Trainer.train` share; `initial`: weights to mix with the trained ones."""

    state: TrainingState
    initial: dict[str, Tensor]
    callbacks: Sequence[Callback]
    on_epoch: Callable[[TrainingResult], None]
    signals: StopSignals
    checkpointer: Checkpointer | None


def _format_metrics(metrics: dict[str, float], metric: str) -> str:
    """Return the dev metrics of an epoch's line: the usual ones, and the one that chooses the best epoch."""
    labels = {"mRP": "r-Precision (mRP)", TEACHER_COSINE: "cosine to the teacher"}
    return "".join(
        f"  {labels.get(name, name)} {metrics[name]:.2%}"
        for name in dict.fromkeys(["mRP", "pair AP", "AUC", "MAP", metric])
        if name in metrics
    )
