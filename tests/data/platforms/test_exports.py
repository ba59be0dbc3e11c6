"""Documents on one line, and longer than what is looked at to recognize a format."""

import json
from pathlib import Path
from typing import Any

import pytest

from linker.data import Post, read_posts
from tests.data.platforms.exports import EXPORTS

MESSAGE = {
    "id": 1, "type": "message", "date": "2024-10-30T00:15:00", "date_unixtime": "1730247300", "from": "C",
    "from_id": "channel1", "text": "dam flood",
}  # fmt: skip
NOTE = {"id": "https://toots.example/notes/1", "type": "Note", "content": "<p>dam flood</p>"}
DOCUMENTS: dict[str, Any] = {
    "chat": {"name": "C", "type": "public_channel", "id": 7, "messages": [MESSAGE]},
    "all chats": {
        "about": "b",
        "chats": {"about": "b", "list": [{"name": "C", "type": "x", "id": 7, "messages": [MESSAGE]}]},
    },
    "outbox": {
        "@context": "https://www.w3.org/ns/activitystreams",
        "id": "outbox.json",
        "type": "OrderedCollection",
        "totalItems": 1,
        "orderedItems": [{"type": "Create", "actor": "https://toots.example/users/a", "object": NOTE}],
    },
}


def read(path: Path, text: str) -> list[Post]:
    path.write_text(text, encoding="utf-8")
    return read_posts(str(path))


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("messages", [1, 4_000])
def test_documents_on_one_line_are_read_like_those_on_several(
    tmp_path: Path, name: str, indent: int | None, messages: int
) -> None:
    document = json.loads(json.dumps(DOCUMENTS[name]))
    holder = document["chats"]["list"][0] if "chats" in document else document
    items = holder["messages" if "messages" in holder else "orderedItems"]
    # Longer than what is looked at to recognize a format.
    for number in range(2, messages + 1):
        copy = json.loads(json.dumps(items[0]))
        target = copy.get("object", copy)
        target["id"] = number if isinstance(target["id"], int) else f"{target['id']}{number}"
        items.append(copy)
    posts = read(tmp_path / "export.json", json.dumps(document, indent=indent))
    assert len(posts) == messages
    assert {post.text for post in posts} == {"dam flood"}


@pytest.mark.parametrize("indent", [None, 1])
def test_long_threads_and_contexts_are_read_as_short_ones(
    tmp_path: Path, indent: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    threads = [export for export in EXPORTS["bluesky_api"] if export.name == "thread.json"]
    (thread,) = (json.loads(export.content) for export in threads if '"threadgate"' in export.content)
    node = thread["thread"]["replies"][0]
    for number in range(1_500):  # 600 kB
        post = {**node["post"], "uri": f"{node['post']['uri']}x{number}"}
        thread["thread"]["replies"].append({**node, "post": post, "replies": []})
    assert len(read(tmp_path / "thread.json", json.dumps(thread, indent=indent))) == 1_504
    assert f"1,504 posts of 1,507 records in 1 {'item' if indent else 'line'};" in capsys.readouterr().err
    (context,) = (
        json.loads(export.content) for export in EXPORTS["mastodon"] if export.name == "context.json"
    )
    status = context["descendants"][0]
    context["descendants"] += [{**status, "id": f"x{number}"} for number in range(1_500)]
    posts = read(tmp_path / "context.json", json.dumps(context, indent=indent))
    assert [post.id for post in posts[:3]] == ["102", "103", "x0"]
    assert len(posts) == 1_502
