"""What platforms know of a post: its address, and the posts that it replies to, quotes or follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linker.data.types import Post
from linker.ranking.post_links import link_of

_RELATIONS = {"reply_to": "In reply to", "quote_of": "Quotes"}
_BEFORE_IN_THREAD = "Before it in the thread"
_LONGEST = 600


class PostContext:
    """Finds the context of posts in a file.

    Args:
        posts: all posts.
    """

    def __init__(self, posts: Sequence[Post]) -> None:
        self._by_id = {post.id: post for post in posts}
        self._threads: dict[str, list[Post]] = {}
        for post in posts:
            if (thread := _text(post, "thread")) and post.created_at is not None:
                self._threads.setdefault(thread, []).append(post)
        for members in self._threads.values():
            members.sort(key=lambda post: str(post.created_at))

    def view(self, post: Post) -> dict[str, Any]:
        """Return `url` and `context` of a post: relation, and text and address of the other post where it is known."""
        related = []
        for field, relation in _RELATIONS.items():
            if (other := _text(post, field)) and other != post.id:
                related.append((relation, self._by_id.get(other)))
        if not related and (before := self._before(post)) is not None:
            related.append((_BEFORE_IN_THREAD, before))
        context = [
            {
                "relation": relation,
                "text": found.text[:_LONGEST] if found else None,
                "url": link_of(found) if found else None,
            }
            for relation, found in related
        ]
        card = " · ".join(text for name in ("card_title", "card_description") if (text := _text(post, name)))
        if card:
            context.append({"relation": "Shares a link", "text": card[:_LONGEST], "url": None})
        return {"url": link_of(post), "context": context}

    def _before(self, post: Post) -> Post | None:
        members = self._threads.get(_text(post, "thread"), [])
        place = next((n for n, member in enumerate(members) if member.id == post.id), 0)
        return members[place - 1] if place else None


def _text(post: Post, name: str) -> str:
    value = post.extra.get(name)
    return value.strip() if isinstance(value, str) else ""
