"""`linker plot` as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from linker.models.files.archive import save_model
from tests.conftest import toy_posts
from tests.plots.test_figures import star_transformer

pytest.importorskip("matplotlib")
Run = Callable[..., tuple[int, str, str]]
ENCODER = {"type": "star_transformer", "num_heads": 3, "head_dim": 4, "cycles": 2}
CONFIG = {
    "type": "siamese",
    "encoder": ENCODER,
    "embedder": {"type": "word_vectors", "dim": 8, "trainable": True},
    "min_count": 1,
}
HOSTILE = "$\\frac{ <script>alert(1)</script> & \x00 \U0001f525"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs `linker plot` in this process, in a folder with a model, articles and posts: code, stdout, stderr."""
    toy = toy_posts()
    articles = [
        {"id": a.id, "title": HOSTILE if not number else a.title, "text": a.text}
        for number, a in enumerate(toy.articles)
    ]
    posts = [{"id": p.id, "text": p.text, "article_ids": list(p.article_ids)} for p in toy.posts]
    for name, rows in (("articles", articles), ("posts", posts)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "article.txt").write_text("Harbour news\n\nharbour1 harbour2 orchard3 and w5.\n")
    (tmp_path / "ranking.csv").write_text(
        "id,score,label\n" + "".join(f"{i},{i / 20},{'relevant' if i % 3 else 'not'}\n" for i in range(20))
    )
    (tmp_path / "study").mkdir()
    (tmp_path / "study/curves.csv").write_text(
        "task,strategy,seed,0.00,0.50,1.00\nflood,learning,0,0.0,0.96,1.0\nflood,random,0,0.0,0.5,1.0\n"
    )
    save_model(star_transformer(), tmp_path / "model", {"model": CONFIG}, {}, "")
    monkeypatch.chdir(tmp_path)
    return partial(command, "plot")


LINKED = ("--articles", "articles.jsonl", "--posts", "posts.jsonl")
FIGURES = {
    "tsne": ("--model", "model", *LINKED, "--count", "3"),
    "retrieved": ("ranking.csv", "--threshold", "0.5"),
    "reliability": ("--model", "model", *LINKED),
    "recall": ("study",),
}


def drawn_twice(run: Run, folder: Path, name: str, ending: str) -> bytes:
    twice = []
    for number in range(2):
        code, out, err = run(name, *FIGURES[name], "--out", f"f{number}{ending}", "--data", f"f{number}.json")
        assert (code, out.strip()) == (0, f"f{number}{ending}"), err
        twice.append((folder / f"f{number}{ending}").read_bytes())
    assert twice[0] == twice[1]
    assert (folder / "f0.json").read_bytes() == (folder / "f1.json").read_bytes()
    assert json.loads((folder / "f0.json").read_text())
    return twice[0]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_and_twice_the_same(run: Run, tmp_path: Path, name: str) -> None:
    ElementTree.fromstring(drawn_twice(run, tmp_path, name, ".svg"))


@pytest.mark.parametrize(("ending", "begin"), [(".png", b"\x89PNG"), (".PDF", b"%PDF")])
def test_the_ending_says_the_format(run: Run, tmp_path: Path, ending: str, begin: bytes) -> None:
    assert drawn_twice(run, tmp_path, "recall", ending).startswith(begin)


def test_titles_of_strangers_are_text_in_the_figure(run: Run, tmp_path: Path) -> None:
    assert run("tsne", *FIGURES["tsne"], "--count", "20", "--out", "f.svg")[0] == 0
    tree = ElementTree.parse(tmp_path / "f.svg")
    texts = ["".join(one.itertext()) for one in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert any("$\\frac{ <script>alert(1)" in text for text in texts)
    assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))


def test_the_numbers_are_those_of_the_figure(run: Run, tmp_path: Path) -> None:
    run("retrieved", "ranking.csv", "--threshold", "0.5", "--out", "f.svg", "--data", "f.json")
    numbers = json.loads((tmp_path / "f.json").read_text())
    # Scores 0.5 to 0.95 are places 10 to 19, of which 12, 15 and 18 are not relevant.
    assert (numbers["retrieved_relevant"], numbers["retrieved_irrelevant"]) == (7, 3)
    assert (numbers["missed_relevant"], numbers["missed_irrelevant"]) == (6, 4)
    svg = (tmp_path / "f.svg").read_text(encoding="utf-8")
    assert "precision 70 %, recall 54 %" in svg


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("recall", "study", "--out", "f.jpg"),
            "f.jpg: unknown extension; figures are .svg",
        ),
        (("tsne", "--model", "nowhere", *LINKED, "--out", "f.svg"), "nowhere: model not found"),
        (("retrieved", "--out", "f.svg"), "give RANKING"),
        (("retrieved", "ranking.csv", "--model", "bm25", "--out", "f.svg"), "not both"),
        (("retrieved", "nowhere.csv", "--out", "f.svg"), "nowhere.csv: file not found"),
        (("retrieved", "ranking.csv", "--out", "f.svg", "--data", "f.svg"), "same file as the figure"),
        (("retrieved", "ranking.csv", "--out", "f.svg", "--data", "ranking.csv"), "would overwrite an input"),
        (("reliability", "--model", "bm25", *LINKED, "--split", "dev", "--out", "f.svg"), "--split dev"),
        (("tsne", "--model", "bm25", *LINKED, "--out", "f.svg"), "bm25: has no embeddings"),
        (("recall", "study", "--task", "fire", "--out", "f.svg"), "unknown task 'fire'; its tasks: flood"),
    ],
)
def test_errors_are_reported_in_one_message(run: Run, tmp_path: Path, arguments: tuple, said: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert said in err
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".svg", ".html", ".jpg")]


def test_without_matplotlib_one_line_says_what_to_install(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text(
        "import sys\n"
        "class Blocked:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'matplotlib':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Blocked())\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "linker.cli.main", "plot", "recall", "s", "--out", "f.svg"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{blocked}{os.pathsep}{Path(__file__).parents[3]}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == "error: figures need matplotlib: pip install 'article-linker[plots]'\n"
