"""Callbacks: observers of a training run, such as TensorBoard or a log in JSON lines."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import IO, Any

from torch.utils.tensorboard import SummaryWriter

from linker.common.files import atomic_write
from linker.config import Registrable


class Callback(Registrable):
    """Base class of observers, called at every step and epoch. `log_dir` is the run's folder for logs."""

    def start(self, log_dir: Path) -> None:
        """Called when a run starts, with its folder `log_dir`."""

    def resume(self, log_dir: Path, step: int, epoch: int) -> None:
        """Called when a run resumes; discard anything logged for later steps and epochs.

        Args:
            log_dir: folder for logs.
            step: number of the last step that counts.
            epoch: number of the last epoch that counts.
        """
        self.start(log_dir)

    def step(self, number: int, values: dict[str, float]) -> None:
        """Called after step `number` (from 1) with its `values`: loss, counts, learning rate and seconds."""

    def epoch(self, number: int, values: dict[str, float]) -> None:
        """Called after epoch `number` (from 1) with the dev metrics, `values`."""

    def close(self) -> None:
        """Called when the run ends for any reason."""


@Callback.register("tensorboard")
class TensorBoard(Callback):
    """Writes event files; view them with `tensorboard --logdir LOG_DIR`."""

    def start(self, log_dir: Path) -> None:
        """Open the log."""
        self._open(log_dir)

    def resume(self, log_dir: Path, step: int, epoch: int) -> None:
        """Open the log; drop what belongs to later steps."""
        self._open(log_dir, purge_step=step + 1)

    def _open(self, log_dir: Path, **options: Any) -> None:
        before = threading.excepthook

        def report(failed: threading.ExceptHookArgs) -> None:
            # The writer's thread leaves its OSError to the next call, which reports it in one line.
            if not (
                isinstance(failed.exc_value, OSError) and type(failed.thread).__name__ == "_AsyncWriterThread"
            ):
                before(failed)

        threading.excepthook = report
        self._writer = SummaryWriter(str(log_dir), **options)

    def step(self, number: int, values: dict[str, float]) -> None:
        """Log a step."""
        for name, value in values.items():
            self._writer.add_scalar(f"train/{name}", value, number)

    def epoch(self, number: int, values: dict[str, float]) -> None:
        """Log an epoch."""
        for name, value in values.items():
            self._writer.add_scalar(f"dev/{name}", value, number)

    def close(self) -> None:
        """Close the log."""
        self._writer.close()


@Callback.register("json_lines")
class JsonLines(Callback):
    """Writes `train.jsonl`: one object per step and epoch."""

    _file: IO[str] | None = None

    def start(self, log_dir: Path) -> None:
        """Open the log."""
        log_dir.mkdir(parents=True, exist_ok=True)
        self._file = (log_dir / "train.jsonl").open("w", encoding="utf-8")

    def resume(self, log_dir: Path, step: int, epoch: int) -> None:
        """Open the log; drop what belongs to later steps."""
        path = log_dir / "train.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        with atomic_write(path) as file:
            file.writelines(f"{line}\n" for line in lines if _is_before(line, step, epoch))
        self._file = path.open("a", encoding="utf-8")

    def step(self, number: int, values: dict[str, float]) -> None:
        """Log a step."""
        self._write({"step": number, **values})

    def epoch(self, number: int, values: dict[str, float]) -> None:
        """Log an epoch."""
        self._write({"epoch": number, **values})

    def _write(self, record: dict[str, float]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the log."""
        if self._file:
            self._file.close()


def _is_before(line: str, step: int, epoch: int) -> bool:
    """Return whether a line is of a step or epoch that counts; a half-written line is not."""
    try:
        record = json.loads(line)
    except ValueError:
        return False
    return record.get("step", 0) <= step and record.get("epoch", 0) <= epoch
