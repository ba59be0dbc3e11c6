"""What a command loads before it is of use: a list for each light command, and a first line before all of it."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.helpers.forked import run_linker

ROOT = Path(__file__).parents[2]
SAMPLE = ("--article", str(ROOT / "data" / "article.html"), "--posts", str(ROOT / "data" / "posts.jsonl"))

# Packages whose import takes 20 ms or more, and those that represent a whole subject. numpy.f2py and the like, which
# are imported with one of these, are not listed.
SLOW = (
    "accelerate", "bm25s", "datasets", "fastapi", "fsspec", "httpx", "lance", "lxml", "matplotlib", "numba",
    "numpy", "pandas", "polars", "pyarrow", "pytorch_metric_learning", "ray", "requests", "rich", "scipy",
    "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "sentence_transformers", "sklearn",
    "tensorboard", "tokenizers", "torch", "torchtext", "trafilatura", "transformers", "uvicorn",
)  # fmt: skip

# Runs a command and writes down which of them were loaded at its end.
LOADED = f"""
import sys
from linker.cli.main import main
try:
    main()
finally:
    with open("loaded.txt", "w") as file:
        print(*[name for name in {SLOW!r} if name in sys.modules], file=file)
"""

# Writes down which of them were loaded when the first character was written to standard error.
FIRST = f"""
import sys

class Watched:
    def __init__(self, stream):
        self.stream, self.first = stream, None
    def write(self, text):
        if self.first is None:
            self.first = text
            with open("first.txt", "w") as file:
                print(text.rstrip(), *[name for name in {SLOW!r} if name in sys.modules], sep="\\n", file=file)
        return self.stream.write(text)
    def __getattr__(self, name):
        return getattr(self.stream, name)

sys.stderr = Watched(sys.stderr)
from linker.cli.main import main
main()
"""


def run(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=folder, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done


def loaded(folder: Path) -> set[str]:
    """The slow packages that a command loaded, without scipy.linalg where scipy loads it by itself."""
    names = set((folder / "loaded.txt").read_text().split())
    major, minor = version("scipy").split(".")[:2]
    # Before 1.17, scipy.special imports it.
    return names - {"scipy.linalg"} if (int(major), int(minor)) < (1, 17) else names


# Ranking prints tables (rich); another process reads HTML.
RANKING = {"numpy", "rich"}


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (("--help",), {"rich"}),
        (("--version",), set()),
        (("rank", "--help"), {"rich"}),
        (("train", "--help"), {"rich"}),
        (("config", "check", str(ROOT / "configs" / "quickstart.jsonnet")), set()),
        (("rank", *SAMPLE, "--model", "tfidf"), RANKING),
        (("rank", *SAMPLE, "--model", "distilled", "--explain"), RANKING),
        (("rank", *SAMPLE, "--model", "bm25", "--out", "ranked.csv"), RANKING),
    ],
    ids=lambda value: " ".join(Path(one).name for one in value) if isinstance(value, tuple) else "",
)
def test_light_commands_load_what_they_need(
    arguments: tuple[str, ...], allowed: set[str], tmp_path: Path
) -> None:
    run(LOADED, tmp_path, *arguments)
    assert loaded(tmp_path) <= allowed
    if "tfidf" in arguments:  # what is loaded is seen
        assert loaded(tmp_path) == RANKING


def test_the_status_of_a_session_loads_no_model(tmp_path: Path) -> None:
    assert run_linker(tmp_path, "annotate", "start", "s", *SAMPLE, "--model", "bm25").returncode == 0
    run(LOADED, tmp_path, "annotate", "status", "s")
    assert loaded(tmp_path) <= {"numpy", "rich", "scipy", "scipy.special"}


@pytest.mark.parametrize("model", ["bm25", "best"])
def test_the_first_line_comes_before_anything_slow_is_loaded(model: str, tmp_path: Path) -> None:
    done = run(FIRST, tmp_path, "rank", *SAMPLE, "--model", model, "--top", "1")
    first, *loaded = (tmp_path / "first.txt").read_text().splitlines()
    assert first == "reading the article ..."
    assert loaded == []
    assert done.stderr.splitlines()[0] == first
