"""States of all random number generators of this process, as JSON values."""

import random
from typing import Any

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed all random number generators of this process."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def seed_rank(seed: int, rank: int) -> None:
    """Give each process its own random numbers. Rank 0 keeps its state, so a single process is not affected."""
    if rank:
        seed_everything((seed + 7_919 * rank) % 2**32)


def get_rng_state() -> dict[str, Any]:
    """Return the states of Python's, numpy's and torch's generators as JSON values."""
    name, keys, *rest = np.random.get_state(legacy=True)
    state = {
        "python": random.getstate(),
        "numpy": [name, np.asarray(keys).tolist(), *rest],
        "torch": torch.get_rng_state().tolist(),
    }
    return state | ({"cuda": torch.cuda.get_rng_state().tolist()} if torch.cuda.is_available() else {})


def set_rng_state(state: dict[str, Any]) -> None:
    """Restore what `get_rng_state` returned, in this process or another."""
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, np.array(keys, dtype=np.uint32), *rest))
    torch.set_rng_state(torch.tensor(state["torch"], dtype=torch.uint8))
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(torch.tensor(state["cuda"], dtype=torch.uint8))
