"""Rankings in a process of their own, so that the server stays fast (decision 113)."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linker.annotation.worker import InterruptedWorkError, Worker
from linker.common.errors import LinkerError
from linker.data.types import Article, Post

if TYPE_CHECKING:
    from linker.ranking.ranker import Ranker

# Packing a part holds the interpreter, and labels wait for it.
_AT_ONCE = 1_000
# Those of the process that ranks.
_posts: dict[str, list[Post]] = {}
_rankers: dict[str, Ranker] = {}


class RankingProcess:
    """Ranks in a process of lower priority, one ranking at a time; it starts with the first one. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker = Worker()
        self._sent: dict[str, Sequence[Post]] = {}
        weakref.finalize(self, self._worker.stop)

    def rank(
        self, model: str, article: Article, source: str, posts: Sequence[Post], top: int
    ) -> dict[str, Any]:
        """Rank posts.

        Args:
            model: name or path of a model.
            article: the query.
            source: name of the posts; they are sent once, unless it gets others.
            posts: the posts.
            top: number of posts to return.

        Returns:
            The ranking as `linker.web.api.views.ranking_view`.

        Raises:
            LinkerError: if they cannot be ranked, or the process was ended.
        """
        return self._answer(_rank, source, posts, model, article, top)

    def select(
        self,
        model: str,
        articles: Sequence[Article],
        source: str,
        posts: Sequence[Post],
        options: Mapping[str, Any],
        out: Path | None = None,
    ) -> dict[str, Any]:
        """Rank posts by the options of a request, and write the ranking to a file.

        Args:
            model: as for `rank`.
            articles: the articles, one query.
            source: as for `rank`.
            posts: as for `rank`.
            options: those of `RankRequest`.
            out: the file, whose ending chooses the format; None: nothing is written.

        Returns:
            `kept` and `total` numbers of posts, the `sentence` of the threshold and the `basis` of its estimates.

        Raises:
            LinkerError: as `rank`; if labels are missing or no threshold reaches the target.
        """
        return self._answer(_select, source, posts, model, articles, options, out)

    def _answer(
        self, function: Callable[..., dict[str, Any]], source: str, posts: Sequence[Post], *arguments: Any
    ) -> dict[str, Any]:
        with self._lock:
            if not self._worker.is_running():
                self._sent.clear()
            try:
                if self._sent.get(source) is not posts:
                    for start in range(0, max(len(posts), 1), _AT_ONCE):
                        self._worker.call(_receive, source, posts[start : start + _AT_ONCE], start)
                    self._sent[source] = posts
                return self._worker.call(function, source, *arguments)
            except InterruptedWorkError as error:
                raise LinkerError(
                    "the ranking was interrupted, perhaps for lack of memory; try again, or with fewer posts"
                ) from error


def _receive(source: str, part: Sequence[Post], start: int) -> None:
    _posts[source] = [*_posts.get(source, [])[:start], *part]


def _rank(source: str, model: str, article: Article, top: int) -> dict[str, Any]:
    from linker.web.api.views import ranking_view  # what only the process needs

    posts = _posts[source]
    return ranking_view(_ranker(model).rank(article, posts, top=top, explain=True), article, len(posts))


def _select(
    source: str, model: str, articles: Sequence[Article], options: Mapping[str, Any], out: Path | None
) -> dict[str, Any]:
    from linker.ranking.output import format_of, write_rankings
    from linker.ranking.request import RankRequest

    ranking = _ranker(model).answer(articles, _posts[source], RankRequest(**options))
    if out is not None:
        write_rankings([ranking], out, format_of(out, None))
    return {
        "kept": len(ranking),
        "total": len(_posts[source]),
        "sentence": ranking.threshold.sentence if ranking.threshold else "",
        "basis": ranking.thresholds.basis if ranking.thresholds else "",
    }


def _ranker(model: str) -> Ranker:
    from linker.ranking.ranker import load

    if model not in _rankers:
        _rankers[model] = load(model)
    return _rankers[model]
