"""The GPU kit, rehearsed without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gpu.__main__ import ENCODERS, page, table

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_rehearsal_writes_a_page_with_all_encoders(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.gpu", "--rehearse", "--out", str(tmp_path)]
    parts = ["differences", "steps"]
    done = subprocess.run([*command, "--only", *parts], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / "rehearsal.json").read_text())
    assert list(results["parts"]) == parts
    assert {row["encoder"] for row in results["parts"]["steps"]["rows"]} == ENCODERS.keys()
    assert "A rehearsal without a GPU" in (tmp_path / "rehearsal.md").read_text()


def test_a_part_that_failed_leaves_the_others() -> None:
    rows = [{"encoder": "CNN", "precision": "float32", "ms": 1.5}]
    parts = {"differences": {"problem": "took longer than 60 s"}, "steps": {"rows": rows, "seconds": 3.0}}
    text = page({"machine": "GPU; CUDA 13", "rehearsal": False, "parts": parts})
    assert "**Failed**: took longer than 60 s" in text
    assert "| CNN | float32 | 1.5 |" in text


def test_what_did_not_fit_in_memory_is_a_dash() -> None:
    rows: list[dict[str, float | None]] = [{"n": 1, "ms": 1234.5}, {"n": 2, "ms": None}, {"n": 3, "ms": 0.5}]
    assert table(rows).splitlines()[2:] == ["| 1 | 1,234 |", "| 2 | – |", "| 3 | 0.5 |"]
