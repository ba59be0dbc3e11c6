"""Every command that scores posts uses the same model where none is named."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from linker.annotation.session.session import Session
from linker.models.pretrained import BEST
from linker.web.api.rankings import Rankings
from linker.web.api.sessions import Sessions

POSTS = [
    "The council closed the bridge", "Rain all day", "Cracks in the pier of the bridge",
    "What a goal", "Bridge!", "Wet",
]  # fmt: skip


def test_sessions_and_the_page_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., tuple[int, str, str]]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("article.txt").write_text("Bridge closed\n\nThe council closed the old bridge because of cracks.\n")
    posts = [{"id": str(number), "text": text} for number, text in enumerate(POSTS)]
    Path("posts.jsonl").write_text("".join(json.dumps(post) + "\n" for post in posts))
    assert inspect.signature(Session.create).parameters["model"].default == BEST
    assert Rankings(Sessions()).models()[0] == BEST
    inputs = ("--article", "article.txt", "--posts", "posts.jsonl")
    assert "no --model given: scoring with `best`" in command("annotate", "start", "job", *inputs)[2]
    with Session.open("job") as session:
        assert session.settings.model == BEST
        assert session.pool.vectors is not None
        assert session.next("kim")[0].post.id in {"0", "2", "4"}
