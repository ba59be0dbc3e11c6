"""Training as its user meets it: the loss falls, the best epoch wins, a seed decides everything."""

import errno
import json
import os
import signal

import numpy as np
import pytest
import torch

from linker.common.errors import ConfigError, LinkerError
from linker.config import build
from linker.data.types import LinkedPosts
from linker.evaluation.evaluate import evaluate
from linker.models.model import Model
from linker.models.siamese.siamese import SiameseModel
from linker.modules.losses.loss import Loss
from linker.modules.losses.triplet_margin import TripletMarginLoss
from linker.modules.miners import MultiSimilarityMiner
from linker.training.callbacks import Callback, TensorBoard
from linker.training.rng_state import seed_everything
from linker.training.trainer import Trainer
from linker.training.training_state import TrainingTask
from tests.conftest import toy_posts
from tests.helpers.encoders import ENCODERS


def siamese(encoder="star_transformer", seed=1, data=None) -> SiameseModel:
    seed_everything(seed)
    embedder = {"type": "word_vectors", "dim": 16, "trainable": True, "buckets": 200}
    model = build(
        Model, {"type": "siamese", "encoder": ENCODERS[encoder], "embedder": embedder, "min_count": 1}
    )
    model.prepare(data or toy_posts())
    return model


def trainer(**settings) -> Trainer:
    settings = {
        "optimizer": {"type": "adam", "lr": 0.01},
        "schedule": "constant",
        "batches": {"articles": 9},
    } | settings
    return build(Trainer, settings)


def run(model, tmp_path, epochs=4, dev=None, loss=None, on_epoch=lambda result: None, **settings):
    return trainer(epochs=epochs, **settings).train(
        TrainingTask(
            model,
            MultiSimilarityMiner(),
            loss or TripletMarginLoss(),
            toy_posts(),
            dev if dev is not None else toy_posts(seed=9),
            seed=5,
        ),
        tmp_path / "log",
        on_epoch,
    )


@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_encoder_learns_to_rank_what_it_is_shown(encoder, tmp_path):
    model, shown = siamese(encoder), toy_posts()
    before = evaluate(model.score(shown.articles, shown.posts), shown)["MAP"]
    after = max(metrics["MAP"] for metrics in run(model, tmp_path, epochs=12, dev=shown).epochs)
    assert after > before + 0.1


def test_a_share_of_the_start_is_in_what_is_measured_and_written_not_in_what_learns(tmp_path):
    start = siamese()
    models = {share: siamese() for share in (0.0, 0.25, 1.0)}
    results = {
        share: run(model, tmp_path / str(share), epochs=1, initial_weight=share)
        for share, model in models.items()
    }
    dev = toy_posts(seed=9)
    assert results[1.0].epochs[0] == evaluate(start.score(dev.articles, dev.posts), dev)
    for name, learned in models[0.0].state_dict().items():
        assert torch.equal(models[0.25].state_dict()[name], learned)
        mixed = 0.75 * learned + 0.25 * start.state_dict()[name]
        torch.testing.assert_close(results[0.25].best_state[name], mixed)
    start.load_state_dict(results[0.25].best_state)
    assert results[0.25].epochs[0] == evaluate(start.score(dev.articles, dev.posts), dev)


def test_the_same_seed_gives_the_same_weights_and_another_seed_does_not(tmp_path):
    states = []
    for seed in (1, 1, 2):
        model = siamese(seed=seed)
        run(model, tmp_path, epochs=1)
        states.append(model.state_dict())
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert any(not torch.equal(states[0][name], states[2][name]) for name in states[0])


def test_the_best_epoch_is_kept(tmp_path):
    model, dev = siamese(), toy_posts(seed=9)
    result = run(model, tmp_path, epochs=5, metric="MAP", optimizer={"type": "adam", "lr": 0.1})
    best = max(range(5), key=lambda i: (result.epochs[i]["MAP"], -i))
    assert result.best_epoch == best + 1
    model.load_state_dict(result.best_state)
    again = evaluate(model.score(dev.articles, dev.posts), dev)
    assert again["MAP"] == pytest.approx(result.epochs[best]["MAP"])


def test_patience_ends_a_run_that_gets_no_better(tmp_path):
    result = run(siamese(), tmp_path, epochs=9, patience=2, optimizer={"type": "adam", "lr": 1e-12})
    assert len(result.epochs) == 3
    assert result.best_epoch == 1


def test_ctrl_c_keeps_what_is_done(tmp_path):
    def stop(result):
        if len(result.epochs) == 2:
            raise KeyboardInterrupt

    result = run(siamese(), tmp_path, on_epoch=stop)
    assert result.stopped_by == signal.SIGINT
    assert len(result.epochs) == 2
    assert result.best_state


