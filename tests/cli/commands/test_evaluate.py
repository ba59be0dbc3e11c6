"""`linker evaluate` as a user runs it, on a tiny set."""

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import AP

from linker.models.files.archive import save_model
from linker.models.tfidf import TfidfModel
from tests.helpers.forked import run_linker
from tests.helpers.score_files import read_scores

TOPICS = [
    "bridge cracks council",
    "storm flooded harbour",
    "striker missed penalty",
    "hospital nurses strike",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight articles on four topics and 24 posts; half of the articles are in split dev."""
    articles, posts = [], []
    for i in range(8):
        split = "dev" if i % 2 else "train"
        articles.append(
            {"id": f"a{i}", "title": TOPICS[i % 4], "text": f"It is number{i} today.", "split": split}
        )
        for k in range(3):
            text = f"{TOPICS[i % 4].split()[k]} again, see number{i}" if k else "no idea what happened"
            posts.append({"id": f"p{i}{k}", "text": text, "article_id": f"a{i}", "split": split})
    for name, records in (("articles", articles), ("posts", posts)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    save_model(
        TfidfModel(), tmp_path / "mine", {"model": {"type": "tfidf", "stop_words": "none"}}, {}, "card"
    )
    return tmp_path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def linker(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    if "--articles" not in arguments:
        arguments += ("--articles", "articles.jsonl", "--posts", "posts.jsonl")
    return run_linker(folder, "evaluate", "--model", *arguments)


def refused(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_a_model_folder_beside_the_baselines_with_all_files(folder: Path) -> None:
    files = ["--json", "out/r.json", "--run", "out/r.run", "--qrels", "out/q", "--scores", "out/s.npz"]
    result = linker(folder, "mine", *files)
    assert result.returncode == 0, result.stderr
    heading = result.stdout.splitlines()[1].split()
    assert heading == ["%", "mine", "bm25", "tfidf"]
    assert "8 articles × 24 posts = 192 pairs, 24 of them relevant." in result.stdout
    assert "r_precision@200, r_precision@500" in result.stdout

    results = json.loads((folder / "out/r.json").read_text())
    assert list(results["models"]) == ["mine", "bm25", "tfidf"]
    assert results["baseline"] == "mine"
    assert {d["model"] for d in results["differences"]} == {"bm25", "tfidf"}
    metrics = results["models"]["mine"]
    row = next(line for line in result.stdout.splitlines() if line.split()[:1] == ["MAP"])
    assert row.split()[1].rstrip("*") == f"{100 * metrics['MAP']:.2f}"

    scores = read_scores(folder / "out/s.npz")
    assert scores.scores.shape == (8, 24)
    assert scores.article_ids == [f"a{i}" for i in range(8)]
    theirs = ir_measures.calc_aggregate(
        [AP],
        list(ir_measures.read_trec_qrels(str(folder / "out/q"))),
        list(ir_measures.read_trec_run(str(folder / "out/r.run"))),
    )
    assert theirs[AP] == pytest.approx(metrics["MAP"], abs=1e-9)
    assert sorted(p.name for p in (folder / "out").iterdir()) == ["q", "r.json", "r.run", "s.npz"]

    again = linker(folder, "mine", "--json", "again.json")
    assert again.stdout == result.stdout
    assert (folder / "again.json").read_bytes() == (folder / "out/r.json").read_bytes()


def test_the_articles_are_ranked_for_every_post_that_has_one(folder: Path) -> None:
    with (folder / "posts.jsonl").open("a") as file:
        file.write(json.dumps({"id": "nobody's", "text": "rain"}) + "\n")
    result = linker(folder, "mine", "--json", "r.json", "--scores", "s.npz")
    assert result.returncode == 0, result.stderr
    assert "Posts without an article, left out of the means over posts: 1." in result.stdout
    results = json.loads((folder / "r.json").read_text())
    scores = read_scores(folder / "s.npz")
    links = {
        post["id"]: post["article_id"] for post in read_lines(folder / "posts.jsonl") if "article_id" in post
    }
    run = {
        post: dict(zip(scores.article_ids, map(float, column)))
        for post, column in zip(scores.post_ids, scores.scores.T)
    }
    theirs = ir_measures.calc_aggregate(
        [AP @ 5], {post: {article: 1} for post, article in links.items()}, run
    )
    found = results["models"]["mine"]["MAP@5 of posts"]
    assert 0 < found < 1
    assert found == pytest.approx(theirs[AP @ 5], abs=1e-9)
    of_posts = dict(zip(results["post_ids"], results["per_post"]["mine"]["MAP@5 of posts"]))
    assert of_posts["nobody's"] is None
    assert np.mean([of_posts[post] for post in links]) == pytest.approx(found)
    assert f"{100 * found:.2f}" in next(
        line for line in result.stdout.splitlines() if "MAP@5 of posts" in line
    )
    differences = [d for d in results["differences"] if d["metric"] == "MAP@5 of posts"]
    assert [d["model"] for d in differences] == ["bm25", "tfidf"]
    assert differences[0]["difference"] == pytest.approx(results["models"]["bm25"]["MAP@5 of posts"] - found)


def test_one_split_and_files_for_every_model(folder: Path) -> None:
    result = linker(folder, "tfidf", "--split", "dev", "--run", "{model}.run", "--scores", "{model}.npz")
    assert result.returncode == 0, result.stderr
    assert "4 articles × 12 posts" in result.stdout
    assert {p.name for p in folder.glob("*.run")} == {"tfidf.run", "bm25.run"}
    assert read_scores(folder / "bm25.npz").article_ids == ["a1", "a3", "a5", "a7"]
    assert (folder / "bm25.run").read_text().split("\n", 1)[0].endswith(" bm25")


def test_models_that_need_no_training_come_as_configs(folder: Path) -> None:
    (folder / "fused.jsonnet").write_text(
        "{type: 'ensemble', parts: ['bm25', {type: 'tfidf'}], weights: [1, 2]}"
    )
    result = linker(folder, "fused.jsonnet", "mine", "--baseline", "bm25", "--json", "r.json")
    assert result.returncode == 0, result.stderr
    results = json.loads((folder / "r.json").read_text())
    assert list(results["models"]) == ["fused", "mine", "bm25", "tfidf"]
    assert results["baseline"] == "bm25"
    assert {d["model"] for d in results["differences"]} == {"fused", "mine", "tfidf"}


COMPETING = (
    "{type: 'article_softmax', temperature: 0.1, null_score: 0.3, neighbor_weight: 0.3, model: 'tfidf'}"
)


def test_one_at_a_time_gives_what_rank_gives_for_each_article(folder: Path) -> None:
    (folder / "rival.jsonnet").write_text(COMPETING)
    one = linker(folder, "rival.jsonnet", "--one-at-a-time", "--scores", "{model}.npz", "--json", "one.json")
    assert one.returncode == 0, one.stderr
    assert "one article at a time, as `linker rank` does" in one.stdout
    assert json.loads((folder / "one.json").read_text())["scored"] == "one_at_a_time"
    for model, given in (("rival", "rival.jsonnet"), ("tfidf", "tfidf")):
        scores = read_scores(folder / f"{model}.npz")
        files = ("--article", "articles.jsonl", "--posts", "posts.jsonl", "--out", "r.jsonl")
        result = run_linker(folder, "rank", *files, "--model", given, "--each", "--copies")
        assert result.returncode == 0, result.stderr
        found = {(row["article_id"], row["id"]): row["score"] for row in read_lines(folder / "r.jsonl")}
        pairs = itertools.product(scores.article_ids, scores.post_ids)
        assert found == pytest.approx(dict(zip(pairs, scores.scores.ravel().tolist())), rel=1e-5, abs=1e-6)


def test_several_models_need_several_files(folder: Path) -> None:
    result = linker(folder, "mine", "bm25", "--run", "runs/all.run")
    refused(result, "one file cannot contain 2 models", "--run 'runs/all-{model}.run'")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], ["nowhere: model not found", "best, distilled, bm25, tfidf, or USER/MODEL"]),
        (["bm25", "bm25"], ["bm25: given twice"]),
        (["bm25", "--json", "mine"], ["mine: is a folder"]),
        (["bm25", "--qrels", "posts.jsonl"], ["would overwrite the input posts.jsonl"]),
        (["bm25", "--qrels", "same", "--run", "./same"], ["would overwrite another output"]),
        (["bm25", "--baseline", "mine"], ["--baseline mine: not among the models (bm25, tfidf)"]),
        (["bm25", "--split", "test"], ["--split test", "12 dev, 12 train"]),
    ],
)
def test_errors_are_reported_before_any_work(folder: Path, arguments: list[str], words: list[str]) -> None:
    before = sorted(folder.iterdir())
    result = linker(folder, *arguments)
    refused(result, *words)
    assert "scoring" not in result.stderr
    assert sorted(folder.iterdir()) == before


def test_a_training_config_is_not_a_model_yet(folder: Path) -> None:
    (folder / "mine.jsonnet").write_text("{data: {}, model: {type: 'siamese'}}")
    old = run_linker(
        folder, "evaluate", "mine", "bm25", "--articles", "articles.jsonl", "--posts", "posts.jsonl"
    )
    refused(old, "mine bm25: models are given with --model; type\n  linker evaluate --model mine bm25")
    refused(linker(folder, "mine.jsonnet"), "mine.jsonnet: a training config", "linker train")


def test_ids_with_white_space_are_refused_in_trec_files_only(folder: Path) -> None:
    for name in ("articles.jsonl", "posts.jsonl"):
        path = folder / name
        path.write_text(path.read_text().replace('"a1"', '"a 1"'))
    result = linker(folder, "bm25", "--run", "x.run")
    refused(result, "article id 'a 1' contains white space")
    assert "scoring" not in result.stderr
    assert not (folder / "x.run").exists()
    assert linker(folder, "bm25", "--scores", "x.npz").returncode == 0
    assert "a 1" in read_scores(folder / "x.npz").article_ids
