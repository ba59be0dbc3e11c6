"""Exports of platforms wherever commands, configs and Python read posts."""

import csv
import io
import json
import subprocess
from pathlib import Path

import pytest

import linker
from linker.common.errors import DataError
from linker.data.io.columns import PostColumns
from linker.data.platforms.platform import hashed
from tests.data.platforms.exports import EXPORTS
from tests.helpers.forked import run_linker

JETSTREAM = EXPORTS["bluesky_jetstream"][0].content
STATUSES = EXPORTS["mastodon"][1].content
ARTICLE = "The dam broke at night and the river rose, says the news of today"


def rank(folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return run_linker(
        folder, "rank", "--article", ARTICLE, "--model", "bm25", "--format", "csv", *arguments, given=given
    )


@pytest.mark.parametrize("source", ["posts.jsonl", "-"])
def test_a_stream_is_ranked(source: str, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text(JETSTREAM)
    done = rank(tmp_path, "--posts", source, given=JETSTREAM if source == "-" else "")
    assert done.returncode == 0, done.stderr
    best, second = csv.DictReader(io.StringIO(done.stdout))
    assert best["text"] == "Dam broke news.example/d… </p> &amp;"
    assert best["author"] == hashed("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa")
    assert best["links"] == "https://news.example/dam?card, https://news.example/dam"
    assert second["text"] == "look"
    assert "read as Bluesky Jetstream: 2 posts of 13 lines; 2 likes" in done.stderr


def test_formats_are_chosen(tmp_path: Path) -> None:
    (tmp_path / "posts.json").write_text(STATUSES)
    done = rank(tmp_path, "--posts", "posts.json", "--posts-format", "columns")
    assert 'posts.json, line 2: empty text: nothing in "content"' in done.stderr  # a boost
    assert "read as" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--posts-format", "mastdon"], 'did you mean "mastodon"?'),
        (
            ["--posts-format", "mastodon", "--column", "text=content"],
            "leave out the names of columns (--column)",
        ),
        (["--posts-format", "reddit_comments"], "bad lines"),
    ],
)
def test_wrong_formats_are_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "posts.json").write_text(STATUSES)
    done = rank(tmp_path, "--posts", "posts.json", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_python(capsys: pytest.CaptureFixture[str]) -> None:
    ranker = linker.load("bm25")
    statuses = json.loads(STATUSES)
    (found,) = ranker.rank(ARTICLE, statuses)
    assert found.post.extra["platform"] == "mastodon"
    assert "posts: read as Mastodon: 1 post of 2 items; 1 repost left out" in capsys.readouterr().err
    (found,) = ranker.rank(ARTICLE, statuses[:1], format="truth_social", columns=PostColumns(authors="plain"))
    assert found.post.extra["author"] == "ann@m.example"
    with pytest.raises(DataError, match="2 bad lines"):
        ranker.rank(ARTICLE, statuses, format="reddit_comments")
