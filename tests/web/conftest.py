"""A small session, its app, and what tests send to it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from linker.annotation.session.session import Session
from linker.data.io.columns import PostColumns
from linker.data.types import Article, Post
from linker.web.app import Served, create_app
from tests.helpers.browser import Browser, Site

ARTICLE = Article(
    "otters",
    "Two otters were filmed below the weir at Marrow.\n\nThe river keepers counted salmon and saw otters instead.",
    "Otters return to the river",
    "https://news.example/otters",
)
TEXT = f"{ARTICLE.title}\n\n{ARTICLE.text}"
ABOUT = ["otters", "river", "weir", "keepers", "salmon"]


def make_posts(number: int = 30) -> list[Post]:
    """Posts of which every third talks about the article."""
    posts, words = [], random.Random(1)
    for i in range(number):
        filler = " ".join(
            "".join(words.choices("abdegiklmnoprstu", k=6)) for _ in range(6)
        )  # no near-duplicates
        text = (
            f"The {ABOUT[i % 5]} and otters, sighting {i}: {filler}"
            if i % 3 == 0
            else f"Bus {i} is late. {filler}"
        )
        extra = {"lang": "en" if i % 2 else "de"}
        posts.append(
            Post(f"p{i}", text, created_at=datetime(2031, 3, 1 + i % 28, tzinfo=timezone.utc), extra=extra)
        )
    return posts


def rows_of(posts: list[Post]) -> str:
    """Posts as JSON lines."""
    times = ({"created_at": str(post.created_at)} if post.created_at else {} for post in posts)
    rows = ({"id": post.id, "text": post.text, **time, **post.extra} for post, time in zip(posts, times))
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of sixty posts."""
    from linker.corpus.builder import build_corpus

    place = tmp_path_factory.mktemp("served")
    (place / "posts.jsonl").write_text(rows_of(make_posts(60)))
    build_corpus(place / "otters", [str(place / "posts.jsonl")], "distilled", PostColumns())
    return place / "otters"


@pytest.fixture
def make_session(tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Makes sessions, and closes them."""
    opened = []

    def make(posts: list[Post] | None = None, name: str = "otters", **options: Any) -> Session:
        options = {"guidelines": "# What counts\n- The otters\n- **Not** the bus", "model": "bm25", **options}
        session = Session.create(tmp_path / name, [ARTICLE], posts or make_posts(), **options)
        opened.append(session)
        return session

    yield make
    for session in opened:
        session.close()


class Client(TestClient):
    """A browser on the page: it names its host and sends the page's header."""

    def __init__(self, app: Any) -> None:
        super().__init__(app, base_url="http://127.0.0.1:8123", headers={"X-Linker": "1"})
        self.number = 0

    def action(self, kind: str, post: str = "", value: str | None = None, **more: Any) -> dict[str, Any]:
        """An action with an id of its own."""
        self.number += 1
        one = {
            "id": f"action-{self.number:04}",
            "annotator": "Ada",
            "kind": kind,
            "post": post,
            "value": value,
        }
        return {**one, **more}

    def sync(
        self, *actions: dict[str, Any], annotator: str = "Ada", count: int = 3, key: str = "otters"
    ) -> Any:
        """What the server answers to these."""
        body = {"annotator": annotator, "actions": actions, "count": count}
        response = self.post(f"/api/sessions/{key}/sync", json=body)
        assert response.status_code == 200, response.text
        return response.json()

    def listed(self, **wanted: Any) -> list[str]:
        """The ids of the posts that a filter lets through."""
        return [post["id"] for post in self.posts(**wanted)]

    def posts(self, **wanted: Any) -> list[dict[str, Any]]:
        """The posts that a filter lets through, as Ada sees them."""
        params = {"annotator": "Ada", **wanted}
        return list(self.get("/api/sessions/otters/posts", params=params).json()["posts"])


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    """A session of thirty posts."""
    return make_session()


@pytest.fixture
def client(session: Session) -> Client:
    """A client of a server with that session."""
    return Client(create_app(Served([session])))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """The browser, of which nothing may have failed by the end. Every test's server has a port of its own, so
    nothing is left in its store from the test before."""
    chromium.size(1280, 900)
    chromium.prefer("light")
    chromium.driver.get("about:blank")  # the page of the test before still asks its server, which has ended
    chromium.complaints()
    yield chromium
    assert_nothing_failed(chromium)


def assert_nothing_failed(browser: Browser) -> None:
    """But for requests to a server that has ended."""
    ended = ("ERR_CONNECTION", "Failed to fetch")
    assert [one for one in browser.complaints() if not any(part in one for part in ended)] == []


@pytest.fixture
def other_browser() -> Iterator[Browser]:
    """A profile of its own, for the second person."""
    browser = Browser()
    yield browser
    try:
        assert_nothing_failed(browser)
    finally:
        browser.quit()


@pytest.fixture
def serve(make_session: Callable[..., Session]) -> Iterator[Callable[..., Site]]:
    sites = []

    def start(posts: list[Post] | None = None, token: str | None = None, **options: Any) -> Site:
        sites.append(Site(make_session(posts, **options), token))
        return sites[-1]

    yield start
    for site in sites:
        if site.server.thread.is_alive():
            site.stop()
