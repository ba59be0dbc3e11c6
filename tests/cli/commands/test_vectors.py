"""`linker vectors` as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from linker.cli.commands.vectors import app
from linker.common.errors import ConfigError, DataError, LinkerError
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
    monkeypatch.delenv("LINKER_VECTOR_CACHE", raising=False)
    lines = [json.dumps({"id": i, "text": text}) for i, text in enumerate(TEXTS)]
    (tmp_path / "posts.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(*arguments: str) -> str:
    return invoke(app, *arguments)


def test_info(folder: Path) -> None:
    (folder / "v.txt").write_text("".join(f"{word} 1 2\n" for word in ("obama", "boston", "the", "marathon")))
    told = run("info", "v.txt", "posts.jsonl")
    assert "v.txt: 4 words kept, 2 dimensions" in told
    # These come twice each; no other word does.
    assert "50.0% of 16 running tokens and 33.3% of 12 distinct words" in told
    assert "speaks (1)" in told


def test_a_fetched_name_is_known_to_info(folder: Path) -> None:
    cache = folder / "cache"
    cache.mkdir()
    with zipfile.ZipFile(cache / "glove.6B.zip", "w") as archive:
        archive.writestr("glove.6B.50d.txt", "the " + " ".join(["1"] * 50) + "\n")
    assert run("fetch", "6B.50d", "--cache", "cache").strip() == "cache/glove.6B.50d.txt"
    assert "1 words kept, 50 dimensions" in run("info", "6B.50d", "--cache", "cache")


def test_wrong_input_raises_what_the_command_line_shows(folder: Path) -> None:
    with pytest.raises(DataError, match=r"6B\.1d: unknown published vectors"):
        run("fetch", "6B.1d")
    with pytest.raises(DataError, match=r"`linker vectors fetch 6B\.50d`"):
        run("info", "6B.50d")
    (folder / "v.txt").write_text("obama 1 2\n")
    with pytest.raises(DataError, match=r"column body is missing .columns: id, text"):
        run("info", "v.txt", "posts.jsonl", "--text-column", "body")


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


def test_a_tokenizer_may_have_options(folder: Path) -> None:
    (folder / "v.txt").write_text("#boston 1 2\n")
    keep = '{"type": "social", "hashtags": "keep"}'
    assert "6.2% of 16 running tokens" in run("info", "v.txt", "posts.jsonl", "--tokenizer", keep)
    with pytest.raises(ConfigError, match=r"--tokenizer \{social: neither a name nor a JSON object"):
        run("info", "v.txt", "--tokenizer", "{social")
    with pytest.raises(ConfigError, match='"socail" is not a registered Tokenizer; did you mean "social"'):
        run("info", "v.txt", "--tokenizer", "socail")


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
        app, ["distill", "posts.jsonl", "--teacher", ".", "--out", "v.txt", "--seed", seed]
    )
    assert result.exit_code == 2
    assert "Invalid value for '--seed'" in result.output
