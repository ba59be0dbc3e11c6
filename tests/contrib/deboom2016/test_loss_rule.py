"""The rule that lowers the learning rate and ends a run by its training loss, as a run follows it."""

import json
import signal

import pytest
import torch

from linker.config import build
from linker.modules.losses.loss import Loss
from linker.modules.miners import AllPairsMiner
from linker.training.trainer import Trainer
from linker.training.training_state import TrainingTask
from tests.conftest import toy_posts
from tests.helpers.process_groups import Setting, same, train_alone, train_together
from tests.helpers.training_runs import outcome, run, train, write_workplace
from tests.training.checkpointing.test_resume import DieAtStep
from tests.training.test_trainer import siamese


class ScriptedLoss(Loss):
    """The same value throughout an epoch, whatever the vectors are."""

    def __init__(self, values, steps):
        super().__init__()
        self.values, self.steps, self.step = values, steps, 0

    def forward(self, articles, posts, pairs):
        self.step += 1
        return self.values[(self.step - 1) // self.steps] + 0 * articles.sum() + 0 * posts.sum()


def rates(tmp_path, values, schedule="constant", **rule):
    """The learning rate of each epoch's first step of a run whose losses are given."""
    trainer = build(
        Trainer,
        {
            "optimizer": {"type": "sgd", "lr": 0.5}, "schedule": schedule, "batches": {"articles": 9},
            "epochs": len(values), "patience": None, "callbacks": ["json_lines"], "loss_rule": rule,
        },
    )  # fmt: skip
    model, data = siamese("mean"), toy_posts()
    steps = trainer.batches.count(data)
    trainer.train(TrainingTask(model, AllPairsMiner(), ScriptedLoss(values, steps), data, seed=5), tmp_path)
    log = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text().splitlines()]
    return [line["lr"] for line in log if line.get("step", 0) % steps == 1]


def test_the_rate_falls_after_the_epoch_that_rose_and_the_run_ends_when_the_loss_stays(tmp_path, capsys):
    assert rates(tmp_path, [0.9, 0.8, 0.7999, 0.85, 0.7, 0.6998, 0.1]) == pytest.approx(
        [0.5] * 4 + [0.05] * 2
    )
    told = capsys.readouterr().err
    assert told.count("learning rate × 0.1") == 1
    assert "hardly falls" in told


def test_a_rise_in_the_last_epoch_of_all_changes_nothing(tmp_path):
    assert rates(tmp_path, [0.9, 0.8, 0.81]) == [0.5, 0.5, 0.5]


def test_the_schedule_continues_at_the_lowered_rate(tmp_path):
    plain = rates(tmp_path / "plain", [0.9, 0.8, 0.7, 0.6, 0.5], schedule="linear")
    lowered = rates(tmp_path / "lowered", [0.9, 1.0, 0.7, 0.6, 0.5], schedule="linear", factor=0.25)
    assert lowered == pytest.approx(plain[:2] + [0.25 * rate for rate in plain[2:]])


RULE = ["-o", 'trainer.loss_rule={"factor": 0.5, "min_delta": 0.02}', "-o", "trainer.patience=null"]
RULE += ["-o", "trainer.epochs=12", "-o", "trainer.optimizer.lr=0.1", "-o", "trainer.schedule=constant"]


def test_a_run_killed_after_the_rate_fell_ends_as_if_nothing_had_happened(tmp_path):
    folder = write_workplace(tmp_path)
    code, told = run(folder, *train("whole", *RULE))
    assert code == 0, told
    log = outcome(folder, "whole")["log"]
    lowered = next(line["step"] for line in log if line.get("lr") == 0.05)
    assert sum("epoch" in line for line in log) < 12, "the rule did not end the run"
    # In the first epoch at the lowered rate, and right before it.
    for step in (lowered + 1, lowered - 1):
        code, _ = run(folder, *train(f"at-{step}", *RULE), prepare=DieAtStep(step))
        assert code == -signal.SIGKILL
        assert run(folder, *train(f"at-{step}", "--resume", *RULE))[0] == 0
        assert outcome(folder, f"at-{step}") == outcome(folder, "whole")
    # A finished run stays finished.
    assert run(folder, *train("whole", "--resume", *RULE))[0] == 0
    assert outcome(folder, "whole")["log"] == log


def test_two_processes_lower_the_rate_and_stop_where_one_does(tmp_path):
    rule = {"loss_rule": {"min_delta": 0.02}, "epochs": 9, "optimizer": {"type": "adam", "lr": 0.1}}
    setting = Setting("mean", torch.float64, trainer=rule)
    alone = train_alone(setting, tmp_path)
    epochs = sum(name.startswith("metric") and name.endswith("pair AP") for name in alone)
    assert 2 < epochs < 9
    for record in train_together(setting, tmp_path, 2):
        same(alone, record, 1e-9)
