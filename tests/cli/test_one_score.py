"""The same article, post and model have the same score wherever they are asked."""

import csv
import html
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linker
from linker.annotation.session.session import Session
from linker.web.app import Served, create_app
from tests.web.conftest import Client

ARTICLE = {
    "id": "otters",
    "title": "Otters return to the river",
    "text": "Two otters were filmed below the weir at Marrow. The river keepers counted salmon and saw otters.",
    "published": "2031-04-12",
}
TEXTS = [
    "otters at the weir, and the keepers were there",
    "Otters at the weir, and the keepers were there!",  # a near-duplicate
    "the river keepers of Marrow",
    "salmon counted again",
    "what a goal tonight by the striker",
    "bus 7 is late, as ever",
    "she saw two of them below the weir",
    "nothing to see here",
]
POSTS = [
    {"id": f"p{n}", "text": text, "article_id": "otters", "created_at": f"2031-04-{11 + n}T10:00:00Z"}
    for n, text in enumerate(TEXTS)
]
RUN = ("--article", "a.json", "--posts", "p.jsonl")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.json").write_text(json.dumps(ARTICLE))
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(post) + "\n" for post in POSTS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(command: Callable[..., tuple[int, str, str]]) -> Callable[..., str]:
    """Runs `linker ...`, which succeeds, and returns what it prints."""

    def succeed(*arguments: str) -> str:
        code, printed, said = command(*arguments)
        assert code == 0, said
        return printed

    return succeed


def of_file(path: Path) -> dict[str, float]:
    return {row["id"]: row["score"] for row in map(json.loads, path.read_text().splitlines())}


def near(scores: dict[str, float]) -> object:
    return pytest.approx(scores, abs=1e-3)


@pytest.mark.parametrize("model", ["distilled", "tfidf", "bm25"])
def test_every_command_the_page_and_python_agree(folder: Path, run: Callable[..., str], model: str) -> None:
    run("rank", *RUN, "--model", model, "--copies", "--out", "all.jsonl")
    expected = of_file(folder / "all.jsonl")
    assert len(expected) == len(POSTS)
    assert all(0 <= score <= 100 for score in expected.values())
    assert max(expected.values()) > 20

    ranker = linker.load(model)
    assert {r.post.id: r.score for r in ranker.rank("a.json", "p.jsonl", copies=True)} == expected
    assert (
        dict(zip(expected, ranker.score("a.json", "p.jsonl")[0][[int(i[1:]) for i in expected]])) == expected
    )

    run("rank", *RUN, "--model", model, "--copies", "--out", "all.csv")
    with open(folder / "all.csv", encoding="utf-8-sig", newline="") as file:
        assert {row["id"]: float(row["score"]) for row in csv.DictReader(file)} == expected
    run("rank", *RUN, "--model", model, "--out", "all.trec")
    lines = [line.split() for line in (folder / "all.trec").read_text().splitlines()]
    assert {line[2]: float(line[4]) for line in lines} == near(expected)

    (folder / "articles.jsonl").write_text(json.dumps(ARTICLE) + "\n")
    inputs = ("--articles", "articles.jsonl", "--posts", "p.jsonl")
    run("evaluate", "--model", model, *inputs, "--one-at-a-time", "--scores", "s.npz", "--run", "e.run")
    with np.load(folder / "s.npz", allow_pickle=False) as arrays:
        assert dict(zip(arrays["post_ids"].tolist(), arrays["scores"][0].tolist())) == near(expected)
    lines = [line.split() for line in (folder / "e.run").read_text().splitlines()]
    assert {line[2]: float(line[4]) for line in lines} == near(expected)

    run("annotate", "start", "job", *RUN, "--model", model)
    with Session.open(folder / "job") as session:
        assert {post.post.id: post.score for post in session.labeled() if post.post.id != "p1"} == near(
            {id_: score for id_, score in expected.items() if id_ != "p1"}
        )
        first = session.next("kim")[0]
        assert first.score == pytest.approx(expected[first.post.id], abs=1e-3)
        client = Client(create_app(Served([session])))
        text = f"{ARTICLE['title']}\n\n{ARTICLE['text']}"
        asked = {"article": text, "source": "session:job", "model": model, "top": 20}
        answer = client.post("/api/rank", json=asked).json()
    # A pasted article has no date.
    undated = {r.post.id: r.score for r in ranker.rank("a.json", "p.jsonl", ignore_dates=True)}
    assert {post["id"]: post["score"] for post in answer["posts"]} == near(undated)
    assert answer["meaning"] == ranker.rank("a.json", "p.jsonl", ignore_dates=True).meaning
    assert answer["meaning"].startswith("score: 0 to 100, ")


def test_a_corpus_agrees(folder: Path, run: Callable[..., str]) -> None:
    pytest.importorskip("lance")
    run("rank", *RUN, "--model", "distilled", "--explain", "--copies", "--out", "all.jsonl")
    run("corpus", "build", "p.jsonl", "--model", "distilled", "--out", "corpus")
    search = ("corpus", "search", "corpus", "--article", "a.json", "--explain", "--copies")
    run(*search, "--out", "found.jsonl")
    assert of_file(folder / "found.jsonl") == near(of_file(folder / "all.jsonl"))
    points = [
        {row["id"]: row["points"] for row in map(json.loads, (folder / name).read_text().splitlines())}
        for name in ("all.jsonl", "found.jsonl")
    ]
    assert points[0] == {post: pytest.approx(found, abs=1e-3) for post, found in points[1].items()}


def test_a_printed_score_is_a_threshold_and_a_sentence_is_below(
    folder: Path, run: Callable[..., str]
) -> None:
    run("rank", *RUN, "--model", "distilled", "--out", "all.jsonl")
    third = list(of_file(folder / "all.jsonl").values())[2]
    run("rank", *RUN, "--model", "distilled", "--threshold", repr(third), "--out", "kept.jsonl")
    assert len(of_file(folder / "kept.jsonl")) == 3
    *_, last = run("rank", *RUN, "--model", "distilled").splitlines()
    assert last.startswith("score: 0 to 100, how well the post's text and date fit the article;")
    run("rank", *RUN, "--model", "distilled", "--ignore-dates", "--out", "page.html")
    page = html.unescape((folder / "page.html").read_text(encoding="utf-8"))
    assert "score: 0 to 100, how well the post's text fits the article;" in page
    (folder / "labels.csv").write_text("id,label\np0,relevant\np2,relevant\np4,not\np5,not\n")
    *_, last = run("rank", *RUN, "--model", "bm25", "--labels", "labels.csv").splitlines()
    assert "; probability: estimated share of relevant posts" in last
