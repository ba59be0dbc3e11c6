"""`linker config new`: what it writes works as it is."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from linker.cli.commands.new import KINDS, Component
from tests.helpers.forked import run_linker, run_module

ROOT = Path(__file__).parents[3]


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return run_module(folder, *command)


def linker(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_linker(folder, *arguments)


WITHOUT_CONFIG = ("platform", "label_format")


DATA = ("--articles", str(ROOT / "data/articles.jsonl"), "--posts", str(ROOT / "data/posts.jsonl"))


@pytest.fixture(scope="module")
def components(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a new component of every kind."""
    here = tmp_path_factory.mktemp("components")
    for kind in KINDS:
        made = linker(here, "config", "new", kind, f"my_{kind}")
        assert made.returncode == 0, made.stderr
    return here


def test_classes_and_tests_are_written_and_pass(components: Path) -> None:
    files = {"my_linker/__init__.py"} | {f"my_{kind}.jsonnet" for kind in KINDS if kind not in WITHOUT_CONFIG}
    files |= {name for kind in KINDS for name in (f"my_linker/my_{kind}.py", f"test_my_{kind}.py")}
    assert {str(path.relative_to(components)) for path in components.rglob("*.*")} == files
    tested = run(components, "pytest", "-q", "-p", "no:cacheprovider")
    assert tested.returncode == 0, tested.stdout


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "stopping_rule"])
def test_its_config_is_used(kind: Component, components: Path) -> None:
    config = f"my_{kind}.jsonnet"
    command: tuple[str, ...] = ("config", "check", config)
    if kind == "strategy":
        rule = ("--stop", "my_stopping_rule.jsonnet", "--model", "tfidf", "--seeds", "1")
        command = ("annotate", "simulate", "--strategy", config, *rule, *DATA)
    elif kind == "model":
        command = ("evaluate", config, *DATA, "--split", "dev")
    elif kind in WITHOUT_CONFIG:
        command = ("config", "components", KINDS[kind].family)
    used = linker(components, *command, "--include-package", "my_linker")
    assert used.returncode == 0, used.stderr
    assert f"my_{kind}" in used.stdout
    assert kind != "strategy" or "my_stopping_rule" in used.stdout


def test_a_second_component_joins_the_package(tmp_path: Path) -> None:
    assert linker(tmp_path, "config", "new", "loss", "first").returncode == 0
    (tmp_path / "my_linker" / "__init__.py").write_text("# mine\n")
    assert linker(tmp_path, "config", "new", "encoder", "second").returncode == 0
    assert (tmp_path / "my_linker" / "__init__.py").read_text() == "# mine\n"


def test_every_fault_is_reported_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "class.jsonnet").write_text("{}")
    done = linker(tmp_path, "config", "new", "loss", "class", "--package", "My-Package")
    assert done.returncode == 2
    for fault in (
        "'class' cannot name a component",
        "'My-Package' cannot name a package",
        "class.jsonnet: the file",
    ):
        assert fault in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["class.jsonnet"]


Tool = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Tool]:
    """The repository of a new plugin, installed, and a function that runs a module beside it."""
    here = tmp_path_factory.mktemp("plugin")
    made = linker(here, "config", "new", "plugin", "river_otter")
    assert made.returncode == 0, made.stderr
    info = here / "site" / "river_otter-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: river-otter\nVersion: 0.1.0\n")
    declared = (here / "river_otter" / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points."linker.components"]\nriver_otter = "river_otter"\n' in declared
    (info / "entry_points.txt").write_text("[linker.components]\nriver_otter = river_otter\n")
    path = os.pathsep.join(map(str, (here / "river_otter" / "src", here / "site", ROOT)))

    def installed(*command: str, folder: Path = here) -> subprocess.CompletedProcess[str]:
        return run_module(folder, *command, environment={**os.environ, "PYTHONPATH": path})

    return here, installed


def test_a_new_plugin_passes_its_own_tests(plugin: tuple[Path, Tool]) -> None:
    here, run_module = plugin
    done = run_module("pytest", "-q", "-p", "no:cacheprovider", folder=here / "river_otter")
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout
    assert len(list((here / "river_otter" / "tests").glob("test_*.py"))) == len(KINDS) + 1


def test_the_components_of_a_new_plugin_are_used_by_the_commands(plugin: tuple[Path, Tool]) -> None:
    here, run_module = plugin
    record = {"id": 1, "topic_id": 1, "post_number": 1, "cooked": "<p>the <b>ferry</b> ran aground</p>"}
    gone = {**record, "id": 2, "deleted_at": "2031-01-01"}
    (here / "forum.jsonl").write_text(f"{json.dumps(record)}\n{json.dumps(gone)}\n", encoding="utf-8")
    (here / "model.jsonnet").write_text("{ type: 'river_otter_model' }")
    article = ("--article", "The ferry ran aground on the reef near the island, and nobody was hurt.")
    ranked = run_module(
        "linker",
        "rank",
        "--model",
        "model.jsonnet",
        *article,
        "--posts",
        "forum.jsonl",
        "--format",
        "jsonl",
        "--force",
    )
    assert ranked.returncode == 0, ranked.stderr
    assert "read as River otter platform: 1 post of 2 lines; 1 deleted post left out" in ranked.stderr
    (line,) = ranked.stdout.splitlines()
    found = json.loads(line)
    assert (found["text"], found["score"]) == ("the ferry ran aground", 75)

    simulated = run_module(
        "linker", "annotate", "simulate", "--strategy", "river_otter_strategy",
        "--stop", "river_otter_stopping_rule,in_a_row=5",
        "--model", "tfidf", "--seeds", "1",
        *DATA,
    )  # fmt: skip
    assert simulated.returncode == 0, simulated.stderr
    assert "river_otter_strategy" in simulated.stdout
    assert "river_otter_stopping_rule" in simulated.stdout

    started = run_module(
        "linker",
        "annotate",
        "start",
        "session",
        *article,
        "--posts",
        "forum.jsonl",
        "--force",
        "--model",
        "bm25",
    )
    assert started.returncode == 0, started.stderr
    (here / "labels.tsv").write_text("1\trelevant\tann\n")
    shape = ("--format", "river_otter_label_format")
    imported = run_module("linker", "annotate", "import", "session", "labels.tsv", *shape)
    assert imported.returncode == 0, imported.stderr
    exported = run_module("linker", "annotate", "export", "session", "--out", "out.tsv", *shape)
    assert exported.returncode == 0, exported.stderr
    assert (here / "out.tsv").read_text() == "1\trelevant\tann\n"


def test_a_plugin_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    done = linker(tmp_path, "config", "new", "plugin", "taken")
    assert (done.returncode, done.stderr) == (
        2,
        "error: taken: the folder exists; choose another name, or delete it first\n",
    )
    done = linker(tmp_path, "config", "new", "plugin", "other", "--package", "mine")
    assert done.returncode == 2
    assert "leave out --package" in done.stderr
    assert os.listdir(tmp_path) == ["taken"]
