"""Models of linker as mteb calls them."""

import numpy as np
import pytest

import linker
from benchmarks.mteb import MtebModel
from linker.common.errors import ModelError

CORPUS = [
    {"id": "d1", "title": "", "text": "an otter in the river"},
    {"id": "d2", "title": "Football", "text": "the match tonight"},
    {"id": "d3", "text": "bridges of the old town"},
]
QUERIES = [{"id": "q1", "text": "Otters return to the river."}, {"id": "q2", "text": "A bridge is closed."}]


@pytest.mark.parametrize("name", ["best", "distilled", "bm25"])
def test_a_search_gives_the_scores_of_rank(name: str) -> None:
    model = MtebModel(name)
    model.index(CORPUS, task_metadata=None, hf_split="test", hf_subset="default")
    found = model.search(QUERIES, top_k=2, task_metadata=None, hf_split="test", hf_subset="default")
    posts = ["an otter in the river", "Football the match tonight", "bridges of the old town"]
    raw = linker.load(name).model.score_independently(
        [linker.Article(query["id"], query["text"]) for query in QUERIES],
        [linker.Post(str(i), text) for i, text in enumerate(posts)],
    )
    for query, scores in zip(QUERIES, raw):
        best = np.argsort(-scores, kind="stable")[:2]
        assert found[query["id"]] == {f"d{i + 1}": pytest.approx(scores[i]) for i in best}


def test_reranking_scores_the_listed_documents_only() -> None:
    model = MtebModel("distilled")
    model.index(CORPUS)
    found = model.search(QUERIES, top_k=10, top_ranked={"q1": ["d3", "d2"], "q2": ["d1"]})
    assert {query: set(documents) for query, documents in found.items()} == {"q1": {"d2", "d3"}, "q2": {"d1"}}


def test_embeddings_are_those_of_encode() -> None:
    model, ranker = MtebModel("distilled"), linker.load("distilled")
    batches, texts = (
        [{"text": ["an otter", "the match"]}, {"text": ["bridges"]}],
        ["an otter", "the match", "bridges"],
    )
    posts, articles = ranker.encode(texts), ranker.encode(texts, "article")
    np.testing.assert_array_equal(model.encode(batches), posts)
    np.testing.assert_array_equal(model.encode(batches, prompt_type="document"), posts)
    np.testing.assert_array_equal(model.encode(batches, prompt_type="query"), articles)
    np.testing.assert_allclose(model.similarity(posts, articles), posts @ articles.T, atol=1e-6)
    np.testing.assert_allclose(
        model.similarity_pairwise(posts, articles), (posts * articles).sum(axis=1), atol=1e-6
    )


def test_a_model_without_embeddings_says_what_mteb_can_measure() -> None:
    with pytest.raises(ModelError, match=r"bm25: compares words .* by retrieval only"):
        MtebModel("bm25").encode([{"text": ["an otter"]}])
