"""Reddit: submissions and comments of the Pushshift and Arctic Shift dumps, and of the API.

Source: scripts and README of ArthurHeitmann/arctic_shift.
"""

from __future__ import annotations

from typing import Any

from linker.data.platforms.paths import lister
from linker.data.platforms.platform import Platform, Record, joined, other_than, table, unescaped, without

_NOBODY = ("[deleted]", "[removed]")
_DELETED_LATER = (
    without("_meta.was_deleted_later", "posts deleted later"),
    without("_meta.removal_type", "removed posts"),
    without("author", "AutoModerator posts", "AutoModerator"),
)
_URLS = lister("url_overridden_by_dest|url")


def _links(record: Record) -> list[Any]:
    return [] if record.get("is_self") in (True, "true", "True") else _URLS(record)


@Platform.register("reddit_submissions")
class Submissions(Platform):
    """Reddit, submissions (RS dumps, API)."""

    title = "Reddit submissions"
    signs = ("selftext + title + subreddit",)
    envelope = "data"
    fields = table(
        id="name|t3_{id}",
        text=unescaped(joined("title", "selftext")),
        created_at="created_utc",
        author=other_than("author", *_NOBODY),
        repost_of="crosspost_parent",
        url="https://www.reddit.com{permalink}",
    )
    links = (_links,)
    left_out = (
        without("selftext", "deleted posts", "[deleted]"),
        without("selftext", "removed posts", "[removed]"),
        without("removed_by_category", "removed posts"),
        *_DELETED_LATER,
    )


@Platform.register("reddit_comments")
class Comments(Platform):
    """Reddit, comments (RC dumps, API)."""

    title = "Reddit comments"
    signs = ("body + link_id + subreddit", "body + link_id + parent_id")
    envelope = "data"
    fields = table(
        id="name|t1_{id}",
        text=unescaped("body"),
        created_at="created_utc",
        author=other_than("author", *_NOBODY),
        reply_to="parent_id",
        thread="link_id",
        url="https://www.reddit.com{permalink}",
    )
    left_out = (
        without("body", "deleted posts", "[deleted]"),
        without("body", "removed posts", "[removed]"),
        *_DELETED_LATER,
    )
