"""Models of linker as mteb calls them."""

from pathlib import Path

import numpy as np
import pytest

import linker
from benchmarks.mteb import MtebModel
from linker.common.errors import ModelError

ROOT = Path(__file__).parents[2]
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


def test_mteb_measures_what_linker_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mteb = pytest.importorskip("mteb", "2", reason="not a requirement")
    datasets = pytest.importorskip("datasets")
    from mteb.abstasks.retrieval import AbsTaskRetrieval
    from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData
    from mteb.abstasks.sts import AbsTaskSTS
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models.models_protocols import EncoderProtocol, SearchProtocol

    from linker.data.readers.articles_and_posts import ArticlesAndPosts
    from linker.data.types import LinkedPosts
    from linker.evaluation.evaluate import evaluate

    def about(name: str, kind: str, score: str) -> TaskMetadata:
        return TaskMetadata(
            name=name, type=kind, main_score=score, description="The sample.", reference="https://example.org",
            dataset={"path": "NA", "revision": "NA"}, category="t2t", modalities=["text"], eval_splits=["test"],
            eval_langs=["eng-Latn"], date=("2031-01-01", "2031-12-31"), dialect=["Written"], domains=[],
            task_subtypes=[], license="cc0-1.0", annotations_creators="derived", sample_creation="created",
            bibtex_citation="",
        )  # fmt: skip

    linked = ArticlesAndPosts(str(ROOT / "data/articles.jsonl"), str(ROOT / "data/posts.jsonl")).read()
    articles = [
        linker.Article(article.id, article.full_text) for article in linked.articles if article.split == "dev"
    ]
    posts = [
        linker.Post(post.id, post.text, article_ids=post.article_ids)
        for post in linked.posts
        if post.split == "dev"
    ]
    relevant = {a.id: {p.id: 1 for p in posts if a.id in p.article_ids} for a in articles}

    class Sample(AbsTaskRetrieval):
        metadata = about("LinkerSample", "Retrieval", "ndcg_at_10")

        def load_data(self, num_proc: int | None = None, **_: object) -> None:
            rows = datasets.Dataset.from_list
            split = RetrievalSplitData(
                queries=rows([{"id": article.id, "text": article.text} for article in articles]),
                corpus=rows([{"id": post.id, "text": post.text, "title": ""} for post in posts]),
                relevant_docs={query: found for query, found in relevant.items() if found},
                top_ranked=None,
            )
            self.dataset = {"default": {"test": split}}
            self.data_loaded = True

    class Pairs(AbsTaskSTS):
        metadata = about("LinkerPairs", "STS", "cosine_spearman")
        min_score, max_score = 0, 3

        def load_data(self, num_proc: int | None = None, **_: object) -> None:
            first = ["an otter in the river", "the match tonight", "a bridge was closed", "rain all day"]
            second = ["otters in the rivers", "who watches the match", "a church", "elections"]
            content = {"sentence1": first, "sentence2": second, "score": [3, 2, 1, 0]}
            self.dataset = datasets.DatasetDict({"test": datasets.Dataset.from_dict(content)})
            self.data_loaded = True

    monkeypatch.chdir(tmp_path)
    for name in ("best", "distilled", "tfidf"):
        model = MtebModel(name)
        assert isinstance(model, SearchProtocol)
        assert isinstance(model, EncoderProtocol)
        tasks = [Sample(), *([] if name == "tfidf" else [Pairs()])]
        results = mteb.evaluate(model, tasks, cache=None, co2_tracker=False)
        scores = {one.task_name: one.scores["test"][0] for one in results.task_results}
        expected = evaluate(model.model.score_independently(articles, posts), LinkedPosts(articles, posts))
        assert scores["LinkerSample"]["ndcg_at_10"] == pytest.approx(expected["nDCG@10"], abs=0.01), name
        print(name, scores["LinkerSample"]["ndcg_at_10"], expected["nDCG@10"])
        if name != "tfidf":
            pairs = scores["LinkerPairs"]
            print(name, pairs["cosine_spearman"], pairs["spearman"])
            assert pairs["cosine_spearman"] == pytest.approx(pairs["spearman"])
            assert pairs["cosine_spearman"] > 0
