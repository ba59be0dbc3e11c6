"""Rankings in a process of their own: what the process knows, and what happens when it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from linker.annotation.worker import Worker
from linker.common.errors import LinkerError
from linker.data.types import Article, Post
from linker.ranking.ranker import load
from linker.web.api import ranking_process
from linker.web.api.ranking_process import RankingProcess
from linker.web.api.views import ranking_view

ARTICLE = Article(
    "a",
    "Otters were filmed below the weir.",
    "Otters",
    "https://x.example/",
    datetime(2026, 3, 1, tzinfo=timezone.utc),
)
POSTS = [
    Post("1", "late bus again"),
    Post("2", "otters! below the weir \ud83d", created_at=datetime(2026, 3, 2, tzinfo=timezone.utc)),
    Post("3", "una nutria en el río", extra={"lang": "es"}),
]


@pytest.fixture(scope="module")
def process() -> Iterator[RankingProcess]:
    made = RankingProcess()
    yield made
    made._worker.stop()


def ids(process: RankingProcess, posts: Sequence[Post], source: str = "posts") -> list[str]:
    return [post["id"] for post in process.rank("bm25", ARTICLE, source, posts, 10)["posts"]]


def child(process: RankingProcess) -> SpawnProcess:
    assert process._worker._process is not None
    return process._worker._process


def end(*_: object) -> None:
    os._exit(1)


def test_a_ranking_is_that_of_this_process_at_a_lower_priority(process: RankingProcess) -> None:
    expected = ranking_view(load("bm25").rank(ARTICLE, POSTS, top=2, explain=True), ARTICLE, 3)
    assert process.rank("bm25", ARTICLE, "posts", POSTS, 2) == expected
    if hasattr(os, "nice"):
        assert os.getpriority(os.PRIO_PROCESS, child(process).pid or 0) >= min(os.nice(0) + 5, 19)


def test_posts_are_sent_once_and_again_when_they_change(
    process: RankingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    call = Worker.call

    def count(worker: Worker, function: object, *arguments: object) -> object:
        sent.append(function.__name__)  # type: ignore[attr-defined]
        return call(worker, function, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Worker, "call", count)
    monkeypatch.setattr(ranking_process, "_AT_ONCE", 2)
    posts = [*POSTS]
    for _ in range(2):
        assert set(ids(process, posts)) == {"1", "2", "3"}
    assert sent == ["_receive", "_receive", "_rank", "_rank"]
    assert ids(process, posts[:1]) == ["1"]
    assert set(ids(process, posts[1:], "others")) == {"2", "3"}
    with pytest.raises(LinkerError, match="no post"):
        ids(process, [])


def test_errors_are_messages_and_the_process_goes_on(process: RankingProcess, tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match="nowhere"):
        process.rank(str(tmp_path / "nowhere"), ARTICLE, "posts", POSTS, 1)
    first = child(process)
    assert set(ids(process, POSTS)) == {"1", "2", "3"}
    assert child(process) is first


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_process_that_ends_is_replaced(process: RankingProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    ids(process, POSTS)
    with monkeypatch.context() as patch:
        patch.setattr(ranking_process, "_rank", end)
        with pytest.raises(LinkerError, match=r"the ranking was interrupted.*try again"):
            ids(process, POSTS)
    assert set(ids(process, POSTS)) == {"1", "2", "3"}
    child(process).kill()
    child(process).join()
    assert set(ids(process, POSTS)) == {"1", "2", "3"}


def test_the_process_ends_with_the_server() -> None:
    made = RankingProcess()
    made._worker.call(os.getpid)
    ended = child(made)
    del made
    ended.join(10)
    assert not ended.is_alive()
