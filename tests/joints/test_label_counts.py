"""Every command reports the same of one file of labels."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner

from linker.annotation.formats import write
from linker.annotation.session.events import Event
from linker.annotation.session.session import Session
from linker.cli.main import app
from linker.common.errors import DataError
from linker.data.io.records import read_posts
from linker.data.labels.reading import read_labels
from linker.data.labels.values import LabelValue
from linker.ranking.labels import as_labels

TEXTS = ["the ferry sank", "the captain swam", "pancakes for all", "no boats today", "the mayor spoke", "hm"]
COUNTS = re.compile(r"(\d+) labels? of (\d+) posts? \((\d+) relevant, (\d+) not\)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Posts, an article and a session with labels of two people: a tie, an adjudicated post, a skipped one."""
    folder = tmp_path_factory.mktemp("labels")
    (folder / "story.txt").write_text("Ferry sinks\n\nThe ferry sank off the island. The captain swam.")
    article = {"id": "story.txt", "title": "Ferry sinks", "text": "The ferry sank. The captain swam."}
    (folder / "articles.jsonl").write_text(json.dumps(article) + "\n")
    with (folder / "posts.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["text", "created_at"], *([text, "2031-03-03T07:00Z"] for text in TEXTS)])
    posts = read_posts(str(folder / "posts.csv"))
    session = Session.create(folder / "job", str(folder / "story.txt"), posts, "bm25", overlap=1.0)
    labels = {
        "ann": ("relevant", "relevant", "not", "not", "skip"),
        "bo": ("relevant", "not", "relevant", "not", "not"),
    }
    for name, values in labels.items():
        for post, value in zip(posts, values):
            session.act(Event("label", name, post.id, cast(LabelValue, value)))
    session.resolve("chi", posts[2].id, "not")
    for name in ("csv", "jsonl", "xlsx"):
        write(folder / f"labels.{name}", name, session.labeled(machines=True))
    write(folder / "resolved.csv", "csv", session.labeled(True))
    session.close()
    return folder


def output(arguments: Sequence[str]) -> str:
    result = CliRunner().invoke(app, list(arguments))
    return " ".join(f"{result.output} {result.exception or ''}".split())


def reported(arguments: Sequence[str]) -> set[tuple[str, ...]]:
    return set(COUNTS.findall(output(arguments)))


@pytest.mark.parametrize(
    ("name", "labels"),
    [("labels.csv", "10"), ("labels.jsonl", "10"), ("labels.xlsx", "10"), ("resolved.csv", "5")],
)
def test_all_commands_report_equal_counts(
    name: str, labels: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    about = ["--articles", "articles.jsonl"]
    Session.create(tmp_path / "other", "story.txt", read_posts("posts.csv"), "bm25").close()
    commands = [
        ["rank", "--article", "story.txt", "--posts", "posts.csv", "--model", "bm25", "--labels", name],
        ["evaluate", "--model", "bm25", *about, "--posts", "posts.csv", "--labels", name],
        ["evaluate", "--model", "bm25", *about, "--posts", name],
        ["evaluate", "--model", "bm25", "--articles", "story.txt", "--posts", "posts.csv", "--labels", name],
        ["calibrate", *about, "--model", "bm25", "--posts", "posts.csv", "--labels", name,
         "--out", str(tmp_path / "c")],
        ["annotate", "simulate", *about, "--posts", name, "--model", "bm25",
         "--strategy", "random", "--seeds", "1", "--workers", "1"],
        ["annotate", "import", str(tmp_path / "other"), name],
    ]  # fmt: skip
    for command in commands:
        assert reported(command) == {(labels, "5", "2", "3")}, command
    assert COUNTS.findall(as_labels(name).summary) == [(labels, "5", "2", "3")]


def test_labels_of_several_articles_in_one_file_are_of_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    articles = [{"id": name, "title": f"{name} news", "text": "The ferry sank."} for name in ("a", "b")]
    (tmp_path / "articles.jsonl").write_text("".join(json.dumps(one) + "\n" for one in articles))
    rows = [("p0", "the ferry sank", "a", "relevant"), ("p0", "the ferry sank", "b", "not"),
            ("p1", "a big quay", "b", "relevant"), ("p2", "hm", "a", "not")]  # fmt: skip
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["post_id", "text", "article_id", "label"], *rows])
    about = ["--articles", "articles.jsonl", "--posts", "labels.csv"]
    study = ["annotate", "simulate", *about, "--model", "bm25", "--strategy", "random", "--seeds", "1",
             "--workers", "1"]  # fmt: skip
    commands = [["evaluate", "--model", "bm25", *about], study]
    for command in commands:
        said = output(command)
        assert "4 labels of 4 pairs of 3 posts and 2 articles (2 relevant, 2 not)" in said
        assert "tie" not in said
        assert "2 pairs of an article and a post without a label count as not relevant" in said
    assert "2 tasks, 6 posts" in output(study)


def test_a_mapping_from_ids_to_labels_is_refused_with_the_form_to_write(tmp_path: Path) -> None:
    (tmp_path / "labels.json").write_text('{"p1": "relevant", "p2": "not"}')
    with pytest.raises(DataError, match="write rows or objects with post_id and label"):
        read_labels(tmp_path / "labels.json")
