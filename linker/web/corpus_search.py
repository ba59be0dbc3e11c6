"""Searches of a corpus by visitors of the server."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from linker.common.concurrency import cores, one_thread
from linker.common.files import real_path
from linker.corpus.corpus import Corpus
from linker.corpus.info import summarize
from linker.data.types import Article
from linker.ranking.formats.records import record
from linker.ranking.ranked_post import RankedPost
from linker.ranking.request import RankRequest
from linker.web.ranking_api import read_article
from linker.web.serializers import article_view, highlight_segments

ExportFormat = Literal["csv", "jsonl", "xlsx", "parquet", "trec"]
_REFRESH_SECONDS = 10.0
"""Time between two looks for posts that were added to the corpus."""
_KEPT = 128
"""Pages of results that are kept: a page of 20 explained posts takes about 30 kB, the largest one ten times as much."""


@dataclass(frozen=True)
class CorpusQuery:
    """A search.

    Attributes:
        article: a text, or the address of a page of the public internet.
        request: which posts to return.
        published: when the article was published; empty: by the page.
    """

    article: str
    request: RankRequest
    published: str = ""


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
        self._results: OrderedDict[tuple[Article, RankRequest], dict[str, Any]] = OrderedDict()

    def about(self) -> dict[str, Any]:
        """Return the number, times and languages of the posts, and the model."""
        corpus = self._current()
        with self._lock:
            if len(corpus) != self._summary.posts:
                self._summary = summarize(corpus.store)
            found = self._summary
        return {
            "name": self.name,
            "posts": found.posts,
            "first": found.first.isoformat() if found.first else None,
            "last": found.last.isoformat() if found.last else None,
            "languages": dict(found.languages),
            "model": corpus.name,
        }

    def search(self, query: CorpusQuery) -> dict[str, Any]:
        """Return the article as it was read, and the posts, best first.

        Raises:
            LinkerError: if the article cannot be read, or options do not fit the corpus.
        """
        article, request = read_article(query.article, query.published), query.request
        corpus = self._current()
        if (kept := self._kept(corpus, article, request)) is not None:
            return kept
        with self._cores:
            ranking = corpus.answer([article], request)
            posts = [_view(ranked) for ranked in ranking]
            notes = corpus.left_out(request.filter) if request.filter else []
        words = ranking[0].explanation.article_words if posts and ranking[0].explanation else []
        found = {
            "article": {**article_view(article), "words": words},
            "posts": posts,
            "total": len(corpus),
            "model": corpus.name,
            "dates": not request.ignore_dates and corpus.uses_dates([article]),
            "meaning": ranking.meaning,
            "notes": notes,
        }
        self._keep(corpus, article, request, found)
        return found

    def _kept(self, corpus: Corpus, article: Article, request: RankRequest) -> dict[str, Any] | None:
        """Return the results of an equal search of the same posts, if they are kept."""
        with self._lock:
            if corpus is not self._corpus or (article, request) not in self._results:
                return None
            self._results.move_to_end((article, request))
            return self._results[article, request]

    def _keep(self, corpus: Corpus, article: Article, request: RankRequest, found: dict[str, Any]) -> None:
        with self._lock:
            if corpus is self._corpus:
                self._results[article, request] = found
            if len(self._results) > _KEPT:
                self._results.popitem(last=False)

    def export(self, query: CorpusQuery, format_: ExportFormat) -> Path:
        """Write a ranking to a temporary file, which the caller removes.

        Raises:
            LinkerError: as `search`.
        """
        article = read_article(query.article, query.published)
        handle, name = tempfile.mkstemp(prefix="linker-export-", suffix=f".{format_}")
        os.close(handle)
        path = Path(name)
        try:
            corpus = self._current()
            with self._cores:
                corpus.answer([article], query.request).write(path, format_)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path

    def _current(self) -> Corpus:
        with self._lock:
            if time.monotonic() - self._refreshed > _REFRESH_SECONDS:
                self._refreshed = time.monotonic()
                newest = self._corpus.refreshed()
                if newest is not self._corpus:
                    self._corpus = newest
                    self._results.clear()
            return self._corpus


def _view(ranked: RankedPost) -> dict[str, Any]:
    """Return all fields of a post; with an explanation also its text in segments, as (text, 1 if marked)."""
    view = record(ranked)
    if ranked.explanation is not None:
        view["parts"] = highlight_segments(ranked.post.text, ranked.explanation.post_spans)
        view["decided_by"] = ranked.explanation.decided_by
    return view
