"""Run, qrels and score files: what is read back is what was written, and other tools agree."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.common.errors import LinkerError
from linker.evaluation.trec import run_lines, write_qrels, write_run, write_scores
from tests.helpers.score_files import read_qrels, read_run, read_scores

ARTICLES = ["a1", "https://example.org/ä?b=1", "☂"]
POSTS = [f"p{i}" for i in range(40)]


def scores() -> np.ndarray:
    random = np.random.default_rng(0)
    values = random.normal(size=(3, 40)).astype(np.float32)
    values[0, :20] = 0.25  # ties
    values[1, 1] = np.nextafter(values[1, 0], np.float32(10))  # the closest two scores can be
    values[2] *= np.float32(1e-38)
    return values


def test_a_run_keeps_every_score_and_so_every_tie_and_order(tmp_path: Path) -> None:
    write_run(tmp_path / "x.run", scores(), ARTICLES, POSTS, tag="mine")
    run = read_run(tmp_path / "x.run")
    assert list(run) == ARTICLES
    back = np.array([[run[a][p] for p in POSTS] for a in ARTICLES], dtype=np.float32)
    np.testing.assert_array_equal(back, scores())


@settings(max_examples=300)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2, max_size=8))
def test_any_float32_survives(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    path = tmp_path_factory.mktemp("runs") / "x.run"
    posts = POSTS[: len(values)]
    write_run(path, np.array([values], dtype=np.float32), ["a"], posts, tag="t")
    back = read_run(path)["a"]
    assert [np.float32(back[p]) for p in posts] == [np.float32(v) for v in values]


def test_the_lines_of_a_run(tmp_path: Path) -> None:
    write_run(tmp_path / "x.run", np.array([[0.5, 0.5, 2.0]]), ["a"], ["p1", "p2", "p3"], tag="mine")
    lines = (tmp_path / "x.run").read_text().splitlines()
    assert lines == ["a Q0 p3 1 2 mine", "a Q0 p2 2 0.5 mine", "a Q0 p1 3 0.5 mine"]


def test_qrels_hold_the_relevant_pairs_with_their_labels(tmp_path: Path) -> None:
    write_qrels(tmp_path / "q", np.array([[0, 2, 0], [1, 0, 3]]), ["a", "b"], ["p1", "p2", "p3"])
    assert (tmp_path / "q").read_text() == "a 0 p2 2\nb 0 p1 1\nb 0 p3 3\n"
    assert read_qrels(tmp_path / "q") == {"a": {"p2": 2}, "b": {"p1": 1, "p3": 3}}


@pytest.mark.parametrize("bad", ["two words", "tab\there", "line\nend", "no\u00a0break", ""])
def test_ids_that_the_format_cannot_hold_are_refused(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(LinkerError, match="article id"):
        write_run(path, np.zeros((1, 1)), [bad], ["p"], tag="t")
    with pytest.raises(LinkerError, match="post id"):
        write_qrels(path, np.ones((1, 1)), ["a"], [bad])
    with pytest.raises(LinkerError, match="tag"):
        write_run(path, np.zeros((1, 1)), ["a"], ["p"], tag=bad)
    assert path.read_text() == "old"


def test_score_files_hold_any_id_and_no_pickle(tmp_path: Path) -> None:
    ids = ["two words", "ä", "☂\n"], [f"p{i}" for i in range(40)]
    write_scores(tmp_path / "s.npz", scores(), *ids)
    with np.load(tmp_path / "s.npz", allow_pickle=False) as arrays:
        assert sorted(arrays) == ["article_ids", "post_ids", "scores"]
        assert arrays["scores"].dtype == np.float64
        assert arrays["article_ids"].dtype.kind == arrays["post_ids"].dtype.kind == "U"
    back = read_scores(tmp_path / "s.npz")
    np.testing.assert_array_equal(back.scores, scores())
    assert (back.article_ids, back.post_ids) == ids


def test_score_files_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_scores(tmp_path / name, scores(), ARTICLES, POSTS)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_scores_of_runs_fall_where_the_ranking_does() -> None:
    scores = [(False, 100.0), (False, 100.0), (False, 99.9999999), (False, 3.0), (True, 3.0)]
    lines = list(run_lines("q", [(rank, "p", *row) for rank, row in enumerate(scores, 1)], "t"))
    shown = [np.float32(line.split()[4]) for line in lines]
    assert shown[0] == 100
    assert shown[0] > shown[1] > shown[2] > shown[3] == shown[4] == 3
    assert shown[2] == pytest.approx(100, abs=1e-4)
    assert lines[0] == "q Q0 p 1 100 t\n"
