"""`linker vectors` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
