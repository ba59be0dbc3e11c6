"""Learning-rate schedules at their corners."""

import pytest
import torch

from linker.training.optimizers import Adam, AdamW, Constant, Linear


def rates(schedule, steps):
    optimizer = Adam(lr=1.0).build([torch.nn.Parameter(torch.zeros(1))])
    scheduler = schedule.build(optimizer, steps)
    seen = []
    for _ in range(steps):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return seen


def test_linear_rises_in_warm_up_and_falls_to_zero():
    seen = rates(Linear(warmup=0.2), 100)
    assert seen[0] < 0.01
    assert seen[10] == pytest.approx(0.5)
    assert seen[20] == pytest.approx(1.0)
    assert seen[60] == pytest.approx(0.5)
    assert seen[99] == pytest.approx(1 / 80)


def test_constant_stays():
    assert set(rates(Constant(), 10)) == {1.0}


def test_adamw_decays_weights_without_gradients():
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = AdamW(lr=0.1, weight_decay=0.5).build([weight])
    weight.grad = torch.zeros(1)
    optimizer.step()
    assert weight.item() == pytest.approx(1 - 0.1 * 0.5)
