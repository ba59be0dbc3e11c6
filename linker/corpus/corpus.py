"""`Corpus`: posts encoded once that can be ranked for any article."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from linker.articles.publication import Published
from linker.calibration.calibration import Calibration
from linker.calibration.thresholds import Thresholds
from linker.common.errors import DataError, LinkerError, ModelError
from linker.corpus.engines.engine import Engine
from linker.corpus.fingerprint import fingerprint
from linker.corpus.search.corpus_scores import CorpusScores
from linker.corpus.search.filters import Filter, left_out
from linker.corpus.search.fusion import Fusion
from linker.corpus.search.open_posts import OpenPosts
from linker.corpus.search.parts import PartsQuery, pieces_of
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import Store
from linker.data.languages import language_of
from linker.data.types import Article
from linker.models.files.resolve import resolve_model
from linker.models.model import Model
from linker.models.passage_pooling import Passages
from linker.models.score_scale import ScoreScale
from linker.models.word_statistics import counted_in
from linker.ranking.inputs import AnyArticles, as_articles
from linker.ranking.labels import AnyLabels
from linker.ranking.languages import warn_of_languages
from linker.ranking.request import RankRequest, rank_scored
from linker.ranking.results import Ranking


class Corpus:
    """An open corpus; it sees the posts that were in it when it was opened.

    Args:
        store: the folder.
        model: the model that encoded it.
        name: the model's name.
        engine: where posts are scored; None: in this process.

    Raises:
        DataError: if the corpus has no posts.
    """

    def __init__(self, store: Store, model: Model, name: str = "model", engine: Engine | None = None) -> None:
        self.store, self.model, self.name = store, model, name
        self._engine = engine or Engine()
        dataset = store.dataset()
        if dataset is None:
            raise DataError(f"{store.folder}: the corpus is empty; add posts with `linker corpus add`")
        self._posts = OpenPosts(
            dataset, Shards(store.folder, dataset), model, store.facts.similarity, self._engine
        )
        self._warned: set[tuple[str | None, ...]] = set()

    @classmethod
    def open(
        cls, folder: str | Path, model: str | Path | None = None, engine: Engine | None = None
    ) -> Corpus:
        """Open a corpus with the model that encoded it.

        Args:
            folder: the corpus.
            model: the model's current location, if it was moved.
            engine: where posts are scored by exact search; None: in this process.

        Returns:
            The corpus, with the posts that are in it now.

        Raises:
            DataError: if the corpus is not found or damaged.
            ModelError: if the model is not found or is another one.
        """
        store = Store.open(Path(folder))
        given = str(model or store.facts.model)
        try:
            # The name in a corpus may be of anyone: only a name that the user gives is looked up on a hub.
            found = resolve_model(given, connect=model is not None)
        except ModelError as error:
            if model is not None:
                raise
            raise ModelError(
                f"{folder}: the model that encoded it is no longer at {given}; give its location with --model"
            ) from error
        if fingerprint(found) != store.facts.fingerprint:
            raise ModelError(
                f"{given}: is not the model that encoded {folder}; vectors of two models cannot be compared. "
                "Give the right one, or build the corpus again"
            )
        return cls(store, found.load(), found.file_name, engine)

    def __len__(self) -> int:
        return len(self._posts)

    def refreshed(self) -> Corpus:
        """Return the corpus with the posts that are in it now: itself if it has not changed since it was opened."""
        newest = self.store.dataset()
        if newest is None or newest.version == self._posts.dataset.version:
            return self
        return Corpus(self.store, self.model, self.name, self._engine)

    def rank(
        self,
        article: AnyArticles,
        top: int | None = 20,
        offset: int = 0,
        threshold: float | None = None,
        precision: float | None = None,
        recall: float | None = None,
        labels: AnyLabels | None = None,
        calibration: Calibration | None = None,
        explain: bool = False,
        passages: Passages = "whole",
        filter: Filter | None = None,
        copies: bool = False,
        ignore_dates: bool = False,
        fusion: Fusion = "none",
        published: Published | None = None,
    ) -> Ranking:
        """Rank the posts of the corpus, best first; equal scores in descending order of ids.

        Up to 4,096 posts are read at once; a longer ranking is read while iterating.

        Args:
            article: see `Ranker.rank`.
            top: number of posts to return; None: all.
            offset: see `Ranker.rank`.
            threshold: see `Ranker.rank`.
            precision: see `Ranker.rank`.
            recall: see `Ranker.rank`.
            labels: see `Ranker.rank`.
            calibration: see `Ranker.rank`; calibrations are of the model's own scores, without fusion.
            explain: see `Ranker.rank`.
            passages: see `Ranker.rank`.
            filter: see `Ranker.rank`; may also have an SQL condition.
            copies: see `Ranker.rank`.
            ignore_dates: see `Ranker.rank`.
            fusion: `none`: the model's own scores, as without a corpus; `zscore`: plus BM25 scores, both standardized,
                see `fuse`; BM25 always reads whole articles.
            published: see `Ranker.rank`.

        Returns:
            The ranking; posts are read from the store when they are accessed.

        Raises:
            LinkerError: as `Ranker.rank`; or if the SQL condition is invalid.
        """
        request = RankRequest(
            top, offset, threshold, precision, recall, labels, calibration, explain, passages, filter, copies,
            ignore_dates,
        )  # fmt: skip
        return self.answer(as_articles(article, published), request, fusion)

    def answer(
        self,
        articles: Sequence[Article],
        request: RankRequest,
        fusion: Fusion = "none",
    ) -> Ranking:
        """Rank as `rank` does, with its options in one object.

        Args:
            articles: the articles, one query.
            request: the options.
            fusion: as for `rank`.

        Returns:
            The ranking, best first.

        Raises:
            LinkerError: as `rank`.
        """
        self.check(request, fusion)
        search = CorpusScores(self._posts, self.name, articles, request, fusion)
        languages = tuple(map(language_of, articles))
        if request.filter is not None or languages not in self._warned:
            warn_of_languages(self.model, articles, search.sample())
            if request.filter is None:
                self._warned.add(languages)
        with self._counted(request):
            return rank_scored(search, request)

    def thresholds(
        self,
        article: AnyArticles,
        labels: AnyLabels | None = None,
        calibration: Calibration | None = None,
        passages: Passages = "whole",
        filter: Filter | None = None,
        fusion: Fusion = "none",
        published: Published | None = None,
    ) -> Thresholds:
        """Return estimates of what thresholds on the scores keep and find; near-duplicates count one by one.

        Args:
            article: as for `rank`.
            labels: relevance of some of the posts by id.
            calibration: a calibration from `linker calibrate`, instead of labels.
            passages: as for `rank`.
            filter: as for `rank`.
            fusion: as for `rank`.
            published: as for `rank`.

        Raises:
            LinkerError: as `Ranker.thresholds`.
        """
        request = RankRequest(labels=labels, calibration=calibration, passages=passages, filter=filter)
        self.check(request, fusion)
        search = CorpusScores(self._posts, self.name, as_articles(article, published), request, fusion)
        with self._counted(request):
            return search.thresholds(request)

    def _counted(self, request: RankRequest) -> AbstractContextManager[None]:
        """Score by the counts of words of the request's calibration, if there is one, not of the corpus."""
        calibration = request.calibration
        return counted_in({} if calibration is None else calibration.reported_words())

    def check(self, request: RankRequest, fusion: Fusion = "none") -> None:
        """Check options before any work.

        Args:
            request: the options.
            fusion: as for `rank`.

        Raises:
            LinkerError: if they do not fit together or a calibration was made with another model.
        """
        request.check_model(self.store.facts.fingerprint)
        if request.calibration is not None and fusion != "none":
            raise LinkerError(
                "--fusion: a calibration is of the model's own scores; leave out --fusion or --calibration"
            )

    def uses_dates(self, articles: Sequence[Article]) -> bool:
        """Return whether scores depend on when the articles and the posts were published."""
        return self._posts.uses_dates(articles)

    def scale(self, articles: Sequence[Article], fusion: Fusion = "none") -> ScoreScale:
        """Return the map from `scores` to those that users see.

        Args:
            articles: the query.
            fusion: as for `rank`.
        """
        return self._posts.scale(articles, fusion)

    def left_out(self, filter: Filter) -> list[str]:
        """Return a sentence for each field of the filter that some posts lack, with their number.

        Raises:
            DataError: if the filter names a field that no post has.
        """
        return left_out(filter, self._posts.dataset)

    def scores(
        self, articles: Sequence[Article], passages: Passages = "whole", fusion: Fusion = "none"
    ) -> np.ndarray:
        """Return the mean raw score of every post over the articles: float32, one per post in the order of the store.

        Args:
            articles: the articles.
            passages: as for `rank`.
            fusion: as for `rank`.
        """
        pieces, starts = pieces_of(articles, passages)
        query = PartsQuery(self._posts.parts, pieces, self._engine)
        return self._posts.scores(query, starts, articles, passages, fusion)
