"""Reranking sets and graded pairs, against scikit-learn, ir-measures, scipy and counting by hand."""

import gzip
import json
import math

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, nDCG
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import average_precision_score, f1_score, ndcg_score

from linker.common.errors import DataError, LinkerError
from linker.config import build
from linker.evaluation.benchmarks.graded_pairs import (
    GradedPairs,
    PairColumns,
    agreement,
    read_pairs,
    similarity_figures,
)
from linker.evaluation.benchmarks.reranking import Candidate, Reranking, rerank
from linker.models.model import Model


class Told(Model):
    """Scores by a table of (query text, candidate text)."""

    def __init__(self, table):
        self.table = table

    def score(self, articles, posts):
        return np.array([[self.table(a.text, p.text) for p in posts] for a in articles], dtype=np.float32)


def queries(count, rng):
    """Queries with 3 to 12 candidates, of which some belong to them."""
    found = []
    for q in range(count):
        size = int(rng.integers(3, 13))
        relevant = rng.permutation([True] * int(rng.integers(1, 3)) + [False] * size)[:size]
        relevant[int(rng.integers(size))] = True
        candidates = [Candidate(f"{q}-{k}", f"text {q} {k}", bool(r)) for k, r in enumerate(relevant)]
        found.append(Reranking("dq", str(q), f"query {q}", str(q), tuple(candidates)))
    return found


def test_ndcg_and_map_of_rankings_are_those_of_scikit_learn_and_ir_measures():
    rng = np.random.default_rng(0)
    sets = queries(40, rng)
    numbers = {(s.query, c.text): float(rng.normal()) for s in sets for c in s.candidates}
    figures = rerank(Told(lambda a, p: numbers.get((a, p), 99.0)), sets)
    for one, found in zip(sets, figures.per_query, strict=True):
        relevant = [[c.relevant for c in one.candidates]]
        scores = [[numbers[one.query, c.text] for c in one.candidates]]
        assert found == pytest.approx(ndcg_score(relevant, scores), abs=1e-9)
    run = {s.query_id: {c.id: numbers[s.query, c.text] for c in s.candidates} for s in sets}
    qrels = {s.query_id: {c.id: int(c.relevant) for c in s.candidates} for s in sets}
    theirs = ir_measures.calc_aggregate([nDCG, AP], qrels, run)
    assert figures.metrics["nDCG"] == pytest.approx(theirs[nDCG], abs=1e-6)
    assert figures.metrics["MAP"] == pytest.approx(theirs[AP], abs=1e-6)


def test_ndcg_by_hand():
    candidates = [Candidate(name, name, name in "ad") for name in "abcd"]
    order = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
    figures = rerank(Told(lambda q, p: order[p]), [Reranking("dr", "q", "query", "q", tuple(candidates))])
    ideal = 1 + 1 / math.log2(3)
    assert figures.metrics["nDCG"] == pytest.approx((1 + 1 / math.log2(5)) / ideal)
    assert figures.metrics["MAP"] == pytest.approx((1 + 2 / 4) / 2)


def test_a_model_with_vectors_scores_pairs_as_it_scores_all(tmp_path):
    from tests.models.siamese.test_siamese import prepared

    model = prepared("mean")
    from linker.data.types import Article, Post

    articles = [Article(str(i), f"harbour{i % 3} w{i % 3}") for i in range(8)]
    posts = [Post(str(i), f"orchard{i} harbour{i % 2}") for i in range(8)]
    expected = np.diagonal(model.score(articles, posts))
    np.testing.assert_allclose(model.score_pairs(articles, posts), expected, atol=1e-6)
    np.testing.assert_allclose(Model.score_pairs(model, articles, posts), expected, atol=1e-6)
    model.similarity = "euclidean"
    expected = np.diagonal(model.score(articles, posts))
    np.testing.assert_allclose(model.score_pairs(articles, posts), expected, atol=1e-5)


def test_agreement_is_that_of_scipy_and_scikit_learn():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=300).round(1)  # with ties
    grades = scores + rng.normal(size=300)
    labels = (grades > 0.5).astype(float)
    grades[:20], labels[10:40] = np.nan, np.nan
    figures = agreement(scores.astype(np.float32), grades, labels)
    single = scores.astype(np.float32).astype(float)
    assert figures["Pearson"] == pytest.approx(pearsonr(single[20:], grades[20:]).statistic)
    assert figures["Spearman"] == pytest.approx(spearmanr(scores[20:], grades[20:]).statistic)
    known = ~np.isnan(labels)
    assert figures["AP"] == pytest.approx(average_precision_score(labels[known], single[known]))
    best = max(f1_score(labels[known], single[known] >= t) for t in np.unique(single))
    assert figures["best F1"] == pytest.approx(best)


def test_what_is_not_there_is_not_measured():
    scores, nan = np.array([0.1, 0.5, 0.3]), np.full(3, np.nan)
    assert list(agreement(scores, np.array([1.0, 3.0, 2.0]), nan)) == ["Pearson", "Spearman"]
    assert list(agreement(scores, nan, np.array([0.0, 1.0, np.nan]))) == ["AP", "best F1"]
    with pytest.raises(LinkerError, match="all labels are the same"):
        agreement(scores, nan, np.ones(3))
    with pytest.raises(LinkerError, match="nothing to correlate"):
        agreement(scores, np.ones(3), nan)
    with pytest.raises(LinkerError, match="the score of pair 2 is nan"):
        agreement(np.array([0.1, np.nan, 0.2]), nan, nan)


