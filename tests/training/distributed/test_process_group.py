"""Several processes train what one would: loss, mined pairs, gradients, weights, metrics."""

import pytest
import torch

from linker.training.distributed.context import DistributedContext
from tests.helpers.process_groups import ENCODERS, Setting, same, train_alone, train_together, with_trainer


def test_two_processes_compute_what_one_does(tmp_path):
    setting = Setting()
    alone = train_alone(setting, tmp_path)
    for record in train_together(setting, tmp_path, 2):
        assert same(alone, record, 1e-9) >= 20


def dropping(encoder, dtype=torch.float64):
    """The same with much dropped out, in every place that there is; unknown words among the texts'."""
    own = {**ENCODERS[encoder], "dropout": 0.3}
    if encoder == "star_transformer":
        own["cycles"] = 2
    embedder = {"type": "word_vectors", "dim": 8, "trainable": True, "buckets": 50, "dropout": 0.2}
    model = {"type": "siamese", "encoder": own, "embedder": embedder, "min_count": 3}
    return Setting(encoder, dtype, model=model)


def parted(record):
    """What is computed, and what is counted: the dev metrics."""
    counted = {name: tensor for name, tensor in record.items() if name.startswith("metric")}
    return {name: tensor for name, tensor in record.items() if name not in counted}, counted


def test_what_is_dropped_out_does_not_depend_on_the_number_of_processes(tmp_path):
    setting = dropping("star_transformer")
    alone = train_alone(setting, tmp_path)
    (tmp_path / "without").mkdir()
    without = train_alone(Setting(), tmp_path / "without")
    assert not torch.equal(alone["step 1 loss"], without["step 1 loss"])
    for record in train_together(setting, tmp_path, 2):
        assert same(alone, record, 1e-9) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("encoder", [name for name in ENCODERS if name != "mean"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
def test_two_and_four_processes_drop_out_what_one_does(encoder, dtype, tolerance, tmp_path):
    setting = dropping(encoder, dtype)
    alone, metrics = parted(train_alone(setting, tmp_path))
    for size in (2, 4):
        for record in train_together(setting, tmp_path, size):
            computed, counted = parted(record)
            assert same(alone, computed, tolerance) >= 20
            # Two posts that change places, because their scores differ by rounding alone, are 2e-5 of the AUC.
            same(metrics, counted, 10 * tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["multi_similarity", "nt_xent"])
def test_other_losses_too(loss, tmp_path):
    setting = Setting("cnn", loss=loss)
    assert same(train_alone(setting, tmp_path), train_together(setting, tmp_path, 2)[1], 1e-9) >= 20


def test_a_batch_of_fewer_texts_than_processes_leaves_some_with_nothing_to_do(tmp_path):
    batches = {"articles": 1, "posts_per_article": 1}
    setting = with_trainer(Setting("mean"), batches=batches, epochs=1)
    alone = train_alone(setting, tmp_path)
    assert {tuple(t.shape) for name, t in alone.items() if name.startswith("mined")} == {(1, 1), (1, 2)}
    for record in train_together(setting, tmp_path, 4):
        same(alone, record, 1e-9)


class Several(DistributedContext):
    size = 4


def test_shares_hold_every_text_once_and_about_as_many_tokens_each():
    lengths = [1000, 3, 950, 20, 10, 8, 990, 900, 5, 5, 1010, 30, 880, 7]
    shares = Several().split_by_tokens(lengths)
    assert sorted(i for share in shares for i in share) == list(range(len(lengths)))
    tokens = [sum(lengths[i] for i in share) for share in shares]
    assert max(tokens) - min(tokens) <= max(lengths)
    assert Several().split_by_tokens([5, 5]) == [[0], [1], [], []]
