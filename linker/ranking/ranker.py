"""`Ranker`: a model that ranks posts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from typing_extensions import Unpack

from linker.common.errors import LinkerError, ModelError
from linker.data.types import Article, Post
from linker.models.elapsed_time import without_dates
from linker.models.features.memory_table import EmbeddingCache, MemoryTable
from linker.models.files.resolve import ModelReference, resolve_model
from linker.models.model import Model, embedding_submodel
from linker.ranking.data_frames import Frame, frame_of
from linker.ranking.inputs import (
    AnyArticles,
    AnyColumns,
    AnyPosts,
    as_articles,
    as_posts,
    check_path,
    type_name,
)
from linker.ranking.labels import as_labels
from linker.ranking.query_warnings import several_warning, warn_once
from linker.ranking.request import RankerOptions, RankOptions, RankRequest, check_names
from linker.ranking.results import Ranking
from linker.ranking.search import search

# Bytes of embeddings that are kept while posts are ranked for each of several articles.
_ALL = 1 << 40


class Ranker:
    """Rank posts by how likely they are to discuss an article.

    Args:
        model: the model that scores the posts.
        name: its name in messages and files.
        reference: where the model was loaded from; calibrations are checked against it.
        once: whether it answers a single question, so that embeddings are not kept for another.

    Raises:
        ModelError: if `model` is not a model, but a name, say; `linker.load` loads models by their names.
    """

    def __init__(
        self, model: Model, name: str = "model", reference: ModelReference | None = None, once: bool = False
    ) -> None:
        if not isinstance(model, Model):
            named = model if isinstance(model, (str, Path)) else "best"
            raise ModelError(f'model is {type_name(model)}; use linker.load("{named}")')
        self.model = model
        self.name = name
        self._reference = reference
        self._embeddings = EmbeddingCache(0) if once else EmbeddingCache()

    def __repr__(self) -> str:
        return f"Ranker({self.name!r})"

    def rank(self, article: AnyArticles, posts: AnyPosts, **options: Unpack[RankerOptions]) -> Ranking:
        """Rank posts, best first; equal scores in descending order of ids, as is usual in retrieval.

        Of near-duplicates (retweets, copies that differ in a word, or in a link where they are long) only the best is
        returned, with the number of the others.

        Args:
            article: a web address, the path of a file, a text, an Article, or a dict (with `title`, `text` or both); a
                list or data frame of these is one query, in which a post's score is the mean of its scores for
                the single articles (for a ranking of each, see `rank_each`).
            posts: the path of a file; a text, Post or dict (with `text`; `id`, `created_at` and other fields are
                optional); a list, or any other iterable, of these, or of nothing but paths of files; or a data frame,
                or a Series of texts, of pandas, polars or PyArrow.
            options: those of `RankRequest`, by name: `top` (default: all posts), `threshold`, `labels`, `explain`, …;
                `columns`: names of the columns or keys that contain the posts, such as `{"text": "body"}`;
                `format`: format of a platform's posts, such as `mastodon` (`linker config components Platform` lists
                them), or `columns` to go by the names of columns only (default: recognize it);
                `published`: when the article was published, if it does not say so: a date, or text such as
                `2024-05-01`; of several articles, those without a date get it.

        Returns:
            A sequence of RankedPost, shown as a table in notebooks.

        Raises:
            LinkerError: if an article cannot be fetched or read, posts cannot be read, options contradict each other,
                no threshold reaches the target, or the filter names a field that no post has.
        """
        articles, candidates, request, frame = _read(article, posts, options)
        return self.answer(articles, candidates, request, frame)

    def rank_each(
        self, articles: AnyArticles, posts: AnyPosts, **options: Unpack[RankerOptions]
    ) -> Iterator[Ranking]:
        """Rank posts for each of several articles by itself; posts are read and encoded once.

        Returns:
            The rankings in the order of the articles, each computed when it is reached; posts have an `article_id`.

        Raises:
            LinkerError: as `rank`, whose arguments it takes; or if labels do not have the ids of articles.
        """
        return self.answer_each(*_read(articles, posts, options))

    def answer_each(
        self,
        articles: Sequence[Article],
        posts: Sequence[Post],
        request: RankRequest,
        frame: Frame | None = None,
    ) -> Iterator[Ranking]:
        """Rank as `rank_each` does, with its options in one object."""
        table, requests = self._table(posts, request, EmbeddingCache(_ALL)), map(request.of_article, articles)
        return (
            search(self.model, table, [article], options, self.name, frame, each=True)
            for article, options in zip(articles, list(requests))
        )

    def answer(
        self,
        articles: Sequence[Article],
        posts: Sequence[Post],
        request: RankRequest,
        frame: Frame | None = None,
    ) -> Ranking:
        """Rank as `rank` does, with its options in one object, and the data frame that the posts are from."""
        warn_once(several_warning(articles))
        return search(self.model, self._table(posts, request), articles, request, self.name, frame)

    def score(
        self,
        articles: AnyArticles,
        posts: AnyPosts,
        columns: AnyColumns | None = None,
        together: bool = False,
        ignore_dates: bool = False,
    ) -> npt.NDArray[np.float64]:
        """Return the scores of all pairs of an article and a post, in input order.

        Each article is scored by itself: a score is the one that `rank` gives the post for that article alone.

        Args:
            articles: as for `rank`, but each is a row.
            posts: as for `rank`.
            columns: as for `rank`.
            together: let the articles compete for the posts, in models with a softmax over articles, such as `best`;
                scores are then lower, and comparable only within one call.
            ignore_dates: as for `rank`.

        Returns:
            float64, articles × posts, 0 to 100.

        Raises:
            ModelError: if the model gives scores that are not finite.
            LinkerError: as `rank`.
        """
        found = as_articles(articles)
        request = RankRequest(ignore_dates=ignore_dates)
        query = without_dates(found) if ignore_dates else found
        scores = self.model.score_table(self._table(as_posts(posts, columns), request), query, together)
        if not np.isfinite(scores).all():
            raise ModelError(f"{self.name}: gives scores that are not finite numbers; train it again")
        return self.model.score_scale()(scores)

    def encode(
        self,
        texts: AnyPosts | AnyArticles,
        kind: Literal["post", "article"] = "post",
        columns: AnyColumns | None = None,
    ) -> npt.NDArray[np.float32]:
        """Return the embeddings of texts as the model compares them, one row per text, in the order given.

        An ensemble such as `best` gives the embeddings of its first member that has any; its scores also depend on the
        other members.

        Args:
            texts: a list of texts, or anything else that `rank` takes as posts or articles; a single text is a list of
                length 1.
            kind: whether the texts are posts or articles; models may encode the two differently.
            columns: as for `rank`.

        Returns:
            float32, texts × dimensions; of unit length where the model compares by cosine, so that dot products are
            cosines.

        Raises:
            ModelError: if the model has no embeddings, as `bm25` and `tfidf`.
            LinkerError: if texts cannot be read.
        """
        if not isinstance(kind, str) or kind not in ("post", "article"):
            raise LinkerError(f'kind is {kind!r}; choose "post" or "article"')
        if isinstance(texts, str):
            raise LinkerError("texts is a single text; give a list: [text]")
        part = embedding_submodel(self.model)
        if part is None:
            raise ModelError(
                f"{self.name}: compares words and has no embeddings; encode with best, distilled or a trained model"
            )
        if kind == "post":
            vectors = part.post_vectors(as_posts(cast(AnyPosts, texts), columns))
        else:
            vectors = part.article_vectors(as_articles(cast(AnyArticles, texts)))
        assert vectors is not None  # the part has vectors
        return np.asarray(vectors, dtype=np.float32)

    def _table(
        self, posts: Sequence[Post], request: RankRequest, embeddings: EmbeddingCache | None = None
    ) -> MemoryTable:
        """Return the posts as a table, with the counts of words of the request's calibration, if there is one."""
        calibration = request.calibration
        # Calibrations made in Python may have no fingerprint.
        if self._reference is not None and calibration is not None and calibration.fingerprint:
            request.check_model(self._reference.fingerprint)
        words = {} if calibration is None else calibration.reported_words()
        return MemoryTable(posts, words, embeddings or self._embeddings)


