"""Streams of server-sent events: every event is a post or reported, and plain text stays plain text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linker.common.errors import DataError
from linker.data import read_posts

STATUS = {"id": "1", "content": "<p>dam</p>", "created_at": "2026-10-01T10:00:00Z", "in_reply_to_id": None}
EVENT = f"event: update\ndata: {json.dumps(STATUS)}\n\n"


@pytest.mark.parametrize("name", ["stream", "stream.txt", "stream.jsonl"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_events_are_read_whatever_the_name(tmp_path: Path, name: str, end: str) -> None:
    text = f":)\n{EVENT}{EVENT.replace('1', '2', 1)[:-2]}{end}"
    (tmp_path / name).write_text(text.replace("\n", "\r\n") if end == "\r\n" else text, newline="")
    assert [(post.id, post.text) for post in read_posts(str(tmp_path / name))] == [("1", "dam"), ("2", "dam")]


def test_other_lines_and_broken_events_are_reported(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text(f"{EVENT}words\n\n{EVENT}event: update\ndata: {{\n\n")
    with pytest.raises(DataError) as caught:
        read_posts(str(tmp_path / "s.txt"))
    assert [line.split(", ", 1)[1] for line in str(caught.value).splitlines()[1:]] == [
        "line 4: not an event: words",
        "line 9: not a record of Mastodon stream: no Mastodon stream id (id); keys: event, payload",
    ]


def test_posts_that_begin_with_a_colon_are_plain_text(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text(":)\nthe dam\nevent: tonight\n")
    assert [post.text for post in read_posts(str(tmp_path / "p.txt"))] == [":)", "the dam", "event: tonight"]
