"""A transformer trains through the same trainer: alone, by several processes, broken off and gone on with."""

import json
from pathlib import Path

import pytest
import torch
from huggingface_hub import ModelCard

from linker.cli.main import app
from linker.common.errors import LinkerError
from linker.config import build
from linker.data import read_articles, read_posts
from linker.evaluation.evaluate import evaluate
from linker.models.files.archive import load_model
from linker.models.model import all_submodels
from linker.models.siamese.transformer import TransformerModel
from linker.models.tfidf import TfidfModel
from linker.ranking.ranker import load
from linker.training.callbacks import Callback
from linker.training.experiment import Experiment
from tests.helpers.cli import invoke
from tests.helpers.process_groups import Setting, same, train_alone, train_together
from tests.helpers.tiny_transformers import SIZES, tiny
from tests.helpers.training_runs import write_workplace

ROOT = Path(__file__).parents[2]


def config_of(folder, path):
    return {
        "data": {
            "reader": {
                "type": "articles_and_posts",
                "articles": str(folder / "articles.jsonl"),
                "posts": str(folder / "posts.jsonl"),
            }
        },
        "model": {"type": "transformer", "path": str(path)},
        "loss": {"type": "nt_xent", "temperature": 0.05},
        "miner": "all_pairs",
        "trainer": {
            "patience": None,
            "optimizer": {"type": "adamw", "lr": 0.01},
            "schedule": "linear",
            "batches": {"articles": 6},
            "epochs": 4,
            "checkpoint_seconds": 0,
        },
    }


def trained(config, out, **how):
    return build(Experiment, config).run(out, **how)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_training_brings_together_what_belongs_together(kind, tmp_path):
    write_workplace(tmp_path)
    config = config_of(tmp_path, tiny(kind, tmp_path / kind, dropout=0.0))
    trained(config | {"trainer": config["trainer"] | {"epochs": 0}}, tmp_path / "untrained")
    trained(config | {"trainer": config["trainer"] | {"epochs": 12, "metric": "AUC"}}, tmp_path / "out")
    splits = build(Experiment, config).data.load()
    before, after = (
        evaluate(load_model(tmp_path / out).score(splits.train.articles, splits.train.posts), splits.train)
        for out in ("untrained", "out")
    )
    assert after["AUC"] > before["AUC"] + 0.15
    card = ModelCard((tmp_path / "out" / "README.md").read_text())
    assert "`transformer` encoder" in card.text
    assert card.data.to_dict()["library_name"] == "linker"


class StopAfter(Callback):
    """Ends the run in the middle of a step's work, as a crash would."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def step(self, step, values):
        if step == self.steps:
            raise LinkerError("crash")


def test_a_run_that_broke_off_ends_as_if_nothing_had_happened(tmp_path):
    write_workplace(tmp_path)
    config = config_of(tmp_path, tiny("bert", tmp_path / "bert"))
    trained(config, tmp_path / "whole")
    broken = build(Experiment, config)
    broken.trainer.callbacks.append(StopAfter(5))
    with pytest.raises(LinkerError, match="crash"):
        broken.run(tmp_path / "out")
    assert trained(config, tmp_path / "out", resume=True).best_epoch
    for name in ("transformer/model.safetensors", "last.safetensors", "metrics.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@pytest.mark.slow
def test_two_processes_compute_what_one_does(tmp_path):
    path = tiny("bert", tmp_path / "base", dropout=0.0)
    setting = Setting(
        dtype=torch.float32, model={"type": "transformer", "path": str(path)}, trainer={"epochs": 1}
    )
    alone = train_alone(setting, tmp_path)
    for record in train_together(setting, tmp_path, 2):
        assert same(alone, record, 1e-4) >= 3


TEXTS = ROOT / "benchmarks" / "quality" / "texts" / "german"


def test_the_multilingual_recipe_from_texts_and_links_to_a_ranking(tmp_path, monkeypatch, capsys):
    """The recipe as documented, with a tiny teacher of as many layers and texts that are not English."""
    pytest.importorskip("sentence_transformers", reason="reads the teacher")
    monkeypatch.setitem(SIZES, "num_hidden_layers", 12)
    teacher = tiny("roberta", tmp_path / "paraphrase-multilingual-MiniLM-L12-v2", positions=600, dropout=0.0)
    module = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
    pooling = {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
    (teacher / "modules.json").write_text(json.dumps([module, pooling]))
    (teacher / "1_Pooling").mkdir()
    (teacher / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True})
    )
    monkeypatch.chdir(tmp_path)
    configs = ROOT / "configs"
    teaching = ["-o", f"loss.teacher={teacher}"]
    network = ["-o", f"model.model.parts.0.path={teacher}", "-o", "trainer.epochs=1", "--data", str(TEXTS)]
    invoke(
        app, "train", str(configs / "students" / "multilingual.jsonnet"), *teaching, *network, "--out",
        "student",
    )  # fmt: skip
    recipe = str(configs / "minilm" / "multilingual.jsonnet")
    invoke(app, "train", recipe, *network, "-o", "start=student", "--out", "model")
    parts = list(all_submodels(load_model("model")))
    assert [len(part.network.encoder.layer) for part in parts if isinstance(part, TransformerModel)] == [6]
    assert {part.stop_words for part in parts if isinstance(part, TfidfModel)} == {
        "by_language",
        "characters",
    }
    capsys.readouterr()
    article, posts = read_articles(str(TEXTS / "articles.jsonl"))[0], read_posts(str(TEXTS / "posts.jsonl"))
    assert len(load("model").rank(article, posts)) == len(posts)
    assert "warning" not in capsys.readouterr().err  # it states no languages
