"""Searches of a corpus by visitors of the server."""

import threading
import time
from pathlib import Path
from typing import Any, Literal

from linker.common.concurrency import cores, one_thread
from linker.common.files import real_path
from linker.corpus.corpus import Corpus
from linker.corpus.info import summarize
from linker.data.types import Article
from linker.ranking.formats.records import record
from linker.ranking.output import write_rankings
from linker.ranking.request import RankRequest
from linker.web.api.views import article_view

ExportFormat = Literal["csv", "jsonl", "xlsx", "parquet", "trec"]
_REFRESH_SECONDS = 10.0
"""Time between two looks for posts that were added to the corpus."""


class CorpusSearch:
    """Answers searches of one corpus; posts that are added to it are found within seconds.

    As many searches as there are cores run at once, each on one core: two threads of one search would take twice the
    processor time (decision 113).

    Args:
        folder: the corpus.
        model: the model's current location, if it was moved.

    Raises:
        LinkerError: as `Corpus.open`.
    """

    def __init__(self, folder: Path, model: str | None = None) -> None:
        with one_thread():
            self._corpus = Corpus.open(folder, model)
        self.name = real_path(folder).name
        self._summary = summarize(self._corpus.store)
        self._refreshed = time.monotonic()
        self._lock = threading.Lock()
        self._cores = threading.BoundedSemaphore(cores())

    def about(self) -> dict[str, Any]:
        """Return the number, times and languages of the posts, and the model."""
        corpus = self._current()
        with self._lock:
            if len(corpus) != self._summary.posts:
                self._summary = summarize(corpus.store)
            summary = self._summary
        return {
            "name": self.name,
            "posts": summary.posts,
            "first": summary.first.isoformat() if summary.first else None,
            "last": summary.last.isoformat() if summary.last else None,
            "languages": dict(summary.languages),
            "model": corpus.name,
        }

    def search(self, article: Article, request: RankRequest) -> dict[str, Any]:
        """Return the article, and its posts with all fields, best first.

        With explanations, posts have `parts`: their text in segments, as (text, whether it is marked).

        Raises:
            LinkerError: if options do not fit the corpus.
        """
        corpus, posts = self._current(), []
        with self._cores:
            ranking = corpus.answer([article], request)
            for ranked in ranking:
                posts.append(record(ranked))
                if ranked.explanation is not None:
                    posts[-1]["parts"] = ranked.segments
                    posts[-1]["decided_by"] = ranked.explanation.decided_by
            notes = corpus.left_out(request.filter) if request.filter else []
        words = ranking[0].explanation.article_words if posts and ranking[0].explanation else []
        return {
            "article": {**article_view(article), "words": words},
            "posts": posts,
            "total": len(corpus),
            "model": corpus.name,
            "dates": ranking.scale.dates,
            "meaning": ranking.meaning,
            "notes": notes,
        }

    def export(self, article: Article, request: RankRequest, path: Path, format_: ExportFormat) -> Path:
        """Write a ranking to a file.

        Raises:
            LinkerError: as `search`.
        """
        corpus = self._current()
        with self._cores:
            write_rankings([corpus.answer([article], request)], path, format_)
        return path

    def _current(self) -> Corpus:
        with self._lock:
            if time.monotonic() - self._refreshed > _REFRESH_SECONDS:
                self._refreshed = time.monotonic()
                self._corpus = self._corpus.refreshed()
            return self._corpus
