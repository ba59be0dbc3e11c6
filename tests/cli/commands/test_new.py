"""`linker config new`: what it writes works as it is."""

from pathlib import Path
from typing import get_args

import pytest

from linker.cli.commands.new import Kind
from tests.helpers.forked import run_linker, run_module

KINDS = get_args(Kind)

ROOT = Path(__file__).parents[3]


WITHOUT_CONFIG = ("platform", "label_format")


DATA = ("--articles", str(ROOT / "data/articles.jsonl"), "--posts", str(ROOT / "data/posts.jsonl"))


@pytest.fixture(scope="module")
def components(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a new component of every kind."""
    here = tmp_path_factory.mktemp("components")
    for kind in KINDS:
        made = run_linker(here, "config", "new", kind, f"my_{kind}")
        assert made.returncode == 0, made.stderr
    return here


def test_classes_and_tests_are_written_and_pass(components: Path) -> None:
    files = {"my_linker/__init__.py"} | {f"my_{kind}.jsonnet" for kind in KINDS if kind not in WITHOUT_CONFIG}
    files |= {name for kind in KINDS for name in (f"my_linker/my_{kind}.py", f"test_my_{kind}.py")}
    assert {str(path.relative_to(components)) for path in components.rglob("*.*")} == files
    tested = run_module(components, "pytest", "-q", "-p", "no:cacheprovider")
    assert tested.returncode == 0, tested.stdout


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "stopping_rule"])
def test_its_config_is_used(kind: Kind, components: Path) -> None:
    config = f"my_{kind}.jsonnet"
    command: tuple[str, ...] = ("config", "check", config)
    if kind == "strategy":
        rule = ("--stop", "my_stopping_rule.jsonnet", "--model", "tfidf", "--seeds", "1")
        command = ("annotate", "simulate", "--strategy", config, *rule, *DATA)
    elif kind == "model":
        command = ("evaluate", "--model", config, *DATA, "--split", "dev")
    elif kind in WITHOUT_CONFIG:
        command = ("config", "components", "Platform" if kind == "platform" else "LabelFormat")
    used = run_linker(components, *command, "--include-package", "my_linker")
    assert used.returncode == 0, used.stderr
    assert f"my_{kind}" in used.stdout
    assert kind != "strategy" or "my_stopping_rule" in used.stdout


def test_a_second_component_joins_the_package(tmp_path: Path) -> None:
    assert run_linker(tmp_path, "config", "new", "loss", "first").returncode == 0
    (tmp_path / "my_linker" / "__init__.py").write_text("# mine\n")
    assert run_linker(tmp_path, "config", "new", "encoder", "second").returncode == 0
    assert (tmp_path / "my_linker" / "__init__.py").read_text() == "# mine\n"


def test_every_fault_is_reported_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "class.jsonnet").write_text("{}")
    done = run_linker(tmp_path, "config", "new", "loss", "class", "--package", "My-Package")
    assert done.returncode == 2
    for fault in (
        "'class' cannot name a component",
        "'My-Package' cannot name a package",
        "class.jsonnet: the file",
    ):
        assert fault in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["class.jsonnet"]
