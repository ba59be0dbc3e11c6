"""Experiments: parts that do not fit together."""

from pathlib import Path

import pytest

from tests.helpers.forked import run_linker

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            "trainer+: { batches: { type: 'texts' } }",
            "trainer.batches.type: `texts` makes batches without articles",
        )
    ],
)
def test_parts_that_do_not_fit_together_are_refused(tmp_path: Path, change: str, problem: str) -> None:
    config = tmp_path / "config.jsonnet"
    config.write_text(f"(import '{ROOT / 'configs/quickstart.jsonnet'}') + {{ {change} }}", encoding="utf-8")
    done = run_linker(tmp_path, "train", "config.jsonnet", "--out", "model")
    assert done.returncode == 2
    assert f"error: {problem}" in done.stderr
    assert not (tmp_path / "model").exists()
