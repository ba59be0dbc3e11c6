"""Several processes train what one would: loss, mined pairs, gradients, weights, metrics."""

import pytest
import torch

from linker.training.workers import Workers
from tests.training.grouping import ENCODERS, Setting, same, train_alone, train_together, with_trainer


def test_two_processes_compute_what_one_does(tmp_path):
    setting = Setting()
    alone = train_alone(setting, tmp_path)
    for record in train_together(setting, tmp_path, 2):
        assert same(alone, record, 1e-9) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
def test_two_and_four_processes_compute_what_one_does(encoder, dtype, tolerance, tmp_path):
    setting = Setting(encoder, dtype)
    alone = train_alone(setting, tmp_path)
    for size in (2, 4):
        for record in train_together(setting, tmp_path, size):
            assert same(alone, record, tolerance) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["multi_similarity", "nt_xent"])
def test_other_losses_too(loss, tmp_path):
    setting = Setting("cnn", loss=loss)
    same(train_alone(setting, tmp_path), train_together(setting, tmp_path, 2)[1], 1e-9)


def test_a_batch_of_fewer_texts_than_processes_leaves_some_with_nothing_to_do(tmp_path):
    batches = {"articles": 1, "posts_per_article": 1}
    setting = with_trainer(Setting("mean"), batches=batches, epochs=1)
    alone = train_alone(setting, tmp_path)
    assert {tuple(t.shape) for name, t in alone.items() if name.startswith("mined")} == {(1, 1), (1, 2)}
    for record in train_together(setting, tmp_path, 4):
        same(alone, record, 1e-9)


class Several(Workers):
    size = 4


def test_shares_hold_every_text_once_and_about_as_many_tokens_each():
    lengths = [1000, 3, 950, 20, 10, 8, 990, 900, 5, 5, 1010, 30, 880, 7]
    shares = Several().shares(lengths)
    assert sorted(i for share in shares for i in share) == list(range(len(lengths)))
    tokens = [sum(lengths[i] for i in share) for share in shares]
    assert max(tokens) - min(tokens) <= max(lengths)
    assert Several().shares([5, 5]) == [[0], [1], [], []]
