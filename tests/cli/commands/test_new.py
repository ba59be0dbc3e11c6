"""`linker new`: what it writes works as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)


def linker(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "linker.cli.main", *arguments)


@pytest.mark.parametrize("kind", ["encoder", "loss", "strategy"])
def test_class_test_and_config_pass(kind: str, tmp_path: Path) -> None:
    made = linker(tmp_path, "new", kind, "my_own")
    assert made.returncode == 0, made.stderr
    files = {"my_linker/__init__.py", "my_linker/my_own.py", "test_my_own.py", "my_own.jsonnet"}
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")} == files
    tested = run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "test_my_own.py")
    assert tested.returncode == 0, tested.stdout
    if kind == "strategy":
        data = ROOT / "data"
        used = linker(
            tmp_path,
            *("simulate", "--strategy", "my_own.jsonnet", "--include-package", "my_linker", "--model", "tfidf"),
            *("--articles", str(data / "articles.jsonl"), "--posts", str(data / "posts.jsonl"), "--seeds", "1"),
        )
    else:
        used = linker(tmp_path, "config", "check", "my_own.jsonnet", "--include-package", "my_linker")
    assert used.returncode == 0, used.stderr
    assert "my_own" in used.stdout


def test_a_second_component_joins_the_package(tmp_path: Path) -> None:
    assert linker(tmp_path, "new", "loss", "first").returncode == 0
    (tmp_path / "my_linker" / "__init__.py").write_text("# mine\n")
    assert linker(tmp_path, "new", "encoder", "second").returncode == 0
    assert (tmp_path / "my_linker" / "__init__.py").read_text() == "# mine\n"


def test_every_fault_is_reported_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "class.jsonnet").write_text("{}")
    done = linker(tmp_path, "new", "loss", "class", "--package", "My-Package")
    assert done.returncode == 2
    for fault in ("'class' cannot name a component", "'My-Package' cannot name a package", "class.jsonnet: the file"):
        assert fault in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["class.jsonnet"]
