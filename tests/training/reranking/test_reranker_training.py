"""A reranker trains by its config: alone, by several processes, broken off and resumed."""

import json

import pytest

from linker.cli.main import app
from linker.common.errors import ConfigError, LinkerError
from linker.config import build
from linker.evaluation.evaluate import evaluate
from linker.models.archive import load_model
from linker.models.reranking.reranker import RerankerModel
from linker.ranking.ranker import load
from linker.training.callbacks import Callback
from linker.training.experiment import Experiment
from tests.helpers.cli import invoke
from tests.helpers.tiny_transformers import tiny
from tests.helpers.training_runs import write_workplace


def config_of(folder, **trainer):
    network = tiny("bert", folder / "bert", dropout=0.0)
    return {
        "data": {
            "reader": {
                "type": "articles_and_posts",
                "articles": str(folder / "articles.jsonl"),
                "posts": str(folder / "posts.jsonl"),
            }
        },
        "model": {
            "type": "reranker",
            "first_stage": "distilled",
            "second_stage": {"type": "cross_encoder", "path": str(network)},
            "top": 10,
        },
        "loss": "listwise",
        "miner": "all_pairs",
        "trainer": {
            "patience": None,
            "optimizer": {"type": "adamw", "lr": 0.003},
            "schedule": "linear",
            "batches": {"type": "hard_negatives", "model": "tfidf", "negatives": 3},
            "epochs": 1,
            "checkpoint_seconds": 0,
            **trainer,
        },
    }


def trained(config, out, **how):
    return build(Experiment, config).run(out, **how)


def test_training_teaches_the_second_stage(tmp_path):
    write_workplace(tmp_path)
    config = config_of(tmp_path, epochs=4)
    untrained = config_of(tmp_path, epochs=0)
    trained(untrained, tmp_path / "untrained")
    trained(config, tmp_path / "out")
    data = build(Experiment, config).data.load().train
    auc = {}
    for out in ("untrained", "out"):
        model = load_model(tmp_path / out)
        assert isinstance(model, RerankerModel)
        auc[out] = evaluate(model.second_stage.score(data.articles, data.posts), data)["AUC"]
    assert auc["out"] > auc["untrained"] + 0.05
    assert (tmp_path / "out" / "first-stage" / "config.json").is_file()


class StopAfter(Callback):
    """Ends the run in the middle of a step's work, as a crash would."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def step(self, step, values):
        if step == self.steps:
            raise LinkerError("crash")


def test_a_resumed_run_ends_as_an_uninterrupted_one(tmp_path):
    write_workplace(tmp_path)
    config = config_of(tmp_path)
    trained(config, tmp_path / "whole")
    broken = build(Experiment, config)
    broken.trainer.callbacks.append(StopAfter(3))
    with pytest.raises(LinkerError, match="crash"):
        broken.run(tmp_path / "out")
    assert trained(config, tmp_path / "out", resume=True).best_epoch
    for name in ("cross-encoder/model.safetensors", "cross-encoder/head.safetensors", "metrics.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_commands_rank_explain_and_evaluate_with_it(tmp_path):
    write_workplace(tmp_path)
    trained(config_of(tmp_path), tmp_path / "out")
    article = json.loads((tmp_path / "articles.jsonl").read_text().splitlines()[0])
    (tmp_path / "article.txt").write_text(article["text"])
    out = ["--model", str(tmp_path / "out")]
    files = ["--article", str(tmp_path / "article.txt"), "--posts", str(tmp_path / "posts.jsonl")]
    assert "words" in invoke(app, "rank", *files, *out, "--explain", "--top", "3")
    linked = ["--articles", str(tmp_path / "articles.jsonl"), "--posts", str(tmp_path / "posts.jsonl")]
    assert "nDCG@10" in invoke(app, "evaluate", str(tmp_path / "out"), *linked)
    ranking = load(tmp_path / "out").rank(
        str(tmp_path / "article.txt"), str(tmp_path / "posts.jsonl"), top=None
    )
    assert all(0 <= post.score <= 100 for post in ranking)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "info_nce"}, "with the loss `listwise`"),
        ({"batches": {"type": "linked_posts"}}, "with batches of `hard_negatives`"),
        ({"memory": {"posts": 8}}, "no embeddings to keep"),
    ],
)
def test_parts_for_bi_encoders_are_refused(change, message, tmp_path):
    write_workplace(tmp_path)
    config = config_of(tmp_path)
    if "loss" in change:
        config |= change
    else:
        config["trainer"] |= change
    with pytest.raises(ConfigError, match=message):
        trained(config, tmp_path / "out")


def test_a_cross_encoder_without_first_stage_is_refused(tmp_path):
    write_workplace(tmp_path)
    config = config_of(tmp_path)
    config["model"] = config["model"]["second_stage"]
    with pytest.raises(ConfigError, match="put it into a `reranker`"):
        trained(config, tmp_path / "out")
