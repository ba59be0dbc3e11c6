"""Callbacks: observers of a training run, such as TensorBoard or a log in JSON lines."""

import json
import threading
from pathlib import Path
from typing import IO

from torch.utils.tensorboard import SummaryWriter
from typing_extensions import override

from linker.common.files import atomic_write
from linker.config import Registrable


class Callback(Registrable):
    """Base class of observers, called at every step and epoch."""

    def start(self, log_dir: Path, step: int, epoch: int) -> None:
        """Called when a run starts or resumes; discard anything logged for later steps and epochs.

        Args:
            log_dir: the run's folder for logs.
            step: number of the last step that counts; 0 for a new run.
            epoch: number of the last epoch that counts.
        """

    def step(self, number: int, values: dict[str, float]) -> None:
        """Called after step `number` (from 1) with its `values`: loss, counts, learning rate and seconds."""

    def epoch(self, number: int, values: dict[str, float]) -> None:
        """Called after epoch `number` (from 1) with the dev metrics, `values`."""

    def close(self) -> None:
        """Called when the run ends for any reason."""


@Callback.register("tensorboard")
class TensorBoard(Callback):
    """Writes event files; view them with `tensorboard --logdir LOG_DIR`."""

    @override
    def start(self, log_dir: Path, step: int, epoch: int) -> None:
        before = threading.excepthook

        def report(failed: threading.ExceptHookArgs) -> None:
            # The writer's thread leaves its OSError to the next call, which reports it in one line.
            is_writer = type(failed.thread).__name__ == "_AsyncWriterThread"
            if not (is_writer and isinstance(failed.exc_value, OSError)):
                before(failed)

        threading.excepthook = report
        self._writer = SummaryWriter(str(log_dir), purge_step=step + 1 if step else None)

    @override
    def step(self, number: int, values: dict[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(f"train/{name}", value, number)

    @override
    def epoch(self, number: int, values: dict[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(f"dev/{name}", value, number)

    @override
    def close(self) -> None:
        self._writer.close()


@Callback.register("json_lines")
class JsonLines(Callback):
    """Writes `train.jsonl`: one object per step and epoch."""

    _file: IO[str]

    @override
    def start(self, log_dir: Path, step: int, epoch: int) -> None:
        log_dir.mkdir(parents=True, exist_ok=True)
        path = log_dir / "train.jsonl"
        if step and path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            with atomic_write(path) as file:
                file.writelines(f"{line}\n" for line in lines if _is_before(line, step, epoch))
        self._file = path.open("a" if step else "w", encoding="utf-8")

    @override
    def step(self, number: int, values: dict[str, float]) -> None:
        self._write({"step": number, **values})

    @override
    def epoch(self, number: int, values: dict[str, float]) -> None:
        self._write({"epoch": number, **values})

    def _write(self, record: dict[str, float]) -> None:
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    @override
    def close(self) -> None:
        self._file.close()


def _is_before(line: str, step: int, epoch: int) -> bool:
    """Return whether a line is of a step or epoch that counts; a half-written line is not."""
    try:
        record = json.loads(line)
    except ValueError:
        return False
    return record.get("step", 0) <= step and record.get("epoch", 0) <= epoch
