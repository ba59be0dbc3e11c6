"""Any linker model in MTEB, the Massive Text Embedding Benchmark; mteb itself is not a requirement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from linker.common.errors import ModelError
from linker.data.types import Article, Post
from linker.models.files.resolve import resolve_model
from linker.models.model import embedding_submodel

#: Scores held at once, float32: 400 MB.
_SCORES = 10**8


class MtebModel:
    """A linker model as mteb 2 calls models: `mteb.evaluate(MtebModel("best"), tasks)`.

    Retrieval and reranking use the model's own scores (`SearchProtocol`), so they measure ensembles, rerankers and
    lexical models as well: queries are articles, documents posts. Other tasks compare embeddings (`EncoderProtocol`),
    where texts are posts unless they are queries; an ensemble such as `best` has the embeddings of its first member
    with any.

    Paper: Muennighoff et al. 2023, https://arxiv.org/abs/2210.07316

    Args:
        model_name: as for `linker.load`; also a model's name on a Hugging Face hub.
        revision: branch, tag or commit on the hub; None: as in the name.
        device: ignored; the model runs where linker runs it.

    Raises:
        ModelError: if the model is not found.
    """

    def __init__(self, model_name: str, revision: str | None = None, device: str | None = None) -> None:
        self._reference = resolve_model(f"{model_name}@{revision}" if revision else model_name)
        self.model = self._reference.load()
        self._ids: list[str] = []
        self._posts: list[Post] = []

    @property
    def mteb_model_meta(self) -> Any:
        """Metadata for mteb's result files: an `mteb.ModelMeta` with name and revision."""
        from mteb.models import ModelMeta

        name, _, commit = self._reference.given.partition("@")
        on_hub = self._reference.cached is not None
        return ModelMeta.create_empty(
            {
                "name": name if on_hub else f"linker/{self._reference.file_name}",
                "revision": commit if on_hub else self._reference.fingerprint,
                "framework": ["PyTorch"],
                "similarity_fn_name": "cosine",
            }
        )

    def encode(self, inputs: Iterable[Mapping[str, Any]], *, prompt_type: Any = None, **_: Any) -> np.ndarray:
        """Return embeddings of texts: float32, texts × dim.

        Args:
            inputs: batches with a list of texts under `text`.
            prompt_type: `query` for articles; anything else for posts.

        Raises:
            ModelError: if the model has no embeddings.
        """
        part = self._part()
        texts = [text for batch in inputs for text in batch["text"]]
        if getattr(prompt_type, "value", prompt_type) == "query":
            vectors = part.article_vectors([Article(str(i), text) for i, text in enumerate(texts)])
        else:
            vectors = part.post_vectors([Post(str(i), text) for i, text in enumerate(texts)])
        return np.asarray(vectors, dtype=np.float32)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> np.ndarray:
        """Return the model's similarities of all pairs: float32, n × m.

        Args:
            embeddings1: n × dim.
            embeddings2: m × dim.
        """
        return self._part().similarities(_matrix(embeddings1), _matrix(embeddings2))

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> np.ndarray:
        """Return the model's similarities of the i-th with the i-th: float32, n.

        Args:
            embeddings1: n × dim.
            embeddings2: n × dim.
        """
        part, first, second = self._part(), _matrix(embeddings1), _matrix(embeddings2)
        pairs = zip(first[:, None], second[:, None])
        return np.array([part.similarities(a, b)[0, 0] for a, b in pairs], dtype=np.float32)

    def index(self, corpus: Iterable[Mapping[str, Any]], **_: Any) -> None:
        """Keep the documents as posts: rows with `id`, `text` and perhaps `title`."""
        rows = list(corpus)
        self._ids = [str(row["id"]) for row in rows]
        texts = [f"{row.get('title') or ''} {row['text']}".strip() for row in rows]
        self._posts = [Post(id_, text) for id_, text in zip(self._ids, texts)]

    def search(
        self,
        queries: Iterable[Mapping[str, Any]],
        *,
        top_k: int,
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        **_: Any,
    ) -> dict[str, dict[str, float]]:
        """Return the scores of the best documents per query; each query is scored by itself, as by `linker rank`.

        Args:
            queries: rows with `id` and `text`.
            top_k: number of documents per query.
            top_ranked: for reranking, the ids of the documents to score per query.
        """
        articles = [Article(str(row["id"]), row["text"]) for row in queries]
        step = max(1, _SCORES // max(1, len(self._posts)))
        found = {}
        for start in range(0, len(articles), step):
            some = articles[start : start + step]
            for article, scores in zip(some, self.model.score_independently(some, self._posts)):
                places = self._places(article.id, top_ranked)
                best = places[np.argsort(-scores[places], kind="stable")[:top_k]]
                found[article.id] = {self._ids[i]: float(scores[i]) for i in best.tolist()}
        return found

    def _places(self, query: str, top_ranked: Mapping[str, Sequence[str]] | None) -> np.ndarray:
        if top_ranked is None or query not in top_ranked:
            return np.arange(len(self._ids))
        wanted = set(top_ranked[query])
        return np.array([i for i, id_ in enumerate(self._ids) if id_ in wanted], dtype=np.int64)

    def _part(self) -> Any:
        part = embedding_submodel(self.model)
        if part is None:
            raise ModelError(
                f"{self._reference.name}: compares words and has no embeddings; mteb can measure it by retrieval only"
            )
        return part


def _matrix(embeddings: Any) -> np.ndarray:
    return np.atleast_2d(np.asarray(embeddings, dtype=np.float32))
