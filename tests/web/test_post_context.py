"""What the page shows around a post."""

from __future__ import annotations

from datetime import datetime, timezone

from linker.data.types import Post
from linker.web.api.post_context import PostContext


def post(number: int, **extra: object) -> Post:
    return Post(
        f"t{number}", f"text {number}", created_at=datetime(2031, 3, number, tzinfo=timezone.utc), extra=extra
    )


def test_replies_quotes_threads_and_cards() -> None:
    posts = [
        post(1, thread="x", url="https://social.example/1"),
        post(2, reply_to="t1", quote_of="gone", thread="x"),
        post(3, thread="x"),
        post(4, card_title="Otters", card_description="They are back", url="javascript:alert(1)"),
        post(5, reply_to="t5"),
    ]
    context = PostContext(posts)
    views = [context.view(one) for one in posts]
    assert views[0] == {"url": "https://social.example/1", "context": []}
    assert views[1]["context"] == [
        {"relation": "In reply to", "text": "text 1", "url": "https://social.example/1"},
        {"relation": "Quotes", "text": None, "url": None},
    ]
    assert views[2]["context"] == [{"relation": "Before it in the thread", "text": "text 2", "url": None}]
    assert views[3] == {
        "url": None,
        "context": [{"relation": "Shares a link", "text": "Otters · They are back", "url": None}],
    }
    assert views[4]["context"] == []
