"""The GPU kit, rehearsed without a GPU."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gpu.__main__ import ENCODERS, measured

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


def test_parts_find_packages_in_the_folders_of_pythonpath(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Stops every part at its start, and says whether it was found.
    (tmp_path / "torch.py").write_text("raise SystemExit('found')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert measured("steps", 60, rehearse=True) == {"problem": "found"}
