"""What watches a training run: TensorBoard, a log in JSON lines, or your own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO

from torch.utils.tensorboard import SummaryWriter

from linker.common.files import atomic_write
from linker.config import Registrable


class Callback(Registrable):
    """Told of every step and epoch of a run. `log_dir` is the run's own folder for logs."""

    def start(self, log_dir: Path) -> None:
        """The run begins."""

    def resume(self, log_dir: Path, step: int, epoch: int) -> None:
        """The run goes on after this step and epoch; what was told of later ones is void and will be told again."""
        self.start(log_dir)

    def step(self, number: int, values: dict[str, float]) -> None:
        """Step `number` (from 1) is done; `values` holds loss, pairs, triplets, learning rate, seconds."""

    def epoch(self, number: int, values: dict[str, float]) -> None:
        """Epoch `number` (from 1) is done; `values` holds the metrics on the dev set."""

    def close(self) -> None:
        """The run has ended, whatever the reason."""


@Callback.register("tensorboard")
class TensorBoard(Callback):
    """Writes event files; look at them with `tensorboard --logdir LOG_DIR`."""

    def start(self, log_dir: Path) -> None:
        """See `Callback.start`."""
        self._writer = SummaryWriter(str(log_dir))

    def resume(self, log_dir: Path, step: int, epoch: int) -> None:
        """See `Callback.resume`."""
        self._writer = SummaryWriter(str(log_dir), purge_step=step + 1)

    def step(self, number: int, values: dict[str, float]) -> None:
        """See `Callback.step`."""
        for name, value in values.items():
            self._writer.add_scalar(f"train/{name}", value, number)

    def epoch(self, number: int, values: dict[str, float]) -> None:
        """See `Callback.epoch`."""
        for name, value in values.items():
            self._writer.add_scalar(f"dev/{name}", value, number)

    def close(self) -> None:
        """See `Callback.close`."""
        self._writer.close()


@Callback.register("json_lines")
class JsonLines(Callback):
    """Writes `train.jsonl`: one object per step and epoch."""

    _file: IO[str] | None = None

    def start(self, log_dir: Path) -> None:
        """See `Callback.start`."""
        log_dir.mkdir(parents=True, exist_ok=True)
        self._file = (log_dir / "train.jsonl").open("w", encoding="utf-8")

    def resume(self, log_dir: Path, step: int, epoch: int) -> None:
        """See `Callback.resume`."""
        path = log_dir / "train.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        with atomic_write(path) as file:
            file.writelines(f"{line}\n" for line in lines if _is_before(line, step, epoch))
        self._file = path.open("a", encoding="utf-8")

    def step(self, number: int, values: dict[str, float]) -> None:
        """See `Callback.step`."""
        self._write({"step": number, **values})

    def epoch(self, number: int, values: dict[str, float]) -> None:
        """See `Callback.epoch`."""
        self._write({"epoch": number, **values})

    def _write(self, record: dict[str, float]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def close(self) -> None:
        """See `Callback.close`."""
        if self._file:
            self._file.close()


def _is_before(line: str, step: int, epoch: int) -> bool:
    """Does the line tell of a step or epoch that counts? A line that was being written when the run died does not."""
    try:
        record = json.loads(line)
    except ValueError:
        return False
    return record.get("step", 0) <= step and record.get("epoch", 0) <= epoch
