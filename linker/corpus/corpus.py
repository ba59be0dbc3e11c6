"""`Corpus`: posts encoded once that can be ranked for any article."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from typing_extensions import Unpack

from linker.articles.publication import Published
from linker.calibration.calibration import Calibration
from linker.common.errors import DataError, ModelError
from linker.corpus.filters import left_out
from linker.corpus.storage.store import Store
from linker.corpus.table import CorpusTable
from linker.data.post_filter import Filter
from linker.data.types import Article
from linker.models.files.resolve import resolve_model
from linker.models.model import Model
from linker.ranking.inputs import AnyArticles, as_articles, check_path, type_name
from linker.ranking.request import RankOptions, RankRequest, check_names
from linker.ranking.results import Ranking
from linker.ranking.search import search


class Corpus:
    """An open corpus; it sees the posts that were in it when it was opened.

    Raises:
        DataError: if the corpus has no posts, or `store` is not one that `open` gives.
    """

    def __init__(self, store: Store, model: Model, name: str = "model") -> None:
        if not isinstance(store, Store):
            raise DataError(f"store is {type_name(store)}; open a corpus with linker.Corpus.open(folder)")
        self.store, self.model, self.name = store, model, name
        shards = store.shards()
        if shards is None:
            raise DataError(f"{store.folder}: the corpus is empty; add posts with `linker corpus add`")
        self.table = CorpusTable(shards, model)
        self._counted: tuple[Calibration, CorpusTable] | None = None

    @classmethod
    def open(cls, folder: str | Path, model: str | Path | None = None) -> Corpus:
        """Open a corpus with the model that encoded it.

        Args:
            folder: the corpus.
            model: the model's current location, if it was moved.

        Returns:
            The corpus, with the posts that are in it now.

        Raises:
            DataError: if the corpus is not found or damaged.
            ModelError: if the model is not found or is another one.
        """
        check_path(folder, "folder")
        store = Store.open(Path(folder))
        location = str(store.facts.model if model is None else model)
        try:
            # The name in a corpus may be of anyone: only a name that the user gives is looked up on a hub.
            reference = resolve_model(location, connect=model is not None)
        except ModelError as error:
            if model is not None:
                raise
            raise ModelError(
                f"{folder}: the model that encoded it is no longer at {location}; give its location with --model"
            ) from error
        if reference.fingerprint != store.facts.fingerprint:
            raise ModelError(
                f"{location}: is not the model that encoded {folder}; vectors of two models cannot be compared. "
                "Give the right one, or build the corpus again"
            )
        return cls(store, reference.load(), reference.file_name)

    def __len__(self) -> int:
        return len(self.table)

    def refreshed(self) -> Corpus:
        """Return the corpus with the posts that are in it now: itself if it has not changed since it was opened."""
        newest = self.store.dataset()
        if newest is None or newest.version == self.table.dataset.version:
            return self
        return Corpus(self.store, self.model, self.name)

    def rank(
        self,
        article: AnyArticles,
        top: int | None = 20,
        *,
        published: Published | None = None,
        **options: Unpack[RankOptions],
    ) -> Ranking:
        """Rank the posts of the corpus, best first; equal scores in descending order of ids.

        Up to 4,096 posts are read at once; a longer ranking is read while iterating.

        Args:
            article: see `Ranker.rank`.
            top: number of posts to return; None: all.
            published: see `Ranker.rank`.
            options: those of `RankRequest`, by name.

        Returns:
            The ranking; posts are read from the store when they are accessed.

        Raises:
            LinkerError: as `Ranker.rank`; or if the SQL condition is invalid.
        """
        check_names(options, RankOptions)
        return self.answer(as_articles(article, published), RankRequest(top, **options))

    def answer(self, articles: Sequence[Article], request: RankRequest) -> Ranking:
        """Rank as `rank` does, with its options in one object."""
        return search(self.model, self._table_for(request), articles, request, self.name)

    def _table_for(self, request: RankRequest) -> CorpusTable:
        """Return the posts, with the counts of words of the request's calibration, if there is one."""
        calibration = request.calibration
        request.check_model(self.store.facts.fingerprint)
        if calibration is None or not (words := calibration.reported_words()):
            return self.table
        if self._counted is None or self._counted[0] is not calibration:
            self._counted = calibration, self.table.counted_by(words)
        return self._counted[1]

    def left_out(self, filter: Filter) -> list[str]:
        """Return a sentence for each field of the filter that some posts lack, with their number.

        Raises:
            DataError: if the filter names a field that no post has.
        """
        return left_out(filter, self.table.dataset)
