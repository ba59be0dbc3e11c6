"""When a run is saved, what is saved, and how it is taken up again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from linker.common.console import stderr
from linker.common.errors import LinkerError
from linker.training.checkpointing.checkpointer import Checkpoint, Checkpoints
from linker.training.checkpointing.signals import GracefulExit, StopSignals
from linker.training.rng_state import get_rng_state, seed_everything, set_rng_state
from linker.training.training_state import Run


@dataclass
class TrainingResult:
    """How a run went.

    Attributes:
        epochs: the dev metrics after each epoch, in order; empty dictionaries without a dev set.
        losses: the mean training loss of each epoch.
        best_epoch: counted from 1; 0 where nothing was trained.
        best_state: the weights after the best epoch.
        stopped_by: the signal that ended the run early (SIGINT for Ctrl-C), 0 if none did.
    """

    epochs: list[dict[str, float]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    best_epoch: int = 0
    best_state: dict[str, Tensor] = field(default_factory=dict)
    stopped_by: int = 0

    @property
    def interrupted(self) -> bool:
        """Was the run ended early by a signal?"""
        return self.stopped_by != 0


@dataclass
class Keeping:
    """Where a run is saved, and where it goes on.

    Attributes:
        checkpoints: where to save.
        facts: what belongs into every checkpoint besides the run's state, as JSON values.
        checkpoint: where to go on; None at the beginning.
        same_config: the config is what it was at that checkpoint.
        on_resume: called when the run is back there, in the process that writes; the model holds the best weights.
    """

    checkpoints: Checkpoints
    facts: dict[str, Any] = field(default_factory=dict)
    checkpoint: Checkpoint | None = None
    same_config: bool = True
    on_resume: Callable[[TrainingResult], None] = lambda result: None


class Saver:
    """Saves a run when it is due, when it is asked to stop, and when an epoch is over.

    Args:
        run: what is saved.
        result: its history so far.
        keeping: where to; None saves nothing.
        seconds: how much time may pass between checkpoints within an epoch.
        signals: what asks the run to stop.
    """

    def __init__(
        self,
        run: Run,
        result: TrainingResult,
        keeping: Keeping | None,
        seconds: float,
        signals: StopSignals,
    ) -> None:
        self.run, self.result, self.keeping, self.signals = run, result, keeping, signals
        self.seconds = seconds
        self._saved = time.monotonic()

    def after_step(self) -> None:
        """Save if it is due.

        Raises:
            GracefulExit: a signal asks for it; the run is for the caller to save.
        """
        due = self.keeping is not None and time.monotonic() - self._saved >= self.seconds
        due_now, signal = self.run.workers.all_reduce_max(
            int(due and self.run.workers.is_main), self.signals.requested
        )
        if signal:
            raise GracefulExit(signal)
        if due_now:
            self.save_or_warn()

    def save_or_warn(self, finished: bool = False) -> None:
        """Save; where that fails, say so and go on: the checkpoint before is there still, the next may succeed."""
        try:
            self.save(finished)
        except LinkerError as error:
            stderr.print(
                f"[bold]warning:[/bold] no checkpoint at step {self.run.step}: {error}; "
                "training goes on, the checkpoint before this one is kept",
                highlight=False,
                soft_wrap=True,
            )
        self._saved = time.monotonic()

    def save(self, finished: bool = False) -> None:
        """Save now.

        Raises:
            LinkerError: the checkpoint cannot be written.
        """
        if self.keeping is None:
            return
        chance = self.run.workers.all_gather_object(get_rng_state())
        if not self.run.workers.is_main:
            return
        tensors, facts = self.run.state()
        for name, tensor in self.result.best_state.items():
            # What is as in the present weights, a frozen table of word vectors above all, is written once.
            if not torch.equal(tensor, tensors[f"model/{name}"]):
                tensors[f"best/{name}"] = tensor
        facts |= {
            "finished": finished,
            "epochs": self.result.epochs,
            "losses": self.result.losses,
            "best_epoch": self.result.best_epoch,
            "chance": chance,
            **self.keeping.facts,
        }
        self.keeping.checkpoints.save(Checkpoint(tensors, facts))


def restore(run: Run, result: TrainingResult, keeping: Keeping) -> bool:
    """Bring run, history and chance to where the checkpoint was taken; false where there is none.

    Raises:
        LinkerError: the checkpoint does not fit the run.
    """
    if keeping.checkpoint is None:
        return False
    parts, facts = keeping.checkpoint.part, keeping.checkpoint.facts
    run.restore(parts, facts, keeping.same_config)
    result.epochs, result.best_epoch = facts["epochs"], facts["best_epoch"]
    result.losses = facts.get("losses", [])  # older checkpoints have none
    if result.best_epoch:
        now = {name: tensor.detach().clone() for name, tensor in run.model.state_dict().items()}
        best = parts("best")
        result.best_state = {
            name: best[name].to(now[name].device) if name in best else now[name] for name in now
        }
        if run.workers.is_main:
            run.model.load_state_dict(result.best_state)
            keeping.on_resume(result)
            run.model.load_state_dict(now)
    rank, chance = run.workers.rank, facts["chance"]
    if rank < len(chance):
        set_rng_state(chance[rank])
    else:
        seed_rank(run.seed + run.step, rank)
    return True


def seed_rank(seed: int, rank: int) -> None:
    """Let each process drop out other numbers; the first one, and so a single one, goes on as it was seeded."""
    if rank:
        seed_everything((seed + 7_919 * rank) % 2**32)
