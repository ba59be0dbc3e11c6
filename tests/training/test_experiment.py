"""Experiments: parts that do not fit together."""

from pathlib import Path

from tests.helpers.forked import run_linker

ROOT = Path(__file__).parents[2]


def test_parts_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    change = "trainer+: { batches: { type: 'texts' } }"
    config = tmp_path / "config.jsonnet"
    config.write_text(f"(import '{ROOT / 'configs/quickstart.jsonnet'}') + {{ {change} }}", encoding="utf-8")
    done = run_linker(tmp_path, "train", "config.jsonnet", "--out", "model")
    assert done.returncode == 2
    assert "error: trainer.batches.type: `texts` makes batches without articles" in done.stderr
    assert not (tmp_path / "model").exists()
