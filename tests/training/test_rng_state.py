"""States of random number generators."""

import json
import math
import random

import numpy as np
import torch

from linker.training.rng_state import get_rng_state, seed_everything, set_rng_state


def test_random_states_come_back_whole() -> None:
    def draw() -> tuple[float, ...]:
        return random.random(), random.gauss(0, 1), np.random.rand(), np.random.randn(), torch.rand(1).item()

    seed_everything(7)
    random.gauss(0, 1)
    np.random.randn()
    state = json.loads(json.dumps(get_rng_state()))
    first = [draw() for _ in range(3)]
    set_rng_state(state)
    assert [draw() for _ in range(3)] == first
    assert all(map(math.isfinite, first[0]))
