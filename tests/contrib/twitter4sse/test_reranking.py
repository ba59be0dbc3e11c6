"""Reranking sets, against scikit-learn and ir-measures."""

import json

import ir_measures
import numpy as np
import pytest
from ir_measures import AP
from sklearn.metrics import ndcg_score

from benchmarks.papers.twitter4sse_metrics import read_reranking, rerank, score_pairs
from linker.config import build
from linker.contrib.twitter4sse.mine_benchmarks import Candidate, Reranking
from linker.data.types import Article, Post
from linker.models.model import Model
from tests.models.siamese.test_siamese import prepared


class Scripted(Model):
    """Scores by a table of (query text, candidate text)."""

    def __init__(self, table):
        self.table = table

    def score(self, articles, posts):
        return np.array([[self.table(a.text, p.text) for p in posts] for a in articles], dtype=np.float32)


def test_ndcg_and_map_of_rankings_are_those_of_scikit_learn_and_ir_measures():
    rng = np.random.default_rng(0)
    sets = []
    for q in range(40):
        size = int(rng.integers(3, 13))
        relevant = rng.random(size) < 0.3
        relevant[int(rng.integers(size))] = True
        candidates = tuple(Candidate(f"{q}-{k}", f"text {q} {k}", bool(r)) for k, r in enumerate(relevant))
        sets.append(Reranking("dq", str(q), f"query {q}", str(q), candidates))
    numbers = {(s.query, c.text): float(rng.normal()) for s in sets for c in s.candidates}
    figures = rerank(Scripted(lambda a, p: numbers.get((a, p), 99.0)), sets)
    for reranking, value in zip(sets, figures["nDCG"], strict=True):
        truth = [[c.relevant for c in reranking.candidates]]
        scores = [[numbers[reranking.query, c.text] for c in reranking.candidates]]
        assert value == pytest.approx(ndcg_score(truth, scores), abs=1e-9)
    run = {s.query_id: {c.id: numbers[s.query, c.text] for c in s.candidates} for s in sets}
    qrels = {s.query_id: {c.id: int(c.relevant) for c in s.candidates} for s in sets}
    assert figures["AP"].mean() == pytest.approx(ir_measures.calc_aggregate([AP], qrels, run)[AP], abs=1e-6)


def test_lexical_models_rerank_sets_from_a_file(tmp_path):
    candidates = [
        {"id": "1", "text": "the harbour is flooded", "relevant": True},
        {"id": "2", "text": "elections today", "relevant": False},
    ]
    query = {"set": "dq", "query_id": "q", "query": "flooded harbour after the storm", "parent_id": "q"}
    (tmp_path / "dq.jsonl").write_text(json.dumps({**query, "candidates": candidates}) + "\n")
    sets = read_reranking(tmp_path / "dq.jsonl")
    for name in ("bm25", "tfidf"):
        assert rerank(build(Model, name), sets) == {"nDCG": [1.0], "AP": [1.0]}


def test_a_model_with_vectors_scores_pairs_as_it_scores_all():
    model = prepared("mean")
    articles = [Article(str(i), f"harbour{i % 3} w{i % 3}") for i in range(8)]
    posts = [Post(str(i), f"orchard{i} harbour{i % 2}") for i in range(8)]
    expected = np.diagonal(model.score(articles, posts))
    np.testing.assert_allclose(score_pairs(model, articles, posts), expected, atol=1e-6)
    scripted = Scripted(lambda a, p: len(a) - len(p))
    scores = scripted.score(articles, posts)
    np.testing.assert_array_equal(score_pairs(scripted, articles, posts), np.diagonal(scores))
    model.similarity = "euclidean"
    expected = np.diagonal(model.score(articles, posts))
    np.testing.assert_allclose(score_pairs(model, articles, posts), expected, atol=1e-5)
