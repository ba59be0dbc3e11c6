"""Saving a run, and resuming it."""

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

#: Number of differences shown if a config has changed.
SHOWN = 20
# What a run that is killed while it writes leaves of model folder, log and checkpoints.
_TEMPORARY = re.compile(r"\.(.+\.(json|jsonl|md|txt|safetensors)|transformer)\.\w{8}")


class Checkpointer:
    """The checkpoint of one run: `OUT-log/checkpoint.safetensors`, replaced as a whole by each newer one.

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
        self.path = self.log_dir / "checkpoint.safetensors"
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
        state = self._read()
        if state is not None and not state["finished"]:
            raise LinkerError(
                f"{self.out}: contains an unfinished run, {_position(state)}; "
                "continue it with --resume, replace it with --overwrite, or choose another folder with --out"
            )
        if self._has_model():
            raise LinkerError(
                f"{self.out}: already exists; train from its weights with -o start={self.out} and another --out, or "
                "replace it with --overwrite"
            )

    def check_places(self) -> None:
        """Check that model folder and logs can be written, before anything slow.

        Raises:
            LinkerError: if they cannot, or a folder has pipes or devices.
        """
        for folder in (self.out, self.log_dir):
            if folder.is_dir():
                check_regular_files(folder)
        for path in (self.out / CONFIG, self.log_dir / "train.jsonl"):
            check_writable(path)

    def open(self, config: dict[str, Any], resume: bool, workers: DistributedContext) -> None:
        """Read the checkpoint to resume from, if there is one.

        Args:
            config: the resolved config.
            resume: whether to resume.
            workers: the processes of the run; the main one decides.

        Raises:
            ConfigError: if the config has changed.
            LinkerError: if the checkpoint is damaged, or there is a model without any.
        """
        self._inputs = {"config": config}
        if workers.is_main and resume:
            self._resumed = self._read()
            self._check_resumed(config)
        (is_resumed, *_) = workers.all_gather_object(self._resumed is not None)
        if is_resumed and not workers.is_main:
            self._resumed = read_checkpoint(self.path)

    def _read(self) -> dict[str, Any] | None:
        try:
            return read_checkpoint(self.path) if self.path.exists() else None
        except LinkerError as error:
            raise LinkerError(
                f"{error}; start again with --overwrite, or choose another folder with --out"
            ) from error

    def _check_resumed(self, config: dict[str, Any]) -> None:
        if self._resumed is None:
            if self._has_model():
                raise LinkerError(
                    f"{self.out}: exists, but there is no checkpoint of it in {self.log_dir}; "
                    "choose another folder with --out, or start again with --overwrite"
                )
            return
        if changes := [
            f"{path}: {_shown(old, '(new)')} → {_shown(new, '(gone)')}"
            for path, old, new in diff_configs(self._resumed["config"], config)
        ]:
            more = [f"and {len(changes) - SHOWN} more"] if len(changes) > SHOWN else []
            lines = "\n  ".join(changes[:SHOWN] + more)
            raise ConfigError(
                f"{self.out}: cannot resume, the config has changed since the run started:\n  {lines}\n"
                f"Undo the change, start again with --overwrite, or train from these weights with -o start={self.out} "
                "and another --out"
            )
        info(f"resuming {_position(self._resumed)}")

    def _has_model(self) -> bool:
        return self.out.exists() and (not self.out.is_dir() or any(self.out.iterdir()))

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
        self.log_dir.mkdir(parents=True, exist_ok=True)
        left = [
            path
            for folder in (self.out, self.log_dir)
            for path in folder.rglob(".*")
            if _TEMPORARY.fullmatch(path.name)
        ]
        for path in [*left, *([self.path] if self._resumed is None and self.path.exists() else [])]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def restore(self, state: TrainingState) -> None:
        """Restore state, history and RNG states from the checkpoint that `open` found, if there was one."""
        if self._resumed is None:
            return
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
        """Save a checkpoint. Every process must call this.

        Raises:
            LinkerError: if it cannot be written; the previous one is kept.
        """
        rng_states = state.workers.all_gather_object(get_rng_state())
        if not state.workers.is_main:
            return
        run = {"finished": finished, "rng": rng_states, **self._inputs}
        write_checkpoint(self.path, {**state.state_dict(), **run})
        with suppress(OSError):  # makes the new file survive a power failure, if the system can
            descriptor = os.open(self.log_dir, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _position(state: dict[str, Any]) -> str:
    """Return how far a run had come, for messages."""
    return f"at epoch {len(state['epochs']) + 1}, batch {state['batch']} of {state['steps_in_epoch']}"


def _shown(value: Any, absent: str) -> str:
    return absent if value is ABSENT else json.dumps(value, ensure_ascii=False)
