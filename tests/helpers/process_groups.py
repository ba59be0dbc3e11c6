"""One training, by one process or by several on this machine, with all that its steps compute written down."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.distributed import TCPStore

from tests.conftest import toy_posts
from tests.helpers.forked import context

ENCODERS: dict[str, Any] = {
    "star_transformer": {"type": "star_transformer", "num_heads": 2, "head_dim": 4, "dropout": 0.0},
    "cnn": {"type": "cnn", "num_filters": 6, "hidden_dim": 8, "dropout": 0.0},
    "gru": {"type": "gru", "hidden_dim": 8, "dropout": 0.0},
    "bigru": {"type": "bigru", "hidden_dim": 8, "dropout": 0.0},
    "mean": "mean",
}


@dataclass(frozen=True)
class Setting:
    """What is trained, and how."""

    encoder: str = "star_transformer"
    dtype: torch.dtype = torch.float64
    loss: Any = "triplet_margin"
    dropout: float = 0.0
    trainer: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] | None = None  # in place of the one with `encoder`


def train_alone(setting: Setting, folder: Path) -> dict[str, Tensor]:
    """What one process computes."""
    return train_together(setting, folder, 1)[0]


def train_together(setting: Setting, folder: Path, size: int) -> list[dict[str, Tensor]]:
    """What each of `size` processes computes."""
    group = start_group(_recorded, (setting, str(folder)), size)
    for process in group.processes:
        process.join(100)
    assert [process.exitcode for process in group.processes] == [0] * size
    return [load_file(folder / f"rank{rank}-of-{size}") for rank in range(size)]


@dataclass(frozen=True)
class ProcessGroup:
    """Processes that know of each other, and their store, which must live as long as they do."""

    processes: list[BaseProcess]
    store: TCPStore


def start_group(target: Callable[..., None], arguments: tuple[Any, ...], size: int) -> ProcessGroup:
    """Start processes that know of each other, with `target(*arguments)` in each of them."""
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    processes: list[BaseProcess] = []
    for rank in range(size):
        process = context.Process(target=_member, args=(rank, size, store.port, target, arguments))
        process.start()
        processes.append(process)
    return ProcessGroup(processes, store)


def _member(rank: int, size: int, port: int, target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    torch.set_num_threads(1)
    os.environ.update(
        RANK=str(rank),
        WORLD_SIZE=str(size),
        LOCAL_RANK=str(rank),
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(port),
        TORCHELASTIC_USE_AGENT_STORE="True",
    )
    target(*arguments)


def build_training(setting: Setting) -> tuple[Any, ...]:
    """Trainer, model, miner, loss and data of a setting."""
    from linker.config import build
    from linker.models.model import Model
    from linker.modules.losses.loss import Loss
    from linker.modules.miners import Miner
    from linker.training.rng_state import seed_everything
    from linker.training.trainer import Trainer

    torch.set_default_dtype(setting.dtype)
    seed_everything(3)
    data = toy_posts()
    embedder = {
        "type": "word_vectors", "dim": 8, "trainable": True, "buckets": 50, "dropout": setting.dropout,
    }  # fmt: skip
    encoder = ENCODERS[setting.encoder]
    siamese = {"type": "siamese", "encoder": encoder, "embedder": embedder, "min_count": 2}
    model = build(Model, setting.model or siamese)
    model.prepare(data)
    settings = {
        "optimizer": {"type": "adam", "lr": 1e-3},
        "schedule": "linear",
        "batches": {"articles": 7},
        "epochs": 4,
        "patience": None,
    }
    trainer = build(Trainer, settings | setting.trainer)
    return trainer, model, build(Miner, "multi_similarity"), build(Loss, setting.loss), data


def _recorded(setting: Setting, folder: str) -> None:
    from linker.training.distributed.process_group import process_group
    from linker.training.training_state import TrainingState, TrainingTask

    trainer, model, miner, loss, data = build_training(setting)
    record: dict[str, Tensor] = {}
    clip, gradients = TrainingState._clip, TrainingState._gradients

    def recorded_clip(run: TrainingState) -> None:
        names = {id(p): name for part in (run.model, run.loss) for name, p in part.named_parameters()}
        for p in run.parameters:
            if p.grad is not None:
                record[f"step {run.step} gradient {names[id(p)]}"] = p.grad.clone()
        clip(run)

    def recorded_gradients(run: TrainingState, batch: Any) -> tuple[float, dict[str, float]]:
        value, triplets = gradients(run, batch)
        record[f"step {run.step} loss"] = torch.tensor(value)
        return value, triplets

    def mined(module: Any, inputs: Any, pairs: Any) -> None:
        step = sum(name.startswith("mined") for name in record) // 2
        record[f"mined {step} positives"] = pairs.positives.to(torch.uint8)
        record[f"mined {step} negatives"] = pairs.negatives.to(torch.uint8)

    TrainingState._clip = recorded_clip  # type: ignore[method-assign, assignment]
    TrainingState._gradients = recorded_gradients  # type: ignore[method-assign, assignment]
    miner.register_forward_hook(mined)
    with process_group() as workers:
        task = TrainingTask(model, miner, loss, data, toy_posts(seed=9), 5, workers)
        result = trainer.train(task, Path(folder) / f"log{workers.rank}")
        name = f"rank{workers.rank}-of-{workers.size}"
    record |= {f"weights {key}": tensor.clone() for key, tensor in model.state_dict().items()}
    for epoch, metrics in enumerate(result.epochs):
        record |= {f"metric {epoch} {key}": torch.tensor(value) for key, value in metrics.items()}
    save_file(record, Path(folder) / name)


def same(one: dict[str, Tensor], other: dict[str, Tensor], tolerance: float) -> int:
    """Compare two records, everything in them; how many steps there were."""
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        if name.startswith("weights") and _rounding_alone(one, name.removeprefix("weights ")):
            continue
        if name.startswith("mined"):
            assert torch.equal(tensor, other[name]), name
        else:
            torch.testing.assert_close(
                other[name], tensor, rtol=tolerance, atol=tolerance, msg=(name + ": {}").format
            )
    return sum(name.endswith(" loss") for name in one)


def _rounding_alone(record: dict[str, Tensor], weight: str) -> bool:
    """Is the gradient 0 but for rounding, which Adam makes steps of? (A key's bias shifts all scores alike.)"""
    gradients = [tensor for name, tensor in record.items() if name.endswith(f" gradient {weight}")]
    return bool(gradients) and max(float(tensor.abs().max()) for tensor in gradients) < 1e-7


def with_trainer(setting: Setting, **more: Any) -> Setting:
    """The setting with other keys of the trainer."""
    return replace(setting, trainer=setting.trainer | more)
