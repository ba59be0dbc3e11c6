"""What platforms know of a post: its address, and the posts that it replies to, quotes or follows."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from linker.data.types import Post
from linker.ranking.post_links import link_of

_RELATIONS = {"reply_to": "In reply to", "quote_of": "Quotes"}
_LONGEST = 600


class PostContext:
    """Finds the context of posts in a file.

    Args:
        posts: all posts.
    """

    def __init__(self, posts: Sequence[Post]) -> None:
        self._by_id = {post.id: post for post in posts}
        self._before: dict[str, Post] = {}
        threads = defaultdict(list)
        for post in posts:
            if (thread := _text(post, "thread")) and post.created_at is not None:
                threads[thread].append(post)
        for members in threads.values():
            for before, post in pairwise(sorted(members, key=lambda post: str(post.created_at))):
                self._before[post.id] = before

    def view(self, post: Post) -> dict[str, Any]:
        """Return `url` and `context` of a post: relation, and text and address of the other post where it is known."""
        related = [
            (relation, self._by_id.get(other))
            for field, relation in _RELATIONS.items()
            if (other := _text(post, field)) and other != post.id
        ]
        if not related and post.id in self._before:
            related.append(("Before it in the thread", self._before[post.id]))
        context = [
            {
                "relation": relation,
                "text": other.text[:_LONGEST] if other else None,
                "url": link_of(other) if other else None,
            }
            for relation, other in related
        ]
        card = " · ".join(text for name in ("card_title", "card_description") if (text := _text(post, name)))
        if card:
            context.append({"relation": "Shares a link", "text": card[:_LONGEST], "url": None})
        return {"url": link_of(post), "context": context}


def _text(post: Post, name: str) -> str:
    value = post.extra.get(name)
    return value.strip() if isinstance(value, str) else ""
