"""`Corpus`: posts encoded once, ranked for any article."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import numpy as np

from linker.corpus.filters import Filter
from linker.corpus.fingerprint import fingerprint
from linker.corpus.grouping import Groups
from linker.corpus.matrix import Matrix
from linker.corpus.rows import post_from
from linker.corpus.scoring import scores_of
from linker.corpus.store import Store
from linker.data.types import Article, Post
from linker.errors import DataError, ModelError
from linker.models.model import Model
from linker.ranking.explanation import explain as explanations
from linker.ranking.linker import AnyArticle, RankedPost, as_articles, find_model

_COLUMNS = ["id", "text", "created_at", "lang", "extra"]


class Corpus:
    """A corpus that is open for ranking; it sees the posts that were there when it was opened.

    Args:
        store: the folder.
        model: what encoded it.
        name: how messages and files call it.
    """

    def __init__(self, store: Store, model: Model, name: str = "model") -> None:
        self.store, self.model, self.name = store, model, name
        dataset = store.dataset()
        if dataset is None:
            raise DataError(f"{store.folder}: holds no posts yet; go on with `linker corpus add`")
        self._dataset = dataset
        self._vectors = Matrix(store.folder, store.facts.dim).complete(dataset)
        self._groups: np.ndarray | None = None

    @classmethod
    def open(cls, folder: str | Path, model: str | Path | None = None) -> Corpus:
        """Open a corpus with the model that encoded it.

        Args:
            folder: the corpus.
            model: where this model lies now, if no longer where it lay.

        Raises:
            DataError: there is no such corpus, or it is damaged.
            ModelError: the model is not there, or another one.
        """
        store = Store.open(Path(folder))
        given = str(model or store.facts.model)
        try:
            found = find_model(given)
        except ModelError as error:
            if model is not None:
                raise
            raise ModelError(
                f"{folder}: the model that encoded it is no longer at {given}; say where it is with --model"
            ) from error
        if fingerprint(found.contender) != store.facts.fingerprint:
            raise ModelError(
                f"{given}: is not the model that encoded {folder}; vectors of two models cannot be compared. "
                "Give the right one, or build the corpus again"
            )
        return cls(store, found.load().model, found.contender.file_name)

    def __len__(self) -> int:
        return len(self._vectors)

    def rank(
        self,
        article: AnyArticle | Sequence[AnyArticle],
        top: int | None = 20,
        offset: int = 0,
        threshold: float | None = None,
        filter: Filter | None = None,
        explain: bool = False,
        copies: bool = False,
    ) -> list[RankedPost]:
        """The posts, best first, by exact search; equal scores in descending order of ids.

        Of near-duplicates the best is given, with how many others there are.

        Args:
            article: as for `Linker.rank`.
            top: how many to return; None: all.
            offset: how many of the best to leave out before.
            threshold: leave out posts with a lower score.
            filter: which posts to look at.
            explain: fill `explanation`, as far as the model can tell.
            copies: give near-duplicates one by one, not only the best of each group and how many there are.

        Raises:
            LinkerError: an article that cannot be fetched or read, or a filter that cannot be understood.
        """
        queries = as_articles(article)
        scores = self.scores(queries)
        places = filter.places(self._dataset) if filter else None
        if places is not None:
            scores = scores[places]
        wanted = len(scores) if top is None else top + offset
        if copies:
            chosen = self._best(scores, places, wanted, threshold)[offset:]
            more = [0] * len(chosen)
        else:
            chosen = self._best_of_groups(scores, places, wanted, threshold)[offset:]
            more = self._others([place for place, _ in chosen], places)
        posts = self._posts([place for place, _ in chosen])
        marks = explanations(self.model, queries, posts, range(len(posts))) if explain and posts else None
        return [
            RankedPost(
                rank,
                float(str(score)),
                post,
                marks[i] if marks else None,
                more[i],
            )
            for i, (rank, (_, score), post) in enumerate(zip(count(offset + 1), chosen, posts))
        ]

    def scores(self, articles: Sequence[Article]) -> np.ndarray:
        """The mean score of every post over the articles: float32, one per post in the order of the store."""
        queries = self.model.article_vectors(articles)
        assert queries is not None  # the fingerprint says that it has vectors
        return scores_of(self._vectors, queries, self.store.facts.similarity)

    def _best(
        self, scores: np.ndarray, places: np.ndarray | None, count: int, threshold: float | None
    ) -> list[tuple[int, np.float32]]:
        """Places and scores of the best, in order; where the last score is shared, ids decide who is in."""
        count = min(count, len(scores))
        if not count:
            return []
        last = np.partition(scores, len(scores) - count)[len(scores) - count]
        if threshold is not None:
            last = max(last, np.float32(threshold))
        inside = np.flatnonzero(scores >= last)
        at = inside if places is None else places[inside]
        ids = self._dataset.take(at, columns=["id"]).column("id").to_pylist()
        descending = sorted(range(len(at)), key=lambda i: ids[i], reverse=True)
        descending.sort(key=lambda i: -scores[inside[i]])
        return [(int(at[i]), scores[inside[i]]) for i in descending[:count]]

    def _best_of_groups(
        self, scores: np.ndarray, places: np.ndarray | None, count: int, threshold: float | None
    ) -> list[tuple[int, np.float32]]:
        """The best post of each of the best groups."""
        groups = self._group_of_each()
        tried = count
        while True:
            best = self._best(scores, places, tried, threshold)
            first: dict[int, tuple[int, np.float32]] = {}
            for place, score in best:
                first.setdefault(int(groups[place]), (place, score))
            if len(first) >= count or len(best) < tried or tried >= len(scores):
                return list(first.values())[:count]
            tried = 2 * tried + 10

    def _others(self, chosen: Sequence[int], places: np.ndarray | None) -> list[int]:
        """How many others of each chosen post's group may be found."""
        groups = self._group_of_each()
        members = np.bincount(groups if places is None else groups[places], minlength=len(groups))
        return [int(members[groups[place]]) - 1 for place in chosen]

    def _group_of_each(self) -> np.ndarray:
        if self._groups is None:
            self._groups = Groups(self.store.folder).complete(self._dataset)
        return self._groups

    def _posts(self, places: Sequence[int]) -> list[Post]:
        rows = self._dataset.take(list(places), columns=_COLUMNS).to_pylist() if places else []
        return [post_from(row) for row in rows]