def test_equal_texts_are_scored_once_and_each_pair_gets_its_own_score():
    asked = []

    class Counting(Told):
        def score(self, articles, posts):
            asked.append((len(articles), len(posts)))
            return super().score(articles, posts)

    texts = [("a", "x"), ("a", "yy"), ("b", "x"), ("b", "zzz"), ("b", "yy")]
    grades = np.array([1.0, 2.0, 1.0, 3.0, 2.0])
    model = Counting(lambda a, p: float(len(p)))
    figures = similarity_figures(model, GradedPairs(texts, grades, np.full(5, np.nan)))
    assert asked == [(2, 3)]
    assert figures["Pearson"] == pytest.approx(1)


def test_pairs_are_read_with_empty_labels_for_what_people_could_not_agree_on(tmp_path):
    file = tmp_path / "pairs.tsv.gz"
    with gzip.open(file, "wt") as out:
        out.write('score\tlabel\ttext1\ttext2\n3\t\tsays "hi\tb\n0.5\t0\tc\td\n5\t1\te\tf\n')
    pairs = read_pairs(file, PairColumns(grade="score", label="label"))
    assert pairs.texts == [('says "hi', "b"), ("c", "d"), ("e", "f")]
    np.testing.assert_array_equal(pairs.grades, [3, 0.5, 5])
    np.testing.assert_array_equal(pairs.labels, [np.nan, 0, 1])
    assert pairs.size == "3 pairs, 3 graded, 2 labeled"
    assert np.isnan(read_pairs(file, PairColumns(grade="score")).labels).all()


@pytest.mark.parametrize(
    ("line", "columns", "message"),
    [
        ("1\t2\ta\tb", {"label": "label"}, r"line 2: no label: '2' in \"label\"; labels are 0, 1 or empty"),
        ("many\t1\ta\tb", {"grade": "score"}, "line 2: no number: 'many' in \"score\""),
        ("1\t1\t\tb", {"grade": "score"}, 'line 2: no text: nothing in "text1"'),
        (
            "1\t1\ta\tb",
            {"grade": "votes"},
            'column "votes" not found; the columns are score, label, text1, text2',
        ),
    ],
)
def test_a_file_of_pairs_that_is_wrong_is_reported_with_its_line(tmp_path, line, columns, message):
    file = tmp_path / "pairs.tsv"
    file.write_text(f"score\tlabel\ttext1\ttext2\n{line}\n")
    with pytest.raises(DataError, match=message):
        read_pairs(file, PairColumns(**columns))


def test_lexical_models_rerank_too():
    candidates = [Candidate("1", "the harbour is flooded", True), Candidate("2", "elections today", False)]
    sets = [Reranking("dq", "q", "flooded harbour after the storm", "q", tuple(candidates))]
    for name in ("bm25", "tfidf"):
        assert rerank(build(Model, name), sets).metrics == {"nDCG": 1.0, "MAP": 1.0}


@pytest.fixture
def files(tmp_path):
    lines = [
        {
            "set": "dq", "query_id": str(q), "query": f"harbour{q} is flooded", "parent_id": str(q),
            "candidates": [
                {"id": f"{q}-{k}", "text": f"harbour{k} again", "relevant": k == q} for k in range(4)
            ],
        }
        for q in range(3)
    ]  # fmt: skip
    (tmp_path / "dq.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "pairs.csv").write_text(
        "left,text1,text2,same\n5,a harbour,the harbour,1\n1,a harbour,an orchard,0\n3,x,harbour x,\n"
    )
    return tmp_path


def test_the_command_prints_every_model_and_writes_the_figures(files, monkeypatch):
    from typer.testing import CliRunner

    from linker.cli.main import app

    monkeypatch.chdir(files)
    mined = ["--reranking", "dq.jsonl", "--similarity", "pairs.csv", "--grade", "left", "--label", "same"]
    result = CliRunner().invoke(app, ["evaluate", "tfidf", *mined, "--json", "out.json"])
    assert result.exit_code == 0, result.output
    for word in ("dq.jsonl (3 queries)", "nDCG", "3 pairs, 3 graded, 2 labeled", "Spearman", "bm25"):
        assert word in result.output
    dq, pairs = json.loads((files / "out.json").read_text())["benchmarks"]
    assert dq["models"]["bm25"]["nDCG"] == 1.0
    assert pairs["models"]["tfidf"]["AP"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give --articles and --posts"),
        (["--reranking", "dq.jsonl", "--articles", "a.jsonl"], "none of the options about articles"),
        (["--similarity", "pairs.csv"], "give the column of the grades"),
        (["--reranking", "dq.jsonl", "--run", "x"], "none of the options about articles"),
        (["--reranking", "dq.jsonl", "--one-at-a-time"], "none of the options about articles"),
        (["--grade", "left"], "--grade, --label: columns of text pairs; give --similarity"),
        (["--reranking", "dq.jsonl", "--label", "same"], "--grade, --label: columns of text pairs"),
        (["--reranking", "pairs.csv"], "pairs.csv, line 1: not a query of a reranking set"),
        (["--reranking", "absent.jsonl"], "absent.jsonl"),
    ],
)
def test_what_the_command_cannot_do_is_reported(files, monkeypatch, capsys, arguments, words):
    from linker.cli.main import main

    monkeypatch.chdir(files)
    monkeypatch.setattr("sys.argv", ["linker", "evaluate", "tfidf", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
