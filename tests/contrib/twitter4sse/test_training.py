"""The recipe of Twitter4SSE: its config reads mined pairs, and what is related is never a negative."""

import json

import pytest
import torch

from benchmarks.papers.twitter4sse_metrics import rerank
from linker.config import build, load_config, resolve
from linker.contrib.twitter4sse.mine_benchmarks import Candidate, Reranking
from linker.models.files.archive import load_model
from linker.training.batch_sampler import PairBatch
from linker.training.data_options import use_data
from linker.training.experiment import Experiment
from linker.training.training_state import TrainingTask
from tests.conftest import TOPICS
from tests.helpers.tiny_transformers import tiny

CONFIG = "configs/papers/twitter4sse.jsonnet"


def pair(number, parent, anchor, text):
    return {
        "kind": "reply", "parent_id": parent, "anchor_id": parent, "anchor_text": anchor, "id": str(number),
        "text": text, "created_at": "2020-01-02T03:04:05+00:00",
    }  # fmt: skip


def words(topic, *numbers):
    return " ".join(f"{TOPICS[topic]}{number}" for number in numbers)


@pytest.fixture
def config(tmp_path):
    pairs = [pair(n, f"p{n}", words(n % 6, n % 4, 5), words(n % 6, 6, n % 3)) for n in range(60)]
    half = len(pairs) // 2
    for name, part in (("a.jsonl", pairs[:half]), ("b.jsonl", pairs[half:])):
        (tmp_path / "pairs").mkdir(exist_ok=True)
        (tmp_path / "pairs" / name).write_text("".join(json.dumps(one) + "\n" for one in part))
    model = str(tiny("bert", tmp_path / "base", dropout=0.0))
    config = load_config(CONFIG, [f"model.path={model}"])
    use_data(config, str(tmp_path / "pairs"), None, None)
    return config


def test_the_config_trains_on_mined_pairs_and_the_model_ranks_better(config, tmp_path):
    config["trainer"]["optimizer"]["lr"] = 5e-3
    config["trainer"]["batches"]["articles"] = 6
    config["trainer"]["epochs"] = 8
    resolved = resolve(Experiment, config)
    result = build(Experiment, resolved).run(tmp_path / "out")
    assert result.epochs == [{}] * 8, "all pairs are trained on, none are kept for choosing"
    candidates = [Candidate(str(topic), words(topic, 1, 2), topic == 0) for topic in range(6)]
    sets = [
        Reranking("dr", str(q), words(q, 0, 3), str(q), tuple(
            Candidate(one.id, one.text, one.id == str(q)) for one in candidates
        ))
        for q in range(6)
    ]  # fmt: skip
    untrained = build(Experiment, resolved).model.construct()
    trained = rerank(load_model(tmp_path / "out"), sets)
    assert trained["nDCG"].mean() > rerank(untrained, sets)["nDCG"].mean()


def test_posts_of_one_article_are_never_its_negatives_even_in_one_batch(config):
    experiment = build(Experiment, resolve(Experiment, config))
    data = experiment.data.load().train
    data.posts[7:8] = [type(data.posts[7])("again", data.posts[7].text, ("p3",))]
    model = experiment.model.construct()
    model.prepare(data)
    state = experiment.trainer.start(TrainingTask(model, experiment.miner, experiment.loss, data))
    batches = list(experiment.trainer.batches.epoch(data, 5))
    assert sum(len(batch.posts) for batch in batches) == 60
    relevance = state._relevance(PairBatch([3, 4], [3, 7, 4]))
    assert torch.equal(relevance, torch.tensor([[True, True, False], [False, False, True]]))
