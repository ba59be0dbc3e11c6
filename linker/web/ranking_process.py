"""A process that ranks: the server stays fast meanwhile, and may end at any time (decision 113)."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from linker.common.errors import LinkerError
from linker.common.limited_process import LimitedProcess
from linker.config.registry import catalog
from linker.data.types import Article, Post

_NICENESS = 5
# Packing a part holds the interpreter, and labels wait for it.
_AT_ONCE = 1_000


class RankingProcess:
    """Ranks in a process of lower priority, one ranking at a time; it starts with the first one. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: LimitedProcess | None = None
        self._sent: dict[str, Sequence[Post]] = {}

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
            The ranking as a view, see `linker.web.serializers.ranking_view`.

        Raises:
            LinkerError: if they cannot be ranked, or the process was ended.
        """
        with self._lock:
            process = self._open()
            for part in self._parts(source, posts):
                process.send(part)
            process.send({"model": model, "article": _packed_article(article), "source": source, "top": top})
            reply = process.receive()
            if reply is None:
                self._end()
                raise LinkerError(
                    "the ranking was interrupted, perhaps for lack of memory; try again, or with fewer posts"
                )
        if "error" in reply:
            raise LinkerError(reply["error"])
        return reply

    def _open(self) -> LimitedProcess:
        if self._process is not None and self._process.has_ended():
            self._end()
        if self._process is None:
            # The same modules and components as here.
            code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve({catalog.included!r})"
            self._process = LimitedProcess([sys.executable, "-c", code])
            weakref.finalize(self, self._process.abandon)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
        self._process = None
        self._sent.clear()

    def _parts(self, source: str, posts: Sequence[Post]) -> Iterator[dict[str, Any]]:
        if self._sent.get(source) is posts:
            return
        for start in range(0, max(len(posts), 1), _AT_ONCE):
            part = [_packed(post) for post in posts[start : start + _AT_ONCE]]
            yield {"source": source, "posts": part, "first": start == 0}
        self._sent[source] = posts


def serve(packages: Sequence[str]) -> None:
    """Answer questions on standard input until it ends. The main function of the process.

    Args:
        packages: packages with components of models.
    """
    # Ctrl-C reaches all processes; the main one ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    # What a library prints must not be taken for a reply.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(messages,), daemon=True).start()
    answer = _Answers(packages)
    while True:
        if (reply := answer(json.loads(messages.get()))) is not None:
            replies.write(json.dumps(reply).encode() + b"\n")
            replies.flush()


def _receive(messages: queue.SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        messages.put(line)
    # The server has ended, perhaps in the middle of a ranking.
    os._exit(0)


class _Answers:
    """Holds the posts and the models of the process."""

    def __init__(self, packages: Sequence[str]) -> None:
        from linker.ranking.ranker import Ranker, load  # what only this process needs
        from linker.web.serializers import ranking_view

        for package in packages:
            catalog.include(package)
        self._load, self._view = load, ranking_view
        self._rankers: dict[str, Ranker] = {}
        self._posts: dict[str, list[Post]] = {}

    def __call__(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the reply to a question; None: the message has posts."""
        source = message["source"]
        if "posts" in message:
            if message["first"]:
                self._posts[source] = []
            self._posts[source] += map(_unpacked, message["posts"])
            return None
        model, article = message["model"], _unpacked_article(message["article"])
        try:
            if model not in self._rankers:
                self._rankers[model] = self._load(model)
            posts = self._posts[source]
            ranking = self._rankers[model].rank(article, posts, top=message["top"], explain=True)
            return self._view(ranking, article, len(posts))
        except LinkerError as error:
            return {"error": str(error)}
        except Exception as error:  # the page shows it
            return {"error": f"the posts cannot be ranked: {type(error).__name__}: {error}"}


def _packed(post: Post) -> list[str | None]:
    """Return what rankings and their views need of a post."""
    return [post.id, post.text, _packed_time(post.created_at), post.language]


def _packed_time(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _unpacked(packed: Sequence[Any]) -> Post:
    id_, text, created, language = packed
    return Post(
        id_,
        text,
        created_at=created and datetime.fromisoformat(created),
        extra=(language and {"lang": language}) or {},
    )


def _packed_article(article: Article) -> dict[str, Any]:
    published = _packed_time(article.published)
    return {
        "id": article.id,
        "text": article.text,
        "title": article.title,
        "url": article.url,
        "published": published,
    }


def _unpacked_article(packed: Mapping[str, Any]) -> Article:
    published = packed["published"] and datetime.fromisoformat(packed["published"])
    return Article(**{**packed, "published": published})
