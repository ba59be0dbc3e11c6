"""The benchmark of quality keeps the figures of earlier runs."""

from __future__ import annotations

from pathlib import Path

from benchmarks.quality_kept import Kept


def test_rows_that_a_run_did_not_make_stay_with_their_day(tmp_path: Path) -> None:
    first = Kept(tmp_path / "quality.json", "2026-11-01")
    first.add(
        "posts", {"TF-IDF": {"mAP": "20.0"}, "AST": {"mAP": "33.0", "seeds": "3"}, "best": {"mAP": "40.0"}}
    )
    first.write()
    second = Kept(tmp_path / "quality.json", "2026-11-02")
    second.add("posts", {"TF-IDF": {"mAP": "21.0"}, "BM25": {"mAP": "18.0"}, "best": {"mAP": "42.0"}})
    second.add("articles", {"new": {"mAP": "1.0"}})
    second.write()
    third = Kept(tmp_path / "quality.json", "2026-11-03")
    assert third.lines("posts", ["mAP"]) == [
        "|  | mAP | on |",
        "|---|---|---|",
        "| TF-IDF | 21.0 | 2026-11-02 |",
        "| BM25 | 18.0 | 2026-11-02 |",
        "| AST, 3 seeds | 33.0 | 2026-11-01 |",
        "| best | 42.0 | 2026-11-02 |",
    ]
    assert third.lines("articles", ["mAP"])[2:] == ["| new | 1.0 | 2026-11-02 |"]
