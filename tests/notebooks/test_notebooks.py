"""The notebooks run from top to bottom, and what is committed of them is clean."""

import base64
import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
# Runs on data of one's own, too.
ORDERING = ROOT / "notebooks/annotation_ordering.ipynb"
OTHERS = [notebook for notebook in NOTEBOOKS if notebook != ORDERING]
STRATEGIES = ["active_learning", "seed_similarity", "lexical", "keywords", "random"]


def run(notebook: Path, out: Path, **variables: str) -> list[dict[str, Any]]:
    """The code cells' outputs, in order."""
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LINKER_")}
    command = [sys.executable, "scripts/run_notebook.py", str(notebook), str(out)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**clean, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return outputs(out)


def outputs(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]


def tables(found: list[dict[str, Any]]) -> list[list[list[str]]]:
    pages = ["".join(one["data"]["text/html"]) for one in found if "text/html" in one.get("data", {})]
    return [
        [
            [unescape(cell) for cell in re.findall(r"<t[hd]>(.*?)</t[hd]>", row, re.DOTALL)]
            for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
        ]
        for page in pages
    ]


def text(found: list[dict[str, Any]]) -> str:
    return "".join("".join(one.get("text", "")) for one in found)


def labels(cell: str) -> int:
    return int(cell.split(" ")[0].replace(",", ""))


def check(found: list[dict[str, Any]], posts: int, relevant: int) -> None:
    """What must hold whatever the data: the tables agree with each other and with the counts."""
    ranking, thresholds, costs, rules = tables(found)
    scores = [float(row[1]) for row in ranking[1:]]
    assert scores == sorted(scores, reverse=True)
    assert [int(row[0]) for row in ranking[1:]][-1] == posts
    for row in thresholds[1:]:
        hits, wrong, missed, rest = map(int, row[1:5])
        assert (hits + missed, hits + wrong + missed + rest) == (relevant, posts)
        assert row[6] == f"{100 * hits / relevant:.0f} %"
    assert [row[0] for row in costs[1:]] == STRATEGIES
    for row in costs[1:]:
        spent = [labels(cell) for cell in row[1:]]
        assert spent == sorted(spent)
        assert spent[-1] <= posts
    assert [row[0].split(":")[0] for row in rules[1:]] == ["target", "recall", "recall"]
    for row in rules[1:]:
        low, high = (int(bound.replace(",", "")) for bound in row[4].split(" to "))
        assert low <= int(row[5].replace(",", "")) <= high
    assert sum("image/png" in one.get("data", {}) for one in found) == 1


def pictures(found: list[dict[str, Any]]) -> list[bytes]:
    return [
        base64.b64decode("".join(one["data"]["image/png"]))
        for one in found
        if "image/png" in one.get("data", {})
    ]


def names(notebooks: list[Path]) -> Any:
    return pytest.mark.parametrize("notebook", notebooks, ids=lambda notebook: notebook.stem)


@names(NOTEBOOKS)
def test_what_is_committed_is_clean(notebook: Path) -> None:
    content = notebook.read_text(encoding="utf-8")
    found = outputs(notebook)
    assert found, "run it: make notebook"
    assert pictures(found)
    assert not [one for one in found if one["output_type"] == "error" or one.get("name") == "stderr"]
    assert not re.search(r"/(?:home|root|work|tmp|wt|Users)/|iopub|\\u001b\[", content)
    assert len(content) < 150_000


@pytest.mark.slow
@pytest.mark.notebook
@names(OTHERS)
def test_it_runs(notebook: Path, tmp_path: Path) -> None:
    pytest.importorskip("lance")
    found = run(notebook, tmp_path / "out.ipynb")
    assert not [one for one in found if one["output_type"] == "error" or one.get("name") == "stderr"]
    committed = outputs(notebook)
    assert len(pictures(found)) == len(pictures(committed))
    # Times and what learning adds up to differ; which cells print, and how much, does not.
    assert [len(one.get("text", "")) for one in found] == [len(one.get("text", "")) for one in committed]


def test_what_is_committed_of_the_ordering_agrees() -> None:
    check(outputs(ORDERING), posts=1095, relevant=61)


def test_it_runs_on_the_sample_and_says_what_is_committed(tmp_path: Path) -> None:
    found = run(ORDERING, tmp_path / "out.ipynb", LINKER_RUNS="1")
    check(found, posts=1095, relevant=61)
    committed = outputs(ORDERING)
    # What learning adds up to may differ between versions of scikit-learn; what is counted may not.
    assert tables(found)[:2] == tables(committed)[:2]
    assert text(found[:1]) == text(committed[:1])


def test_it_runs_on_other_posts_and_shows_their_texts_as_text(tmp_path: Path) -> None:
    hostile = "<script>x</script> harbour bridge shut $"
    lines = [{"id": "0", "text": hostile, "about": "yes"}]
    for number in range(1, 150):
        about = number % 3 == 0
        words = f"the harbour, as ever {number}" if about else f"soup recipe with leeks {number} {number * 7}"
        lines.append({"id": str(number), "text": words, "about": "yes" if about else "no"})
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "articles.csv").write_text("id,title\na,Harbour bridge shut\nb,Another matter\n")
    found = run(
        ORDERING,
        tmp_path / "out.ipynb",
        LINKER_ARTICLES=str(tmp_path / "articles.csv"),
        LINKER_POSTS=str(tmp_path / "posts.jsonl"),
        LINKER_SEED="a",
        LINKER_RELEVANT="about",
        LINKER_RUNS="1",
    )
    check(found, posts=150, relevant=50)
    assert "Another matter" not in text(found)
    shown = [row[3] for row in tables(found)[0][1:]]
    assert hostile in shown
    assert "<script>" not in "".join(
        "".join(one["data"].get("text/html", "")) for one in found if "data" in one
    )
