"""What cases of formats are made of."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

URL = "https://news.example/dam"
DID = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
POST = f"at://{DID}/app.bsky.feed.post"


class Case(NamedTuple):
    """A format with some of its records.

    Attributes:
        content: the file.
        posts: id, text and the columns that are worth a look, with the author in the clear.
        left_out: what the line on stderr says of the other records.
        name: of the file.
    """

    content: str
    posts: list[dict[str, Any]]
    left_out: str
    name: str = "posts.jsonl"


def lines(*records: Any) -> str:
    """Return one JSON document a line."""
    return "".join(json.dumps(record) + "\n" for record in records)


def indented(document: Any) -> str:
    """Return a JSON document of several lines."""
    return json.dumps(document, indent=1, ensure_ascii=False)
