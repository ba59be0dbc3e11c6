"""Recipes by name, in folders that have no `configs` or another one."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from linker.config import load_config
from linker.config.recipes import find_config, nearest_recipes, recipes, shared_folder
from tests.helpers.forked import run_linker

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_linker(Path.cwd(), *arguments, environment={**os.environ, "NO_COLOR": "1"})


def test_every_recipe_is_read_by_its_name_in_an_empty_folder(here: Path) -> None:
    names = [name for name, _ in recipes()]
    assert names == [
        path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.glob("configs/**/*.jsonnet"), key=lambda path: (len(path.parts), path))
    ]
    assert [find_config(name) for name in names] == [ROOT / name for name in names]
    for name in names[::9]:
        config = load_config(name)
        assert config == load_config(ROOT / name)
        assert config.source == name
        assert config.recipe == ROOT / name


def test_a_local_file_takes_precedence_and_imports_what_it_lacks_from_the_recipes(here: Path) -> None:
    (here / "configs").mkdir()
    (here / "configs" / "ast.jsonnet").write_text("{seed: 5}")
    (here / "configs" / "mine.jsonnet").write_text(
        "{a: (import 'ast.jsonnet').seed, b: (import 'quickstart.jsonnet').model.encoder,"
        " c: (import 'lib/defaults.libsonnet').training.seed}"
    )
    assert load_config("configs/ast.jsonnet") == {"seed": 5}
    assert load_config("configs/ast.jsonnet").recipe is None
    assert load_config("configs/mine.jsonnet") == {"a": 5, "b": "mean", "c": 13}
    # The recipe's own imports remain those of linker.
    assert load_config("configs/minilm/finetune.jsonnet")["start"] == "best"


@pytest.mark.parametrize("name", ["configs/ast.jsonnet", "ast.jsonnet"])
def test_a_config_extends_a_recipe_that_is_not_in_its_folder(here: Path, name: str) -> None:
    Path("my.jsonnet").write_text(f"(import '{name}') + {{trainer+: {{epochs: 3}}}}")
    config = load_config("my.jsonnet")
    assert config["trainer"].pop("epochs") == 3
    original = load_config(ROOT / "configs" / "ast.jsonnet")
    original["trainer"].pop("epochs")
    assert dict(config) == dict(original)


def test_only_names_below_configs_are_recipes(here: Path) -> None:
    for name in (
        "ast.jsonnet",
        "configs/none.jsonnet",
        "configs/../configs/ast.jsonnet",
        "configs",
        "x" * 5000,
    ):
        assert find_config(name) == Path(name)
    assert find_config("./configs/ast.jsonnet") == ROOT / "configs" / "ast.jsonnet"


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ("ast.jsonnet", "configs/ast.jsonnet"),
        ("finetune", "configs/minilm/finetune.jsonnet"),
        ("configs/fine_tune.jsonnet", "configs/minilm/finetune.jsonnet"),
        ("configs/astt.jsonnet", "configs/ast.jsonnet"),
        ("configs/deboom.jsonnet", "configs/papers/deboom2016.jsonnet"),
    ],
)
def test_a_misspelled_recipe_is_recognized(given: str, first: str) -> None:
    assert nearest_recipes(given)[0] == first
    assert len(nearest_recipes(given)) <= 3


def test_a_missing_config_is_reported_with_the_nearest_recipes(here: Path) -> None:
    done = run("train", "configs/minilm/fine_tune.jsonnet", "--data", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: configs/minilm/fine_tune.jsonnet: config not found; similar recipes of linker: "
        "configs/minilm/finetune.jsonnet; `linker config list` lists all recipes\n"
    )
    assert os.listdir(here) == []


def test_one_line_names_the_recipe_that_is_read(here: Path) -> None:
    done = run("config", "show", "configs/quickstart.jsonnet")
    assert done.returncode == 0
    reader = json.loads(done.stdout)["data"]["reader"]
    assert Path(reader["articles"]) == shared_folder() / "data" / "articles.jsonl"
    assert done.stderr.splitlines() == [
        f"config: {ROOT / 'configs' / 'quickstart.jsonnet'}, linker's own, because "
        "configs/quickstart.jsonnet is not in this folder"
    ]


def test_the_list_has_one_line_about_each_recipe(here: Path) -> None:
    done = run("config", "list")
    *lines, blank, place = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [name for name, _ in recipes()]
    assert all(10 < len(headline) < 140 for _, headline in recipes())
    assert blank == ""
    assert str(ROOT) in place
