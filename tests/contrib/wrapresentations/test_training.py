"""The recipe on the sample in TACO's format, from the commands to the figures."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.papers.wrapresentations_metrics import pair_figures
from linker.cli.main import app
from linker.common.errors import LinkerError
from linker.contrib.wrapresentations.reader import LabeledTexts
from linker.models.files.archive import load_model
from tests.helpers.encoders import encoder
from tests.helpers.tiny_transformers import tiny

ROOT = Path(__file__).parents[3]
LABELS, TEXTS = (str(ROOT / "data" / "taco" / name) for name in ("labels.csv", "texts.jsonl"))


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return str(tiny("bert", tmp_path_factory.mktemp("network"), masked_lm=True))


def linker(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    if isinstance(result.exception, LinkerError):  # which `main` shows
        return 2, str(result.exception)
    return result.exit_code, result.output


def test_the_sample_has_seven_tweets_of_each_class_on_each_topic():
    data = LabeledTexts(LABELS, TEXTS).read()
    kinds = [(post.extra["topic"], post.extra["class"]) for post in data.posts]
    assert len(kinds) == 84
    assert {kinds.count(kind) for kind in kinds} == {7}
    assert len({post.text for post in data.posts}) == 84


def test_augmented_tweets_train_the_recipe_by_one_command_each(network, tmp_path):
    augmented, out = tmp_path / "augmented.jsonl", tmp_path / "run"
    code, told = linker(
        "mine", "augmented", LABELS, "--texts", TEXTS, "--model", network, "--out", str(augmented),
        "--keep-topic", "eastbridge",
    )  # fmt: skip
    assert code == 0, told
    assert "84 texts" in told
    assert "28 texts unchanged" in told
    rows = [json.loads(line) for line in augmented.read_text(encoding="utf-8").splitlines()]
    assert sum(row["text"] != row["original"] for row in rows) == 56
    command = ["train", str(ROOT / "configs" / "papers" / "wrapresentations.jsonnet"), "--out", str(out)]
    command += ["-o", f"data.reader.texts={augmented}", "-o", f"model.path={network}"]
    command += ["-o", "data.splitter.held_out=eastbridge", "-o", "trainer.epochs=2"]
    code, told = linker(*command)
    assert code == 0, told
    # Of 34 tweets to train (8 or 9 of each class) 2 × 256 to 258 pairs, in batches of 32.
    log = [json.loads(line) for line in (tmp_path / "run-log/train.jsonl").read_text().splitlines()]
    assert sum("step" in record for record in log) in (2 * 16, 2 * 17)
    model = load_model(out)
    held_out = [
        post for post in LabeledTexts(LABELS, TEXTS).read().posts if post.extra["topic"] == "eastbridge"
    ]
    vectors = encoder(model).post_vectors(held_out)
    figures = pair_figures(vectors, [post.extra["class"] for post in held_out])
    assert figures.pairs == 2 * 4 * 7 * 6
    assert figures.best.f1 >= 2 / 3
    # A finished run is left alone.
    assert linker(*command, "--resume")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--texts", str(ROOT / "data" / "posts.jsonl")], "missing text: of 7000"),
        ([], "missing text: of 7000"),
        (
            ["--texts", TEXTS, "--keep-topic", "moon"],
            "no text has the topic moon; topics: eastbridge, nighttrains",
        ),
    ],
)
def test_what_cannot_be_augmented_is_reported(network, tmp_path, arguments, told):
    code, output = linker(
        "mine", "augmented", LABELS, "--model", network, "--out", str(tmp_path / "out"), *arguments
    )
    assert code == 2, output
    assert told in output
    assert not (tmp_path / "out").exists()


def test_a_model_that_cannot_guess_words_is_reported(tmp_path):
    code, output = linker(
        "mine", "augmented", LABELS, "--texts", TEXTS, "--model", str(tiny("bert", tmp_path / "plain")),
        "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert code == 2
    assert "no masked-LM head" in output
    assert "give the pretrained model" in output
