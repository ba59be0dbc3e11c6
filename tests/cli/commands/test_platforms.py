"""Exports of platforms wherever commands, configs and Python read posts."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path

import pytest

import linker
from linker.common.errors import DataError
from linker.data.io.columns import PairColumns, PostColumns
from linker.data.platforms.platform import hashed
from linker.data.readers.articles_and_posts import ArticlesAndPosts
from linker.data.readers.texts import Texts
from tests.data.platforms.exports import EXPORTS
from tests.helpers.forked import run_linker

JETSTREAM = EXPORTS["bluesky_jetstream"][0].content
STATUSES = EXPORTS["mastodon"][1].content
ARTICLE = "The dam broke at night and the river rose, says the news of today"


def run(folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return run_linker(folder, *arguments, given=given)


def rank(folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return run(
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
    assert json.loads(best["links"]) == ["https://news.example/dam?card", "https://news.example/dam"]
    assert second["text"] == "look"
    assert "read as Bluesky Jetstream: 2 posts of 13 lines; 2 likes" in done.stderr


def test_formats_are_chosen(tmp_path: Path) -> None:
    (tmp_path / "posts.json").write_text(STATUSES)
    done = rank(tmp_path, "--posts", "posts.json", "--posts-format", "columns")
    assert 'posts.json, line 2: empty text: nothing in "content"' in done.stderr  # a boost
    assert "read as" not in done.stderr


def test_authors_are_shown_as_chosen_for_the_corpus(tmp_path: Path) -> None:
    pytest.importorskip("lance")
    (tmp_path / "posts.json").write_text(STATUSES)
    options = ["--posts-format", "mastodon", "--authors", "plain", "--model", "distilled"]
    built = run(tmp_path, "corpus", "build", "posts.json", "--out", "corpus", *options)
    assert built.returncode == 0, built.stderr
    done = run(tmp_path, "corpus", "search", "corpus", "--article", ARTICLE, "--format", "csv")
    assert [row["author"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["ann@m.example"]


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


def test_labels_in_records_are_simulated(tmp_path: Path) -> None:
    (tmp_path / "articles.jsonl").write_text(json.dumps({"id": "a", "title": "Dam", "text": ARTICLE}) + "\n")
    tweets = [
        {
            "id": str(i),
            "text": text,
            "author_id": "7",
            "conversation_id": str(i),
            "label": i % 2,
            "about": "a",
        }
        for i, text in enumerate(["a dog", "the dam broke", "a cat", "the river rose at the dam"])
    ]
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(tweet) + "\n" for tweet in tweets))
    done = run(
        tmp_path,
        *(
            "annotate",
            "simulate",
            "--articles",
            "articles.jsonl",
            "--posts",
            "posts.jsonl",
            "--model",
            "bm25",
        ),
        *("--relevant", "label", "--task", "about", "--seeds", "1", "--workers", "1"),
    )
    assert done.returncode == 0, done.stderr
    assert "read as X (API 2): 4 posts of 4 lines" in done.stderr


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


def test_data_frames_are_posts_one_for_one() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["1"], "text": ["dam"]})
    assert len(linker.load("bm25").rank(ARTICLE, frame, format="columns")) == 1
    with pytest.raises(DataError, match=r"format mastodon: not for pandas\.DataFrame"):
        linker.load("bm25").rank(ARTICLE, frame, format="mastodon")


def test_readers_of_training_data(tmp_path: Path) -> None:
    (tmp_path / "articles.jsonl").write_text('{"id": "a", "title": "Dam", "text": "It broke."}\n')
    events = [json.loads(line) | {"article_id": "a"} for line in JETSTREAM.splitlines()]
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    columns = PairColumns(posts=PostColumns(format="bluesky_jetstream"))
    data = ArticlesAndPosts(str(tmp_path / "articles.jsonl"), str(tmp_path / "posts.jsonl"), columns).read()
    assert [post.article_ids for post in data.posts] == [("a",), ("a",)]
    texts = Texts(str(tmp_path / "posts.jsonl")).read()
    assert [post.text for post in texts.posts] == ["Dam broke news.example/d… </p> &amp;", "look"]
