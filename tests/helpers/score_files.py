"""Runs, qrels and score matrices that linker wrote, read by other tools."""

from pathlib import Path
from typing import NamedTuple

import ir_measures
import numpy as np


def read_run(path: str | Path) -> dict[str, dict[str, float]]:
    """Article id → post id → score."""
    run: dict[str, dict[str, float]] = {}
    for line in ir_measures.read_trec_run(str(path)):
        assert line.doc_id not in run.setdefault(line.query_id, {})
        run[line.query_id][line.doc_id] = line.score
    return run


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Article id → post id → label."""
    qrels: dict[str, dict[str, int]] = {}
    for line in ir_measures.read_trec_qrels(str(path)):
        assert line.doc_id not in qrels.setdefault(line.query_id, {})
        qrels[line.query_id][line.doc_id] = line.relevance
    return qrels


class Scores(NamedTuple):
    """Scores of all pairs, articles × posts, in the order of the ids."""

    scores: np.ndarray
    article_ids: list[str]
    post_ids: list[str]


def read_scores(path: str | Path) -> Scores:
    """A file of `--scores`."""
    with np.load(path, allow_pickle=False) as arrays:
        found = Scores(arrays["scores"], arrays["article_ids"].tolist(), arrays["post_ids"].tolist())
    assert found.scores.dtype == np.float64
    assert found.scores.shape == (len(found.article_ids), len(found.post_ids))
    return found
