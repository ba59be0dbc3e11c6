"""Small sessions for tests; their folder is made once and copied."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from linker.annotation.session.events import Event
from linker.annotation.session.session import Session
from linker.annotation.session.session_file import SessionFile
from linker.data.types import Article, Post

ARTICLE = Article(
    "bridge", "The council closed the old bridge because of cracks in its pier.", "Bridge closed"
)
_TOPICS = [
    "cracks in the old bridge, number {}",
    "what a goal by striker {}",
    "council meets for the {} time about the pier",
    "rain again, day {}",
]
POSTS = [Post(f"p{i}", _TOPICS[i % 4].format(f"w{i}") + f" x{i * 7}") for i in range(40)]
POSTS[0] = Post("p0", POSTS[0].text + " closed by the council")  # has the best score; others are tied
POSTS.insert(5, Post("p0copy", POSTS[0].text + " http://t.example/1"))

_kept: list[TemporaryDirectory[str]] = []


@cache
def _template(overlap: float, rule: str, strategy: str) -> Path:
    _kept.append(TemporaryDirectory())
    folder = Path(_kept[-1].name) / "session"
    Session.create(
        folder, [ARTICLE], POSTS, "bm25", strategy=strategy, rule=rule, overlap=overlap,
        guidelines="Relevant: about the *bridge*.",
    ).close()  # fmt: skip
    return folder


def create(folder: Path, **options: Any) -> Session:
    return Session.create(folder, [ARTICLE], POSTS, "bm25", **options)


def fresh(
    folder: Path, overlap: float = 0.0, rule: str = "recall", strategy: str = "seed_similarity"
) -> Path:
    """A session folder in which nothing is labeled yet."""
    shutil.copytree(_template(overlap, rule, strategy), folder)
    return folder


def events_in(folder: Path) -> list[Event]:
    """What was done in a session, without assignments."""
    with SessionFile(folder) as file:
        return [event for event in file.news() if event.kind != "assign"]
