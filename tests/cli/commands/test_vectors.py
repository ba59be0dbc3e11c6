"""`linker vectors` as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from linker.cli.main import app
from linker.common.errors import LinkerError
from linker.common.locks import only_writer
from tests.helpers.cli import invoke

TEXTS = [
    "Obama speaks to #Boston",
    "the marathon in Boston",
    "Obama and the marathon",
    "totally unheard-of words",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"id": i, "text": text}) for i, text in enumerate(TEXTS)]
    (tmp_path / "posts.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(*arguments: str) -> str:
    return invoke(app, "vectors", *arguments)


def test_a_second_distillation_into_the_same_file_is_refused(folder: Path) -> None:
    with (
        only_writer(folder / "v.txt"),
        pytest.raises(LinkerError, match=r"v\.txt: another process is writing it; wait until it has ended"),
    ):
        run("distill", "posts.jsonl", "--teacher", ".", "--out", "v.txt")
    assert [path.name for path in folder.iterdir()] == ["posts.jsonl"]


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (".", "is a folder"),
        ("posts.jsonl", "would overwrite an input"),
        ("./link.jsonl", "would overwrite an input"),
        ("posts.jsonl/v.txt", "cannot be written"),
    ],
)
def test_a_place_for_vectors_is_checked_before_they_are_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch, out: str, message: str
) -> None:
    (folder / "link.jsonl").symlink_to("posts.jsonl")
    before = (folder / "posts.jsonl").read_text()
    monkeypatch.setattr("linker.training.distillation.teacher.Teacher", lambda *_: pytest.fail("loaded"))
    with pytest.raises(LinkerError, match=message):
        run("distill", "posts.jsonl", "--teacher", ".", "--out", out)
    assert (folder / "posts.jsonl").read_text() == before


def test_help_needs_nothing_heavy() -> None:
    code = (
        "import sys; import linker.cli.commands.vectors; "
        "print([m for m in ('torch', 'numpy', 'pyarrow', 'httpx') if m in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"


@pytest.mark.parametrize("seed", ["-1", str(2**32)])
def test_a_seed_that_numpy_refuses(folder: Path, seed: str) -> None:
    result = CliRunner().invoke(
        app, ["vectors", "distill", "posts.jsonl", "--teacher", ".", "--out", "v.txt", "--seed", seed]
    )
    assert result.exit_code == 2
    assert "Invalid value for '--seed'" in result.output
