"""`linker calibrate`, and `linker rank` with labels and calibrations, as a user runs them."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linker
from linker.calibration.calibration import Calibration
from linker.data.types import Post
from linker.models.files.archive import save_model
from linker.models.tfidf import TfidfModel
from tests.conftest import toy_posts

Run = Callable[..., tuple[int, str, str]]
RANK = ("rank", "--article", "a.json", "--posts", "posts.jsonl", "--model", "tfidf")
DEV = ("--articles", "articles.jsonl", "--posts", "posts.jsonl")
TOY = toy_posts(articles_per_topic=4, posts_per_article=6)


def relevant(post: Post) -> bool:
    """To the article of a.json, whose story has four articles."""
    return any(one.startswith("harbour") for one in post.article_ids)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs `linker` in this process, in a folder with an article, posts and labels of every other post."""
    first = TOY.articles[0]
    (tmp_path / "a.json").write_text(json.dumps({"id": "a", "title": first.title, "text": first.text}))
    articles = [{"id": a.id, "title": a.title, "text": a.text} for a in TOY.articles]
    posts = [{"id": p.id, "text": p.text, "article_ids": list(p.article_ids)} for p in TOY.posts]
    for name, rows in (("articles", articles), ("posts", posts)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [f"{post.id},{'relevant' if relevant(post) else 'not'}\n" for post in TOY.posts[::2]]
    (tmp_path / "labels.csv").write_text("id,label\n" + "".join(lines))
    monkeypatch.chdir(tmp_path)
    return command


def ranked(path: str) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_labels_give_probabilities_and_a_table(run: Run) -> None:
    code, out, err = run(*RANK, "--labels", "labels.csv", "--top", "3")
    assert code == 0
    assert out.splitlines()[0].split() == ["rank", "score", "probability", "post"]
    lines = err.splitlines()
    lines = lines[next(i for i, line in enumerate(lines) if line.startswith("by ")) :]
    assert lines[0].startswith(f"by {len(TOY.posts[::2])} labels (12 relevant)")
    assert lines[1].split()[:4] == ["score", ">=", "posts", "kept"]
    assert lines[-1].split()[:2] == ["0.0", f"{len(TOY.posts)}"]
    labels = {post.id: relevant(post) for post in TOY.posts[::2]}
    expected = linker.load("tfidf").rank(TOY.articles[0], TOY.posts, labels=labels)
    assert run(*RANK, "--labels", "labels.csv", "--out", "all.csv")[0] == 0
    rows = ranked("all.csv")
    got = np.array([float(row["probability"]) for row in rows])
    np.testing.assert_allclose(got, [one.probability or np.nan for one in expected], rtol=1e-5)
    assert (np.diff(got) <= 0).all()


@pytest.mark.parametrize(("wish", "value"), [("precision", "0.7"), ("recall", "0.8")])
def test_a_wish_decides_where_to_cut(run: Run, wish: str, value: str) -> None:
    code, _, err = run(*RANK, "--labels", "labels.csv", "--threshold", f"{wish}={value}", "--out", "kept.csv")
    assert code == 0
    rows = ranked("kept.csv")
    sentence = err.splitlines()[-1]
    assert f"keeps {len(rows)} posts: about " in sentence
    assert float(sentence.split()[2]) <= float(rows[-1]["score"])
    hits = [row["article_ids"].count("harbour") > 0 for row in rows]
    true = np.mean(hits) if wish == "precision" else sum(hits) / sum(map(relevant, TOY.posts))
    assert true > float(value) - 0.2
    code, _, told = run(*RANK, "--labels", "labels.csv", "--threshold", sentence.split()[2], "--top", "1")
    assert (code, told.splitlines()[-1]) == (0, sentence.split("; the recall of ")[0])
    cut = ("--threshold", f"{wish}={value}", "--explain", "--format", "jsonl")
    assert run(*RANK, "--labels", "labels.csv", *cut)[0] == 0


def test_without_labels_nobody_can_know(run: Run) -> None:
    for wish in ("precision", "recall"):
        code, out, err = run(*RANK, "--threshold", f"{wish}=0.8")
        assert (code, out) == (2, "")
        assert f"error: {wish}: no relevance labels to estimate it from" in err
    code, _, err = run(*RANK, "--threshold", "score=0.1")
    assert code == 0
    assert "precision and recall at this threshold are unknown" in err
    assert "are unknown" not in run(*RANK)[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--labels", "labels.csv", "--threshold", "f1=0.8"),
            "--threshold f1=0.8: give a score from 0 to 100 such as 50",
        ),
        (("--labels", "labels.csv", "--threshold", "precision=80"), "give a share above 0 and up to 1"),
        (("--labels", "labels.csv", "--calibration", "c.json"), "--labels and --calibration: give one"),
        (("--labels", "posts.jsonl"), "posts.jsonl: no labels in this file"),
        (("--labels", "others.csv"), "none of 2 labels belongs to a post, neither by id nor by text"),
        (("--labels", "same.csv"), "2 of 2 labeled posts are relevant"),
        (("--calibration", "posts.jsonl"), "posts.jsonl: not a calibration file"),
    ],
)
def test_errors_are_reported_in_one_message(run: Run, arguments: tuple[str, ...], words: str) -> None:
    Path("others.csv").write_text("id,label\nx,relevant\ny,not\n")
    Path("same.csv").write_text(f"id,label\n{TOY.posts[0].id},yes\n{TOY.posts[1].id},yes\n")
    code, out, err = run(*RANK, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_calibrate_writes_prints_and_serves_rank(run: Run) -> None:
    code, out, err = run("calibrate", "--model", "tfidf", *DEV, "--out", "c.json")
    assert code == 0
    assert out.splitlines()[-1] == "c.json"
    assert out.splitlines()[0].split()[:4] == ["score", ">=", "pairs", "kept"]
    assert "144 of 3,600 pairs are relevant, 1 in 25" in err
    calibration = Calibration.read("c.json")
    assert (calibration.model, calibration.articles, calibration.posts) == ("tfidf", 24, 150)
    assert len(out.splitlines()) == len(calibration.table()) + 2
    code, _, err = run(*RANK, "--calibration", "c.json", "--threshold", "recall=0.5", "--out", "kept.csv")
    assert code == 0
    assert "by a calibration on 24 articles and 150 posts, of whose pairs 4 % were relevant" in err
    assert all(0 <= float(row["probability"]) <= 1 for row in ranked("kept.csv"))


def test_a_calibration_is_of_the_scores_that_rank_gives(run: Run) -> None:
    rival = "{type: 'article_softmax', temperature: 0.02, null_score: 0.1, model: 'tfidf'}"
    Path("rival.jsonnet").write_text(rival)
    assert run("calibrate", "--model", "rival.jsonnet", *DEV, "--out", "c.json")[0] == 0
    model = linker.load("rival.jsonnet")
    alone = model.model.score_independently(TOY.articles, TOY.posts)
    together = model.model.score(TOY.articles, TOY.posts)
    edges = Calibration.read("c.json").edges
    # The highest of all scores is an edge; together, rivals take from it.
    assert edges.max() == pytest.approx(alone.max(), rel=1e-4)
    assert edges.max() != pytest.approx(together.max(), rel=1e-2)


def test_a_calibration_is_of_one_model(run: Run) -> None:
    config = {"model": {"type": "tfidf", "stop_words": "none"}}
    save_model(TfidfModel("none"), Path("mine"), config, {}, "")
    save_model(TfidfModel("none"), Path("copy"), config, {}, "")
    assert run("calibrate", "--model", "mine", *DEV, "--out", "c.json")[0] == 0
    code, _, err = run(*RANK, "--calibration", "c.json")
    assert (code, "the calibration was made with another model (mine)" in err) == (2, True)
    assert run(*RANK[:-1], "copy", "--calibration", "c.json")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "none"), "model not found"),
        (("--model", "bm25", "--split", "dev"), "no posts with articles have it"),
        (("--model", "bm25", "--out", "posts.jsonl"), "posts.jsonl"),
    ],
)
def test_what_cannot_be_calibrated_is_reported(run: Run, arguments: tuple[str, ...], words: str) -> None:
    code, out, err = run("calibrate", "--out", "c.json", *DEV, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert not Path("c.json").exists()


def test_a_recall_is_reached_with_confidence(run: Run) -> None:
    lines = Path("labels.csv").read_text().splitlines()
    Path("random.csv").write_text(
        "".join(f"{line},{'random' if n else 'sample'}\n" for n, line in enumerate(lines))
    )
    wishes = (
        ("recall>=0.5", 0, "at least 50 % of the relevant posts"),
        ("recall", 2, "quotation marks, 'recall>=0.9'"),
    )
    for wish, expected, words in (
        *wishes,
        ("precision>=0.8", 2, "quotation marks"),
        ("recall>=0.99", 0, "label about"),
    ):
        code, _, err = run(*RANK, "--labels", "random.csv", "--threshold", wish, "--out", "kept.csv")
        assert (code, words in err) == (expected, True), err
    code, _, err = run(*RANK, "--labels", "labels.csv", "--threshold", "recall>=0.5")
    assert (code, "recall has no lower bound here; by 75 labels" in err) == (2, True), err


def test_a_corpus_is_cut_like_its_posts(run: Run) -> None:
    pytest.importorskip("lance")
    from tests.corpus.conftest import write_model

    write_model(Path("model"), seed=0)
    assert run("corpus", "build", "posts.jsonl", "--model", "model", "--out", "corpus")[0] == 0
    wish = ("--labels", "labels.csv", "--threshold", "recall=0.7")
    code, _, expected = run(*RANK[:-1], "model", *wish, "--out", "posts.csv")
    assert code == 0
    corpus = ("corpus", "search", "corpus", "--article", "a.json", "--copies")
    code, _, told = run(*corpus, *wish, "--out", "corpus.csv")
    assert code == 0
    assert [line.split()[1:2] for line in told.splitlines()] == [
        line.split()[1:2] for line in expected.splitlines()
    ]
    assert [row["id"] for row in ranked("corpus.csv")] == [row["id"] for row in ranked("posts.csv")]
    assert all(row["probability"] for row in ranked("corpus.csv"))
    some = [post for post in TOY.posts if post.id.startswith(("harbour", "glacier"))]
    code, _, err = run(*corpus, *wish, "--where", "id LIKE 'harbour%' OR id LIKE 'glacier%'")
    assert code == 0
    assert any(line.split()[:2] == ["0.0", f"{len(some)}"] for line in err.splitlines())
    assert run("calibrate", "--model", "model", *DEV, "--out", "c.json")[0] == 0
    assert run(*corpus, "--calibration", "c.json", "--threshold", "recall=0.5")[0] == 0
