"""Approximate search: what it finds has exact scores, it finds what it says it does, and misses nothing new."""

from __future__ import annotations

import json

import numpy as np
import pytest

from linker.cli.main import main
from linker.common.errors import DataError, LinkerError
from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.indexes import approximate, approximate_build
from linker.corpus.indexes.approximate import INDEX, Index, Search
from linker.corpus.indexes.approximate_build import make_index
from linker.corpus.indexes.exact import Query, exact_scores
from linker.corpus.search.filters import Filter
from linker.corpus.storage.store import Store
from linker.corpus.verify import faults
from linker.data.io.columns import PostColumns
from tests.corpus.conftest import some_posts, write_posts

ARTICLE = "harbour0 harbour1 harbour2 harbour3 w1 w2"


@pytest.fixture(autouse=True)
def worth_it(monkeypatch):
    """Small corpora are not searched in full."""
    monkeypatch.setattr(approximate, "_FEW", 0)
    monkeypatch.setattr(approximate, "BLOCK", 700)
    monkeypatch.setattr(approximate_build, "BLOCK", 700)
    monkeypatch.setattr(approximate, "WANTED", 10)
    monkeypatch.setattr(approximate_build, "WANTED", 10)


def some_vectors(rows: int = 4_000, dim: int = 48, seed: int = 0) -> np.ndarray:
    """Of unit length, with a few directions that tell most, as those of texts."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((rows, dim)) * np.exp(-np.arange(dim) / 8)
    vectors = vectors @ np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def share(found: np.ndarray, scores: np.ndarray, count: int) -> float:
    """Of the best by brute force."""
    return len(set(np.argsort(-scores)[:count].tolist()) & set(found.tolist())) / count


def reference(vectors: np.ndarray, queries: list[np.ndarray], similarity: str) -> np.ndarray:
    each = []
    for passages in queries:
        if similarity == "cosine":
            each.append((vectors @ passages.T).max(axis=1))
        else:
            each.append(-np.linalg.norm(vectors[:, None] - passages, axis=2).min(axis=1))
    return np.mean(each, axis=0)


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
@pytest.mark.parametrize("lengths", [[1], [1, 1], [3, 2]])
def test_most_of_the_best_with_their_exact_scores(tmp_path, similarity, lengths):
    vectors = some_vectors()
    if similarity == "euclidean":
        vectors *= np.random.default_rng(5).uniform(0.5, 2, (len(vectors), 1)).astype(np.float32)
    facts = make_index(tmp_path, vectors, similarity)
    assert facts.near * 4 < len(vectors), "otherwise the search is exact"
    index, rng, shares = Index.open(tmp_path), np.random.default_rng(1), []
    for _ in range(40):
        queries = [vectors[rng.choice(len(vectors), length)] for length in lengths]
        query = Query(queries, similarity)
        scores, places = Search(index, vectors, query).best(10)
        assert len(places) < len(vectors) / 8
        np.testing.assert_array_equal(scores, exact_scores(vectors, query)[places])
        shares.append(share(places, reference(vectors, queries, similarity), 10))
    assert np.mean(shares) > 0.9


def test_the_reported_recall_is_the_recall(tmp_path):
    vectors, articles = some_vectors(), some_vectors(31, seed=0)
    facts = make_index(tmp_path, vectors, "cosine", articles)
    index = Index.open(tmp_path)
    assert index.facts == facts
    # Every second of 200 posts at equal distances, and every second article, had no part in setting the numbers.
    held = {
        "posts": vectors[np.linspace(0, len(vectors) - 1, 200).astype(int)][1::2],
        "articles": articles[1::2],
    }
    for kind, queries in held.items():
        shares = []
        for vector in queries:
            _, places = Search(index, vectors, Query(vector[None], "cosine")).best(10)
            shares.append(share(places, vectors @ vector, 10))
        assert facts.recall[kind] == (pytest.approx(np.mean(shares), abs=0.002), len(queries))
    assert facts.recall["posts"][0] > 0.94
    assert facts.told.endswith("for 15 articles")


def test_more_wanted_more_candidates_until_all(tmp_path):
    vectors = some_vectors()
    make_index(tmp_path, vectors, "cosine")
    search = Search(Index.open(tmp_path), vectors, Query(vectors[:1], "cosine"))
    sizes = [len(search.best(count)[0]) for count in (10, 20, 40, 4_000)]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == len(search) == 4_000


def test_conditions_and_what_was_added(tmp_path):
    vectors = some_vectors()
    make_index(tmp_path, vectors[:3_000], "cosine")
    index, rng, shares = Index.open(tmp_path), np.random.default_rng(2), []
    for size in (5, 700, 2_500) * 10:
        passing = np.sort(rng.choice(4_000, size, replace=False))
        query = Query(vectors[rng.choice(4_000, 1)], "cosine")
        scores, places = Search(index, vectors, query, passing).best(10)
        assert set(places.tolist()) <= set(passing.tolist())
        assert set(passing[passing >= 3_000].tolist()) <= set(places.tolist()), "new posts are all compared"
        np.testing.assert_array_equal(scores, exact_scores(vectors, query)[places])
        mask = np.full(4_000, -np.inf)
        mask[passing] = vectors[passing] @ query.vectors[0]
        shares.append(share(places, mask, min(10, size)))
    assert np.mean(shares) > 0.95


@pytest.fixture
def built(tmp_path, model_folder):
    path = write_posts(tmp_path / "posts.jsonl", some_posts(900))
    build_corpus(tmp_path / "corpus", [path], str(model_folder), PostColumns())
    return tmp_path / "corpus"


@pytest.mark.parametrize("fusion", ["none", "zscore"])
def test_a_corpus_ranked_approximately(built, tmp_path, fusion):
    corpus = Corpus.open(built)
    with pytest.raises(LinkerError, match=f"has no index.*run `linker corpus index {built}`"):
        corpus.rank(ARTICLE, approximate=True)
    facts = corpus.make_index([ARTICLE, "glacier1 glacier2 w3"])
    assert facts.rows == 900
    assert facts.recall["articles"][1] == 1
    for conditions in (None, Filter(languages=("de",))):
        exact = corpus.rank(ARTICLE, 10, filter=conditions, fusion=fusion)
        found = corpus.rank(ARTICLE, 10, filter=conditions, fusion=fusion, approximate=True)
        assert len(found) == 10
        assert len({one.post.id for one in found} & {one.post.id for one in exact}) >= 8
        of_exact = {one.post.id: one for one in corpus.rank(ARTICLE, None, filter=conditions, fusion=fusion)}
        for one in found:
            assert of_exact[one.post.id].score == one.score
            assert of_exact[one.post.id].copies == one.copies
        everything = corpus.rank(ARTICLE, None, filter=conditions, fusion=fusion, approximate=True)
        assert everything == list(of_exact.values())
    added = [{"id": "new", "text": ARTICLE, "lang": "de"}, {"id": "newer", "text": "w9"}]
    add_to_corpus(built, [write_posts(tmp_path / "more.jsonl", added)], None, PostColumns())
    corpus = Corpus.open(built)
    (first,) = corpus.rank(ARTICLE, 1, fusion=fusion, approximate=True)
    assert first.post.id == "new"
    assert corpus.make_index().rows == 902
    assert [path.name for path in built.glob("approximate*.f32")] == [corpus.index.facts.file]


def test_an_index_of_posts_that_one_does_not_see_yet(built, tmp_path):
    before = Corpus.open(built)
    path = write_posts(tmp_path / "more.jsonl", [{"id": "new", "text": ARTICLE}])
    add_to_corpus(built, [path], None, PostColumns())
    Corpus.open(built).make_index()
    assert before.rank(ARTICLE, None, approximate=True) == before.rank(ARTICLE, None)


def test_small_corpora_have_an_index_too(tmp_path, model_folder):
    for count in (1, 3, 60):
        path = write_posts(tmp_path / "posts.jsonl", some_posts(count))
        build_corpus(tmp_path / f"corpus{count}", [path], str(model_folder), PostColumns())
        corpus = Corpus.open(tmp_path / f"corpus{count}")
        assert corpus.make_index().recall["posts"][0] == 1
        assert corpus.rank(ARTICLE, None, approximate=True) == corpus.rank(ARTICLE, None)


def test_a_kill_leaves_nothing_behind_for_good(built):
    corpus = Corpus.open(built)
    for name in (".approximate.new.x1y2", "approximate.new", "approximate-0123456789abcdef.f32"):
        (built / name).write_bytes(b"half")
    assert not list(faults(corpus.store))
    facts = corpus.make_index()
    left = {path.name for path in [*built.glob("approximate*"), *built.glob(".approximate*")]}
    assert left == {INDEX, facts.file}
    with corpus.store.writing(), pytest.raises(LinkerError, match="another process is writing"):
        corpus.make_index()


def test_damage_to_an_index(built):
    corpus = Corpus.open(built)
    facts = corpus.make_index()
    store = Store.open(built)
    assert not list(faults(store))
    path = built / facts.file
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    assert [fault.file for fault in faults(store)] == [facts.file]
    path.write_bytes(whole[:-4])
    with pytest.raises(DataError, match="run `linker corpus index` again"):
        Index.open(built)
    path.unlink()
    assert [fault.file for fault in faults(store)] == [facts.file]
    with pytest.raises(DataError, match="is missing; run `linker corpus index"):
        Index.open(built)
    (built / INDEX).write_text("{")
    assert [fault.file for fault in faults(store)] == [INDEX]
    with pytest.raises(DataError, match="damaged"):
        Index.open(built)
    (built / INDEX).unlink()
    assert not list(faults(store)), "an index may be deleted"
    corpus.make_index()
    assert not list(faults(store))


@pytest.fixture
def run(monkeypatch, capsys):
    def linker(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["linker", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return linker


def test_on_the_command_line(built, tmp_path, run):
    article = tmp_path / "article.txt"
    article.write_text(ARTICLE)
    asked = ["corpus", "search", built, "--article", article, "--format", "jsonl", "--top", 5]
    code, out, told = run(*asked, "--approximate")
    assert (code, out) == (2, "")
    assert f"run `linker corpus index {built}`" in told
    articles = tmp_path / "articles.jsonl"
    articles.write_text(
        "".join(json.dumps({"title": "t", "text": f"{ARTICLE} w{i}"}) + "\n" for i in range(4))
    )
    code, out, told = run("corpus", "index", built, "--articles", articles)
    assert code == 0, told
    assert "900 posts in the index" in out
    assert out.strip().endswith("for 2 articles")
    corpus = Corpus.open(built)
    for fusion in ("none", "zscore"):
        code, out, told = run(*asked, "--approximate", "--fusion", fusion)
        assert code == 0, told
        assert "for 2 articles, as measured when it was built" in told
        expected = corpus.rank(article, 5, fusion=fusion, approximate=True)
        got = [json.loads(line) for line in out.splitlines()]
        assert [(line["id"], line["score"]) for line in got] == [(one.post.id, one.score) for one in expected]
    path = write_posts(tmp_path / "more.jsonl", [{"id": "new", "text": ARTICLE}])
    add_to_corpus(built, [path], None, PostColumns())
    _, out, told = run(*asked, "--approximate")
    assert "1 posts were added since" in told
    assert json.loads(out.splitlines()[0])["id"] == "new"
    assert "900 posts; finds" in run("corpus", "info", built)[1]
    code, _, told = run("rank", "--posts", articles, "--article", article, "--corpus", built)
    assert code == 2
    assert "use `linker corpus search" in told
