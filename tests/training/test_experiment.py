"""Experiments: parts that do not fit together."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.forked import run_linker

ROOT = Path(__file__).parents[2]


def test_batches_without_articles_are_refused_for_a_loss_of_pairs(tmp_path: Path) -> None:
    config = tmp_path / "config.jsonnet"
    batches = "trainer+: { batches: { type: 'texts' } }"
    config.write_text(f"(import '{ROOT / 'configs/quickstart.jsonnet'}') + {{ {batches} }}", encoding="utf-8")
    done = run_linker(tmp_path, "train", "config.jsonnet", "--out", "model")
    assert done.returncode == 2
    assert "error: trainer.batches.type: `texts` makes batches without articles" in done.stderr
    assert not (tmp_path / "model").exists()