def _read(
    article: AnyArticles, posts: AnyPosts, options: Mapping[str, Any]
) -> tuple[list[Article], Sequence[Post], RankRequest, Frame | None]:
    """Return articles, posts, options and the data frame of the posts, if they are in one; see `Ranker.rank`."""
    check_names(options, RankerOptions)
    others = {name: options[name] for name in RankOptions.__annotations__.keys() | {"top"} if name in options}
    request, frame = RankRequest(**others), frame_of(posts)
    articles = as_articles(article, options.get("published"))
    given = posts if frame is None else frame
    candidates = as_posts(given, options.get("columns"), options.get("format"))
    if request.labels is not None:
        labels = as_labels(request.labels, candidates, None if frame is None else frame.index)
        request = replace(request, labels=labels)
    return articles, candidates, request, frame


def load(path: str | Path = "best") -> Ranker:
    """Return a ranker with a loaded model: `linker.load("best").rank(article, posts)`.

    Args:
        path: `best` or `distilled`, which are bundled; `bm25` or `tfidf`, which need no training; a model folder that
            `linker train` wrote; a Jsonnet file with the config of a model that needs no training; or `user/model` or
            `user/model@revision` on a Hugging Face hub, which is downloaded unless it is cached.

    Raises:
        ModelError: if the model is not found, its folder is damaged, or the hub cannot be reached.
        ConfigError: if the config is invalid.
    """
    check_path(path, "path")
    reference = resolve_model(path)
    return Ranker(reference.load(), reference.file_name, reference)