class BrokenLoss(Loss):
    def forward(self, articles, posts, pairs):
        return articles.sum() * torch.nan


def test_a_loss_that_is_not_a_number_names_the_batch(tmp_path):
    with pytest.raises(LinkerError, match=r"step 1: the loss is nan; articles of the batch: .*-\d"):
        run(siamese(), tmp_path, loss=BrokenLoss())


def test_an_unknown_metric_is_refused():
    with pytest.raises(ConfigError, match="accuracy"):
        trainer(metric="accuracy")


def test_a_model_without_trainable_weights_is_refused(tmp_path):
    model = siamese("mean")
    model.requires_grad_(False)
    with pytest.raises(ConfigError, match="nothing to train"):
        run(model, tmp_path)


def test_no_epochs_measure_the_model_as_prepared(tmp_path):
    model, dev = siamese("mean"), toy_posts(seed=9)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    result = run(model, tmp_path, epochs=0)
    assert (result.best_epoch, len(result.epochs)) == (0, 1)
    assert result.epochs[0] == evaluate(model.score(dev.articles, dev.posts), dev)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_callbacks_see_every_step_and_epoch(tmp_path):
    run(siamese(), tmp_path, epochs=2, callbacks=["json_lines", "tensorboard"])
    records = [json.loads(line) for line in (tmp_path / "log" / "train.jsonl").read_text().splitlines()]
    steps = [record for record in records if "step" in record]
    assert [record["step"] for record in steps] == list(range(1, len(steps) + 1))
    assert all(np.isfinite(record["loss"]) and record["triplets"] >= 0 for record in steps)
    assert [record["epoch"] for record in records if "epoch" in record] == [1, 2]
    assert list((tmp_path / "log").glob("events.out.tfevents.*"))


class Watcher(Callback):
    closed = False

    def close(self):
        self.closed = True


def fail(callbacks, folder):
    failing = trainer()
    failing.callbacks = callbacks
    failing.train(TrainingTask(siamese(), MultiSimilarityMiner(), BrokenLoss(), toy_posts(), seed=0), folder)


def test_a_callback_is_closed_when_training_fails(tmp_path):
    watcher = Watcher()
    with pytest.raises(LinkerError):
        fail([watcher], tmp_path)
    assert watcher.closed


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": -1}, "Trainer: epochs is -1, but must be at least 0"),
        ({"patience": 0}, "Trainer: patience is 0, but must be at least 1"),
        ({"max_grad_norm": 0.0}, "Trainer: max_grad_norm is 0.0, but must be above 0"),
        ({"optimizer": {"type": "adam", "lr": -1.0}}, "optimizer: lr is -1.0, but must be above 0"),
        ({"optimizer": {"type": "adamw", "lr": 0.0}}, "optimizer: lr is 0.0, but must be above 0"),
        ({"optimizer": {"type": "adamw", "weight_decay": -1.0}}, "weight_decay is -1.0, but must be at least 0"),
        ({"schedule": {"type": "linear", "warmup": 2.0}}, "warmup is 2.0, but must be between 0 and 1"),
        ({"batches": {"articles": 0}}, "batches: articles is 0, but must be at least 1"),
        ({"batches": {"posts_per_article": 0}}, "posts_per_article is 0, but must be at least 1"),
        ({"batches": {"articles_per_story": 0}}, "articles_per_story is 0, but must be at least 1"),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused_by_name(settings, message):
    with pytest.raises(ConfigError, match=message):
        trainer(**settings)


@pytest.fixture
def one_article():
    toy = toy_posts(seed=9)
    return LinkedPosts(
        toy.articles[:1], [post for post in toy.posts if toy.articles[0].id in post.article_ids]
    )


@pytest.mark.parametrize("metric", ["AUC", "r_precision@3000"])
def test_a_dev_set_that_is_too_small_for_the_metric_is_reported(metric, one_article, tmp_path):
    with pytest.raises(
        LinkerError, match=f"{metric} cannot be measured on this dev set; use one of .*pair AP"
    ):
        run(siamese(), tmp_path, dev=one_article, metric=metric)


def test_a_dev_set_of_one_article_is_measured_as_far_as_it_can_be(one_article, tmp_path):
    result = run(siamese(), tmp_path, dev=one_article, epochs=1)
    assert "AUC" not in result.epochs[0]
    assert result.epochs[0]["pair AP"] == 1


def test_only_callbacks_that_were_started_are_closed(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("linker.training.callbacks.SummaryWriter", full)
    before, after = Watcher(), Watcher()
    with pytest.raises(OSError, match="No space left"):
        fail([before, TensorBoard(), after], tmp_path / "log")
    assert (before.closed, after.closed) == (True, False)
