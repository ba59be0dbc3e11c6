"""Every command that scores posts uses the same model where none is named."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from linker.annotation.session.session import Session
from linker.cli.main import main
from linker.models.pretrained import BEST
from linker.web.api.rankings import Rankings
from linker.web.api.sessions import Sessions

POSTS = [
    "The council closed the bridge",
    "Rain all day",
    "Cracks in the pier of the bridge",
    "What a goal",
    "Bridge!",
    "Wet",
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("article.txt").write_text("Bridge closed\n\nThe council closed the old bridge because of cracks.\n")
    articles = [
        {"id": "a", "title": "Bridge closed", "text": "The council closed the old bridge."},
        {"id": "b", "title": "Rain for a week", "text": "It will rain all day."},
        {"id": "c", "title": "Late goal", "text": "The striker shot a goal in the last minute."},
    ]
    posts = [{"id": str(i), "text": text, "article_id": "abacab"[i]} for i, text in enumerate(POSTS)]
    for name, records in (("articles", articles), ("posts", posts)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    monkeypatch.setattr("sys.argv", ["linker", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    output = capsys.readouterr()
    assert not ended.value.code, output.err
    return output.out + output.err


def test_sessions_and_the_page_use_it(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert inspect.signature(Session.create).parameters["model"].default == BEST
    assert Rankings(Sessions()).models()[0] == BEST
    shown = run(
        monkeypatch, capsys, "annotate", "start", "job", "--article", "article.txt", "--posts", "posts.jsonl"
    )
    assert "no --model given: scoring with `best`" in shown
    with Session.open("job") as session:
        assert session.settings.model == BEST
        assert session.pool.vectors is not None
        assert session.next("kim")[0].post.id in {"0", "2", "4"}
