"""`Corpus`: posts encoded once, ranked for any article."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from linker.calibration.calibration import Calibration
from linker.calibration.labeled_thresholds import LabelledThresholds
from linker.calibration.thresholds import Thresholds
from linker.common.errors import DataError, ModelError
from linker.corpus.engines.engine import Engine
from linker.corpus.fingerprint import fingerprint
from linker.corpus.indexes.approximate import Facts, Index, Search
from linker.corpus.indexes.approximate_build import make_index
from linker.corpus.indexes.exact import Query, exact_scores
from linker.corpus.indexes.near_duplicates import Groups
from linker.corpus.indexes.vectors import Matrix
from linker.corpus.search.explanation import CorpusPile
from linker.corpus.search.filters import Filter, left_out
from linker.corpus.search.filters import places as places_of
from linker.corpus.search.fusion import Fused, Fusion, sample
from linker.corpus.search.parts import Parts, pieces_of, scores_of_parts, with_other_parts
from linker.corpus.search.results import Ranking as StoredRanking
from linker.corpus.search.top_k import Scored, best, best_of_groups, others
from linker.corpus.storage.store import Store
from linker.data.types import Article, Post
from linker.models.model import Model
from linker.models.passage_pooling import Passages
from linker.ranking.explanation import Explanation
from linker.ranking.explanation import explain as explanations
from linker.ranking.ranker import AnyArticles, as_articles, check_explaining, find_model
from linker.ranking.results import Ranking
from linker.ranking.scores import thresholds_of


class Corpus:
    """A corpus that is open for ranking; it sees the posts that were there when it was opened.

    Args:
        store: the folder.
        model: what encoded it.
        name: how messages and files call it.
        engine: where posts are scored; None: in this process.
    """

    def __init__(self, store: Store, model: Model, name: str = "model", engine: Engine | None = None) -> None:
        self.store, self.model, self.name = store, model, name
        self._engine = engine or Engine()
        dataset = store.dataset()
        if dataset is None:
            raise DataError(f"{store.folder}: holds no posts yet; go on with `linker corpus add`")
        self._dataset = dataset
        self._vectors = Matrix(store.folder, store.facts.dim).complete(dataset)
        self._parts = Parts(store.folder, dataset, model, self._vectors)
        self._groups: np.ndarray | None = None
        self._index: Index | None = None

    @classmethod
    def open(
        cls, folder: str | Path, model: str | Path | None = None, engine: Engine | None = None
    ) -> Corpus:
        """Open a corpus with the model that encoded it.

        Args:
            folder: the corpus.
            model: where this model lies now, if no longer where it lay.
            engine: where posts are scored by exact search; None: in this process.

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
        return cls(store, found.load().model, found.contender.file_name, engine)

    def __len__(self) -> int:
        return len(self._vectors)

    def rank(
        self,
        article: AnyArticles,
        top: int | None = 20,
        offset: int = 0,
        threshold: float | None = None,
        filter: Filter | None = None,
        explain: bool = False,
        copies: bool = False,
        passages: Passages = "whole",
        fusion: Fusion = "none",
        approximate: bool = False,
    ) -> Ranking:
        """The posts, best first; equal scores in descending order of ids.

        Of near-duplicates the best is given, with how many others there are.

        Args:
            article: as for `Linker.rank`.
            top: how many to return; None: all.
            offset: how many of the best to leave out before.
            threshold: leave out posts with a lower score.
            filter: which posts to look at.
            explain: fill `explanation`, as far as the model can tell.
            copies: give near-duplicates one by one, not only the best of each group and how many there are.
            passages: as for `Linker.rank`.
            fusion: `none`: the model's own scores, as without a corpus. `zscore`: BM25 scores added, both
                standardized, see `Fused`; passages are of no account to words.
            approximate: search with the index that `linker corpus index` makes; see `index`.

        Raises:
            LinkerError: an article that cannot be fetched or read, a filter that cannot be understood, or no index.
        """
        queries = as_articles(article)
        ranked = self.ranking(
            queries, top, offset, threshold, filter, explain, copies, passages, fusion, approximate
        )
        return Ranking(list(ranked), queries, self.name)

    def ranking(
        self,
        article: AnyArticles,
        top: int | None = 20,
        offset: int = 0,
        threshold: float | None = None,
        filter: Filter | None = None,
        explain: bool = False,
        copies: bool = False,
        passages: Passages = "whole",
        fusion: Fusion = "none",
        approximate: bool = False,
    ) -> StoredRanking:
        """`rank`, of which posts are read only when they are looked at: for more than memory holds."""
        check_explaining(explain, passages)
        queries = as_articles(article)
        places = places_of(filter, self._dataset) if filter else None
        wanted = (len(self) if places is None else len(places)) if top is None else top + offset
        # Approximate search looks at so little that this process does it alone.
        with Engine() if approximate else self._engine:
            scored = (self._near if approximate else self._all)(queries, passages, fusion, places)
            if copies:
                at, found = best(self._dataset, *scored(wanted), wanted, threshold)
                more = np.zeros(len(at), dtype=np.int64)
            else:
                groups = self._group_of_each()
                at, found = best_of_groups(self._dataset, groups, scored, wanted, threshold)
                more = others(groups, at, places)
        at, found, more = at[offset:], found[offset:], more[offset:]

        pile = CorpusPile(self._parts, queries)

        def explained(posts: Sequence[Post]) -> Sequence[Explanation] | None:
            return explanations(self.model, queries, posts, range(len(posts)), pile)

        return StoredRanking(self._dataset, at, found, more, offset + 1, explained if explain else None)

    def thresholds(
        self,
        article: AnyArticles,
        evidence: Mapping[str, bool] | Calibration,
        filter: Filter | None = None,
        passages: Passages = "whole",
        fusion: Fusion = "none",
    ) -> Thresholds:
        """What thresholds on the scores of all posts that pass keep and find; near-duplicates count one by one.

        Args:
            article: as for `rank`.
            evidence: as for `Linker.thresholds`.
            filter: as for `rank`.
            passages: as for `rank`.
            fusion: as for `rank`; a calibration knows the model's own scores, `none`.

        Raises:
            LinkerError: as `rank` and `Linker.thresholds`.
        """
        scores = self.scores(as_articles(article), passages, fusion)
        places = places_of(filter, self._dataset) if filter else None
        if isinstance(evidence, Calibration):
            return thresholds_of(scores if places is None else scores[places], [], evidence, passages)
        ids = ", ".join("'" + i.replace("'", "''") + "'" for i in evidence)
        labelled = places_of(Filter(where=f"id IN ({ids})"), self._dataset)
        assert labelled is not None  # there is a condition
        if places is not None:
            labelled = labelled[np.isin(labelled, places)]
        found = dict(zip(self._ids(labelled), scores[labelled].tolist()))
        return LabelledThresholds.by_scores(scores if places is None else scores[places], found, evidence)

    def left_out(self, filter: Filter) -> list[str]:
        """How many posts are left out because they lack a field: one sentence for each field that some lack.

        Raises:
            DataError: a condition on a field that no post has.
        """
        return left_out(filter, self._dataset)

    def _ids(self, places: np.ndarray) -> list[str]:
        taken = self._dataset.take(places, columns=["id"]) if len(places) else None
        return [] if taken is None else list(taken.column("id").to_pylist())

    def scores(
        self, articles: Sequence[Article], passages: Passages = "whole", fusion: Fusion = "none"
    ) -> np.ndarray:
        """The mean score of every post over the articles: float32, one per post in the order of the store."""
        with self._engine:
            if self._parts.plain:
                scores = self._engine.scores(self._vectors, self._query(articles, passages))
            else:
                scores = scores_of_parts(self._parts, articles, passages, self._engine)
        if fusion == "none":
            return scores
        return self._fused(articles, [scores[run] for run in sample(len(self))])(scores)

    @property
    def index(self) -> Index:
        """What approximate search goes by.

        Raises:
            LinkerError: there is none, or it is damaged.
        """
        if self._index is None:
            self._index = Index.open(self.store.folder)
        return self._index

    def make_index(self, articles: AnyArticles | None = None) -> Facts:
        """Make the index for approximate search, or make it anew with the posts added since; measure its recall.

        Args:
            articles: to ask for, as for `rank`, besides posts of the corpus; half of each sets how many candidates
                there must be, half is measured.

        Raises:
            LinkerError: an article that cannot be read, or the folder cannot be written to, or another process does.
        """
        given = None if articles is None else self._parts.first.article_vectors(as_articles(articles))
        self._index = None
        with self.store.writing():
            return make_index(self.store.folder, self._vectors, self.store.facts.similarity, given)

    def _all(
        self, articles: Sequence[Article], passages: Passages, fusion: Fusion, places: np.ndarray | None
    ) -> Scored:
        if fusion == "none" and self._parts.plain:
            return self._engine.scored(self._vectors, self._query(articles, passages), places)
        scores = self.scores(articles, passages, fusion)
        if places is not None:
            scores = scores[places]
        return lambda count: (scores, places)

    def _near(
        self, articles: Sequence[Article], passages: Passages, fusion: Fusion, places: np.ndarray | None
    ) -> Scored:
        index, query = self.index, self._query(articles, passages)
        own = with_other_parts(self._parts, articles, passages)
        fuse = own
        if fusion != "none":
            runs = sample(len(self))
            some = [own(exact_scores(self._vectors, query, run.start, run.stop), run) for run in runs]
            fused = self._fused(articles, some)

            def fuse(scores: np.ndarray, places: np.ndarray | slice) -> np.ndarray:
                return fused(own(scores, places), places)

        if places is None and index.facts.rows > len(self):  # made by somebody who sees more posts
            places = np.arange(len(self))
        return Search(index, self._vectors, query, places, fuse).best

    def _fused(self, articles: Sequence[Article], sampled: Sequence[np.ndarray]) -> Fused:
        words = self._parts.postings("english").scores(articles)
        return Fused(words, np.concatenate(sampled))

    def _query(self, articles: Sequence[Article], passages: Passages) -> Query:
        pieces, starts = pieces_of(articles, passages)
        vectors = self._parts.first.article_vectors(pieces)
        assert vectors is not None  # the fingerprint says that it has vectors
        how: Literal["best", "mean"] = "mean" if passages == "mean" else "best"
        return Query(np.split(vectors, starts[1:]), self.store.facts.similarity, how)

    def _group_of_each(self) -> np.ndarray:
        if self._groups is None:
            self._groups = Groups(self.store.folder).complete(self._dataset)
        return self._groups
