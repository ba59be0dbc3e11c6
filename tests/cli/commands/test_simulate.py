"""`linker annotate simulate` as a user runs it."""

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.forked import run_linker

Run = Callable[..., tuple[int, str, str]]
DATA = Path(__file__).resolve().parents[3] / "data"


def linker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_linker(Path.cwd(), "annotate", "simulate", *arguments)


@pytest.fixture(scope="module")
def labeled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's posts of two stories, each with a label for one story."""
    folder = tmp_path_factory.mktemp("labeled")
    with (DATA / "articles.jsonl").open(encoding="utf-8") as file:
        articles = [json.loads(line) for line in file]
    stories = {article["id"]: article["story"] for article in articles}
    names = list(dict.fromkeys(stories.values()))[:2]
    with (DATA / "posts.jsonl").open(encoding="utf-8") as file:
        posts = [json.loads(line) for line in file][:160]
    rows = []
    for number, post in enumerate(posts):
        linked = {stories[i] for i in post.get("article_ids") or [post.get("article_id")] if i in stories}
        name = names[number % 2]
        about = next(article for article, story in stories.items() if story == name)
        rows.append({"text": post["text"], "article_id": about, "label": "yes" if name in linked else "no"})
    with (folder / "posts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["text", "article_id", "label"])
        writer.writeheader()
        writer.writerows(rows)
    with (folder / "articles.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in articles if one["story"] in names)
    return folder


def test_a_task_of_each_story(labeled: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = linker(
        *("--articles", str(labeled / "articles.jsonl"), "--posts", str(labeled / "posts.csv")),
        *("--column", "id=", "--seeds", "2"),
        *(
            "--strategy",
            "random",
            "--strategy",
            "active_learning,pseudo_negatives=20",
            "--stop",
            "target,relevant=3",
        ),
        *("--model", "bm25", "--workers", "1", "--out", str(out)),
    )
    assert result.returncode == 0, result.stderr
    for text in ("2 tasks", "random", "active_learning,pseudo_negatives=20", "WSS@95", "target,relevant=3"):
        assert text in result.stdout
    with (out / "runs.csv").open(encoding="utf-8", newline="") as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == 2 * 2 * 2
    assert {run["strategy"] for run in runs} == {"random", "active_learning,pseudo_negatives=20"}
    for run in runs:
        assert 0 < int(run["labels_to_50%"]) <= int(run["labels_to_95%"]) <= int(run["pool_size"]) <= 160
    with (out / "stops.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 8
    with (out / "curves.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            assert float(row["0.00"]) == 0
            assert float(row["1.00"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--strategy", "lerning"], "lerning"),
        (["--stop", "recall,target"], "expected NAME,KEY=VALUE"),
        (["--posts", "nowhere.csv"], "nowhere.csv: file not found"),
    ],
)
def test_errors_are_reported_in_one_message(
    labeled: Path, command: Run, arguments: list[str], told: str
) -> None:
    files = ("--articles", labeled / "articles.jsonl", "--posts", labeled / "posts.csv", "--column", "id=")
    code, _, err = command("annotate", "simulate", *files, "--model", "bm25", *arguments)
    assert code == 2
    assert told in err
