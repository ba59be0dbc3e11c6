"""`linker mine links` as a user runs it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.forked import run_linker
from tests.mining.test_mine_links import post, url, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sixteen posts with cards about eight articles, and one without a link."""
    posts = (post(n, n % 8) for n in range(16))
    write(tmp_path / "posts.jsonl", [{"id": "plain", "text": "no link in this post"}, *posts])
    return tmp_path


def test_the_table_and_the_folder(folder: Path) -> None:
    done = run_linker(folder, "mine", "links", "posts.jsonl", "--out", "set")
    assert (done.returncode, done.stdout) == (0, "set\n"), done.stderr
    rows = [re.split(r"\s{2,}", line.strip()) for line in done.stderr.splitlines()]
    table = {row[0]: row[1:] for row in rows}
    assert table["posts read"] == ["17"]
    assert table["without a link"] == ["1", "5.9%"]
    assert table["pairs"] == ["16", "100.0%"]
    assert table["dev"] == ["2", "12.5%"]
    assert sorted(path.name for path in (folder / "set").iterdir()) == [
        *("articles.jsonl", "posts.jsonl", "report.json")
    ]
    posts = (folder / "set" / "posts.jsonl").read_text(encoding="utf-8")
    assert "https://" not in posts
    assert json.loads(posts.splitlines()[0])["text"] == "opinion0 neighbors0 complain0 council0"


def test_links_without_an_article_are_written_for_fetching(folder: Path) -> None:
    write(folder / "known.jsonl", [{"id": "known", "url": url(3), "title": "T", "text": "some words of it"}])
    given = ("posts.jsonl", "--articles", "known.jsonl", "--out", "set", "--missing", "links.jsonl")
    done = run_linker(folder, "mine", "links", *given)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (folder / "links.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 7
    assert rows[0] == {"url": url(0), "posts": 2}
    assert not any("library" in row["url"] for row in rows)


def test_training_reads_the_folder(folder: Path) -> None:
    run_linker(folder, "mine", "links", "posts.jsonl", "--out", "set")
    config = str(Path(__file__).parents[3] / "configs" / "quickstart.jsonnet")
    done = run_linker(folder, "train", config, "--data", "set", "-o", "trainer.epochs=1", "--out", "model")
    assert done.returncode == 0, done.stderr
    assert "train: 7 articles, 14 posts; dev: 1 articles, 2 posts" in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.jsonl", "--out", "set"], "missing.jsonl: file not found"),
        (["posts.jsonl", "--out", "posts.jsonl"], "posts.jsonl: is a file; give a folder to write to"),
        (["posts.jsonl", "--out", "set", "--not-in", "x.jsonl"], "x.jsonl: file not found"),
        (["posts.jsonl", "--out", "set", "--lang", "ja"], "no pair of article and post is left"),
        (["posts.jsonl", "--out", "set", "--days", "0", "0"], "days_after is 0, but must be at least 1"),
    ],
)
def test_errors(folder: Path, arguments: list[str], message: str) -> None:
    done = run_linker(folder, "mine", "links", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in folder.iterdir()] == ["posts.jsonl"]


def test_an_interrupted_run_leaves_nothing(folder: Path) -> None:
    line = (folder / "posts.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[1]
    with open(folder / "posts.jsonl", "a", encoding="utf-8") as file:
        file.writelines(line.replace('"p0"', f'"q{n}"') for n in range(200_000))
    process = subprocess.Popen(
        [sys.executable, "-m", "linker", "mine", "links", "posts.jsonl", "--out", "set"],
        cwd=folder,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        # A test run in the background ignores Ctrl-C, which its children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while process.poll() is None and not list(folder.glob(".set.*/")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"")
    assert [path.name for path in folder.iterdir()] == ["posts.jsonl"]
