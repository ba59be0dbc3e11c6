"""The GPU kit, rehearsed without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gpu.report import page, pivot, table

ROOT = Path(__file__).parents[2]
ABOUT = {"gpus": ["GPU"], "cuda": "13", "machine": "here"}


@pytest.mark.slow
def test_a_rehearsal_writes_a_page_with_all_encoders(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.gpu", "--rehearse", "--out", str(tmp_path)]
    parts = ["differences", "attention", "encoders", "precisions"]
    done = subprocess.run([*command, "--only", *parts], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / "rehearsal.json").read_text())
    assert list(results["parts"]) == parts
    found = {row["encoder"] for row in results["parts"]["encoders"]["rows"]}
    assert found == {"star transformer", "CNN", "GRU", "BiGRU"}
    assert "A rehearsal without a GPU" in (tmp_path / "rehearsal.md").read_text()


def test_a_part_that_failed_leaves_the_others() -> None:
    rows = [{"encoder": "CNN", "precision": "float32", "ms": 1.5, "loss": 0.25}]
    parts = {
        "differences": {"problem": "took longer than 240 s"},
        "precisions": {"steps": 20, "rows": rows, "seconds": 3.0},
    }
    text = page({"device": ABOUT, "rehearsal": False, "parts": parts})
    assert "**Failed**: took longer than 240 s" in text
    assert "| CNN | 1.5 |" in text
    assert "| CNN | 0.25 |" in text


def test_what_did_not_fit_in_memory_is_a_dash() -> None:
    rows = [
        {"n": 1, "who": "a", "ms": 1234.5},
        {"n": 1, "who": "b", "ms": None},
        {"n": 2, "who": "a", "ms": 0.5},
    ]
    assert pivot(rows, "n", "who", "ms").splitlines()[2:] == ["| 1 | 1,234 | – |", "| 2 | 0.5 | – |"]
    assert table([]) == "Nothing was measured."
