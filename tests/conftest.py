"""What several tests need: tiny articles and posts whose words tell which belong together."""

import os
import random
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from linker.data.types import Article, LinkedPosts, Post
from tests.helpers.article_pages import article_html, site

__all__ = ["article_html", "site"]

# A busy machine is no fault: no example has a time limit, neither in running nor in being made.
settings.register_profile(
    "linker", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.load_profile("linker")

TOPICS = ("harbour", "orchard", "glacier", "railway", "theatre", "volcano")


def toy_posts(seed: int = 0, articles_per_topic: int = 3, posts_per_article: int = 3) -> LinkedPosts:
    """Articles on a few topics and posts about them that share the topic's words, besides unrelated chatter."""
    rng = random.Random(seed)
    filler = [f"w{i}" for i in range(60)]
    articles, posts = [], []
    for topic in TOPICS:
        words = [f"{topic}{i}" for i in range(8)]
        for number in range(articles_per_topic):
            own = f"{topic}-{number}"
            text = " ".join(rng.choices(words, k=12) + rng.choices(filler, k=30) + [own])
            day = datetime(2031, 5, 1 + number, tzinfo=timezone.utc)
            articles.append(Article(own, text, title=f"{topic} news {number}", published=day, story=topic))
            for k in range(posts_per_article):
                text = " ".join(rng.choices(words, k=3) + rng.choices(filler, k=4))
                posts.append(Post(f"{own}-p{k}", text, (own,), created_at=day))
    posts += [Post(f"chatter-{k}", " ".join(rng.choices(filler, k=6))) for k in range(6)]
    return LinkedPosts(articles, posts)


def pytest_configure(config: pytest.Config) -> None:
    """Share the cores among the processes of `pytest -n`: torch would start one thread per core in each of them."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    if processes > 1:
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // processes)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Seed torch before the fixtures of a test: what it draws does not depend on the tests before it."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give `pytest -n 3 --dist loadgroup` an order in which all processes end at the same time.

    Tests that share a fixture of their module run in one process, which makes it once. Notebooks begin early.
    """
    for item in items:
        fixtures = getattr(item, "_fixtureinfo", None)
        shared = fixtures and {
            definition.argname
            for definitions in fixtures.name2fixturedefs.values()
            for definition in definitions
            if definition.scope == "module"
        }
        if shared:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    items.sort(key=lambda item: item.get_closest_marker("notebook") is None)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Packed bytes hold the time at which they were packed: as names of tests they would differ between processes."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def toy() -> LinkedPosts:
    return toy_posts()
