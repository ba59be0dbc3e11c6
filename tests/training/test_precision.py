"""Lower precision: close to float32, with weights and loss kept in float32."""

import pytest
import torch

from linker.modules import precision as precisions
from linker.training.training_state import TrainingTask
from tests.helpers.process_groups import ENCODERS, Setting, build_training


def first_epoch(encoder, precision):
    """Mean loss of an epoch, and the run."""
    setting = Setting(encoder, torch.float32, trainer={"precision": precision})
    trainer, model, miner, loss, data = build_training(setting)
    seen = []
    loss.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].dtype))
    run = trainer.start(TrainingTask(model, miner, loss, data, seed=5))
    run.epoch(1, lambda values: None)
    assert set(seen) == {torch.float32}
    assert {p.dtype for p in run.parameters} == {torch.float32}
    return run.loss_sum / run.steps, run


@pytest.mark.parametrize("encoder", [name for name in ENCODERS if name != "mean"])
def test_bfloat16_is_near_float32_and_not_the_same(encoder):
    exact, lower = (first_epoch(encoder, precision)[0] for precision in ("float32", "bfloat16"))
    assert lower == pytest.approx(exact, rel=0.02)
    assert lower != exact


@pytest.mark.parametrize(("able", "like"), [(True, "bfloat16"), (False, "float32")])
def test_auto_is_bfloat16_where_the_processor_multiplies_it(able, like, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": able}, raising=False)
    assert first_epoch("cnn", "auto")[0] == first_epoch("cnn", like)[0]


def test_torch_that_does_not_tell_what_a_processor_can_stays_with_float32(monkeypatch):
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert precisions.lower_type("auto", torch.device("cpu")) is None
