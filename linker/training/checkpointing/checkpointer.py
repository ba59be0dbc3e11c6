"""Saving a run, and resuming it."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from linker.common.console import info, warn
from linker.common.errors import ConfigError, LinkerError
from linker.common.files import check_regular_files, check_writable
from linker.config.jsonnet import ABSENT, diff_configs
from linker.models.files.archive import CONFIG
from linker.training.checkpointing.checkpoint import read_checkpoint, write_checkpoint
from linker.training.distributed.context import DistributedContext
from linker.training.rng_state import get_rng_state, seed_rank, set_rng_state
from linker.training.training_state import TrainingResult, TrainingState, holding

#: Number of checkpoints kept: the newest, and the one before it in case the newest is damaged.
CHECKPOINTS = 2
#: Number of differences shown if a config has changed.
SHOWN = 20
_NAME = re.compile(r"step-(\d+)\.safetensors")
# What a run that is killed while it writes leaves of model folder, log and checkpoints.
_TEMPORARY = re.compile(r"\.(.+\.(json|jsonl|md|txt|safetensors)|transformer)\.\w{8}")


class Checkpointer:
    """The checkpoints of one run: `step-N.safetensors` in `OUT-log/checkpoints`.

    Call `open` to find the checkpoint to resume from, `begin` when data and model are loaded, then `restore` and
    `save` with the state of the run.

    Args:
        out: the model folder of the run.

    Attributes:
        on_resume: called in the main process when a run resumes; the model then holds the best weights.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.log_dir = out.with_name(out.name + "-log")
        self.folder = self.log_dir / "checkpoints"
        self.on_resume: Callable[[TrainingResult], None] = lambda result: None
        self._resumed: dict[str, Any] | None = None
        self._inputs: dict[str, Any] = {}  # config and fingerprint of the data
        self._saved_at = time.monotonic()

    def check_output(self) -> None:
        """Check that a new run would replace nothing.

        Raises:
            LinkerError: if there is a model folder or an unfinished run.
        """
        self.check_places()
        state, problems = self._newest()
        if state is not None and not state["finished"]:
            raise LinkerError(
                f"{self.out}: contains an unfinished run, {_position(state)}; "
                "continue it with --resume, replace it with --overwrite, or choose another folder with --out"
            )
        if state is None and problems:
            raise LinkerError(
                f"{problems[0]}; start again with --overwrite, or choose another folder with --out"
            )
        if self._has_model():
            raise LinkerError(
                f"{self.out}: already exists; train from its weights with -o start={self.out} and another --out, or "
                "replace it with --overwrite"
            )

    def open(self, config: dict[str, Any], resume: bool, workers: DistributedContext) -> None:
        """Find the checkpoint to resume from. The main process chooses it, and all processes read it.

        Args:
            config: the resolved config.
            resume: whether to resume from the newest complete checkpoint, if there is one.
            workers: the processes of the run.

        Raises:
            ConfigError: if the config has changed.
            LinkerError: if no checkpoint is complete, or there is a model without any.
        """
        self._inputs = {"config": config}
        if workers.is_main and resume:
            self._choose(config)
        (step, *_) = workers.all_gather_object(self._resumed["step"] if self._resumed else None)
        if step is not None and not workers.is_main:
            self._resumed = read_checkpoint(self._path(step))

    def begin(self, data: str, is_main: bool) -> None:
        """Remove what a resumed run does not need.

        Args:
            data: a fingerprint of what the run is trained and measured on.
            is_main: whether this is the process that writes.

        Raises:
            LinkerError: if the data have changed.
        """
        if self._resumed is not None and self._resumed["data"] != data:
            raise LinkerError(
                "cannot resume: articles, posts, their order, or the words that have vectors have changed since the "
                "run started (other data); restore the old files, or start again with --overwrite"
            )
        self._inputs["data"] = data
        if not is_main:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        left = [
            path
            for folder in (self.out, self.log_dir)
            for path in folder.rglob(".*")
            if _TEMPORARY.fullmatch(path.name)
        ]
        for path in [*left, *(self.folder.glob("step-*") if self._resumed is None else ())]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for step in self._steps():
            if self._resumed is not None and step > self._resumed["step"]:
                self._path(step).rename(self._path(step).with_suffix(".damaged"))

    def restore(self, state: TrainingState) -> bool:
        """Restore state, history and RNG states from the checkpoint that `open` found.

        Returns:
            Whether there was a checkpoint.
        """
        if self._resumed is None:
            return False
        try:
            state.load_state_dict(self._resumed)
        except (RuntimeError, ValueError, KeyError) as error:
            raise LinkerError(
                f"the checkpoint does not fit the model, whose code has changed: {error}"
            ) from error
        if state.result.best_epoch and state.workers.is_main:
            with holding(state.model, state.result.best_state):
                self.on_resume(state.result)
        rank, rng_states = state.workers.rank, self._resumed["rng"]
        if rank < len(rng_states):
            set_rng_state(rng_states[rank])
        else:
            seed_rank(state.task.seed + state.step, rank)
        self._resumed = None  # frees the tensors
        return True

    def is_due(self, seconds: float) -> bool:
        """Return whether the last checkpoint is at least this old."""
        return time.monotonic() - self._saved_at >= seconds

    def save_or_warn(self, state: TrainingState, finished: bool = False) -> None:
        """Save a checkpoint; if that fails, warn and let training continue with the previous one in place."""
        try:
            self.save(state, finished)
        except LinkerError as error:
            warn(
                f"warning: no checkpoint at step {state.step}: {error}; "
                "training continues, the previous checkpoint is kept"
            )
        self._saved_at = time.monotonic()

    def save(self, state: TrainingState, finished: bool = False) -> None:
        """Save a checkpoint, then remove all but the newest two. Every process must call this.

        Raises:
            LinkerError: if it cannot be written; the previous ones are kept.
        """
        rng_states = state.workers.all_gather_object(get_rng_state())
        if not state.workers.is_main:
            return
        run = {"finished": finished, "rng": rng_states, **self._inputs}
        write_checkpoint(self._path(state.step), {**state.state_dict(), **run})
        with suppress(OSError):  # makes the new name survive a power failure, if the system can
            descriptor = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        for step in self._steps()[CHECKPOINTS:]:
            self._path(step).unlink()

    def _choose(self, config: dict[str, Any]) -> None:
        """Choose the newest complete checkpoint; print which newer ones are damaged."""
        state, problems = self._newest()
        if state is None:
            if problems:
                raise LinkerError(f"{'; '.join(problems)}; start again with --overwrite")
            if self._has_model():
                raise LinkerError(
                    f"{self.out}: exists, but there is no checkpoint of it in {self.folder}; "
                    "choose another folder with --out, or start again with --overwrite"
                )
            return
        for problem in problems:
            info(f"{problem}; using the checkpoint before it")
        if changes := [
            f"{path}: {_shown(old, '(new)')} → {_shown(new, '(gone)')}"
            for path, old, new in diff_configs(state["config"], config)
        ]:
            more = [f"and {len(changes) - SHOWN} more"] if len(changes) > SHOWN else []
            lines = "\n  ".join(changes[:SHOWN] + more)
            raise ConfigError(
                f"{self.out}: cannot resume, the config has changed since the run started:\n  {lines}\n"
                f"Undo the change, start again with --overwrite, or train from these weights with -o start={self.out} "
                "and another --out"
            )
        self._resumed = state
        info(f"resuming {_position(state)}")

    def check_places(self) -> None:
        """Check that model folder and logs can be written, before anything slow.

        Raises:
            LinkerError: if they cannot, or a folder has pipes or devices.
        """
        for folder in (self.out, self.log_dir):
            if folder.is_dir():
                check_regular_files(folder)
        for path in (self.out / CONFIG, self._path(0)):
            check_writable(path)

    def _newest(self) -> tuple[dict[str, Any] | None, list[str]]:
        """Return the newest complete checkpoint, and why each newer one cannot be used."""
        problems: list[str] = []
        for step in self._steps():
            try:
                return read_checkpoint(self._path(step)), problems
            except LinkerError as error:
                problems.append(str(error))
        return None, problems

    def _steps(self) -> list[int]:
        """Return the steps of all checkpoint files, newest first, complete or not."""
        matches = (_NAME.fullmatch(path.name) for path in self.folder.glob("step-*"))
        return sorted((int(match[1]) for match in matches if match), reverse=True)

    def _path(self, step: int) -> Path:
        return self.folder / f"step-{step:09d}.safetensors"

    def _has_model(self) -> bool:
        return self.out.exists() and (not self.out.is_dir() or any(self.out.iterdir()))


def _position(state: dict[str, Any]) -> str:
    """Return how far a run had come, for messages."""
    return f"at epoch {len(state['epochs']) + 1}, batch {state['batch']} of {state['steps_in_epoch']}"


def _shown(value: Any, absent: str) -> str:
    return absent if value is ABSENT else json.dumps(value, ensure_ascii=False)
