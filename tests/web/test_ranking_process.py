"""Rankings in a process of their own: what the process knows, and what happens when it ends."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path

import pytest

from linker.common.errors import LinkerError
from linker.common.limited_process import LimitedProcess
from linker.data.types import Article, Post
from linker.ranking.ranker import load
from linker.web.ranking_process import RankingProcess
from linker.web.serializers import ranking_view

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


@pytest.fixture
def process() -> Iterator[RankingProcess]:
    made = RankingProcess()
    yield made
    made._end()


def ids(process: RankingProcess, posts: Sequence[Post], source: str = "posts") -> list[str]:
    return [post["id"] for post in process.rank("bm25", ARTICLE, source, posts, 10)["posts"]]


def test_a_ranking_is_that_of_this_process(process: RankingProcess) -> None:
    expected = ranking_view(load("bm25").rank(ARTICLE, POSTS, top=2, explain=True), ARTICLE, 3)
    found = process.rank("bm25", ARTICLE, "posts", POSTS, 2)
    assert found["posts"] == [
        {**one, "parts": [list(part) for part in one["parts"]]} for one in expected["posts"]
    ]
    assert found["article"] == expected["article"]
    assert (found["total"], found["model"], found["meaning"]) == (3, "bm25", expected["meaning"])


def test_posts_are_sent_once_and_again_when_they_change(
    process: RankingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    send = LimitedProcess.send

    def count(self: LimitedProcess, message: dict[str, object], body: bytes = b"") -> None:
        sent.append(len(message.get("posts", ())))  # type: ignore[arg-type]
        send(self, message, body)

    monkeypatch.setattr(LimitedProcess, "send", count)
    monkeypatch.setattr("linker.web.ranking_process._AT_ONCE", 2)
    assert set(ids(process, POSTS)) == {"1", "2", "3"}
    assert set(ids(process, POSTS)) == {"1", "2", "3"}
    assert sent == [2, 1, 0, 0]
    assert ids(process, POSTS[:1]) == ["1"]
    assert set(ids(process, POSTS[1:], "others")) == {"2", "3"}
    with pytest.raises(LinkerError, match="no post"):
        ids(process, [])


def test_errors_are_messages_and_the_next_ranking_works(process: RankingProcess, tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match="nowhere"):
        process.rank(str(tmp_path / "nowhere"), ARTICLE, "posts", POSTS, 1)
    assert process._process is not None
    first = process._process._child
    assert set(ids(process, POSTS)) == {"1", "2", "3"}
    assert process._process._child is first


def test_a_process_that_was_killed_is_replaced(process: RankingProcess) -> None:
    ids(process, POSTS)
    assert process._process is not None
    process._process._child.kill()
    process._process._child.wait()
    assert set(ids(process, POSTS)) == {"1", "2", "3"}


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_ranking_whose_process_is_killed_says_so(
    process: RankingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive = LimitedProcess.receive

    def killed(self: LimitedProcess) -> dict[str, object] | None:
        os.kill(self._child.pid, signal.SIGKILL)
        return receive(self)

    with monkeypatch.context() as patch:
        patch.setattr(LimitedProcess, "receive", killed)
        with pytest.raises(LinkerError, match=r"the ranking was interrupted.*try again"):
            ids(process, POSTS)
    assert set(ids(process, POSTS)) == {"1", "2", "3"}


@pytest.mark.skipif(not hasattr(os, "nice"), reason="no priorities")
def test_rankings_have_a_lower_priority_than_labels(process: RankingProcess) -> None:
    ids(process, POSTS)
    assert process._process is not None
    assert os.getpriority(os.PRIO_PROCESS, process._process._child.pid) >= min(os.nice(0) + 5, 19)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_the_process_ends_with_the_server() -> None:
    made = RankingProcess()
    ids(made, POSTS)
    assert made._process is not None
    child = made._process._child
    del made
    for _ in range(100):
        if child.poll() is not None:
            break
        time.sleep(0.1)
    assert child.poll() is not None
