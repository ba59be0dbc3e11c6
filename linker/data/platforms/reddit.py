"""Reddit: submissions and comments of the Pushshift and Arctic Shift dumps, and of the API.

Sources: scripts and README of ArthurHeitmann/arctic_shift; listings in the documentation of Reddit's API.
"""

from __future__ import annotations

from typing import Any, ClassVar

from typing_extensions import override

from linker.data.platforms.paths import lister
from linker.data.platforms.platform import Platform, Record, row_inside, table

_DELETED = {"[deleted]": "deleted posts", "[removed]": "removed posts"}
_DELETED_LATER = (
    ("_meta.was_deleted_later", "posts deleted later"),
    ("_meta.removal_type", "removed posts"),
    ("author", {"AutoModerator": "AutoModerator posts"}),
)
_URLS = lister("url_overridden_by_dest|url")


def _links(record: Record) -> list[Any]:
    return [] if record.get("is_self") in (True, "true", "True") else _URLS(record)


def _things(listing: Record) -> list[Record]:
    """All submissions and comments of a listing, replies at any depth included."""
    things: list[Record] = []
    waiting: list[Any] = [listing]
    while waiting:
        thing = waiting.pop()
        data = thing.get("data") if isinstance(thing, dict) else None
        if not isinstance(data, dict):
            continue
        if thing.get("kind") == "Listing":
            children = data.get("children")
            waiting += reversed(children) if isinstance(children, list) else ()
        else:
            things.append({"children": [], **data} if thing.get("kind") == "more" else data)
            waiting.append(data.get("replies"))
    return things


@Platform.register("reddit_submissions")
class Submissions(Platform):
    """Reddit, submissions (RS dumps, API)."""

    title = "Reddit submissions"
    signs = ("selftext + title + subreddit",)
    envelope = "data"
    fields = table(
        id="name|t3_{id}",
        text="{title}\n\n{selftext}|title|selftext",
        created_at="created_utc",
        author="author",
        repost_of="crosspost_parent",
        url="https://www.reddit.com{permalink}",
        quoted_text="{crosspost_parent_list[0].title}\n\n{crosspost_parent_list[0].selftext}"
        "|crosspost_parent_list[0].title",
    )
    has_entities = True
    below = "poll_data.options[].text gallery_data.items[].caption"
    context = "subreddit score num_comments upvote_ratio num_crossposts link_flair_text over_18 domain"
    links = (_links,)
    left_out = (
        ("selftext", _DELETED),
        ("removed_by_category", "removed posts"),
        *_DELETED_LATER,
    )


@Platform.register("reddit_comments")
class Comments(Platform):
    """Reddit, comments (RC dumps, API)."""

    title = "Reddit comments"
    signs = ("body + link_id + subreddit", "body + link_id + parent_id", "children + id + !title")
    envelope = "data"
    fields = table(
        id="name|t1_{id}",
        text="body",
        created_at="created_utc",
        author="author",
        reply_to="parent_id",
        thread="link_id",
        url="https://www.reddit.com{permalink}",
    )
    has_entities = True
    context = "subreddit score controversiality"
    left_out = (
        ("body", _DELETED),
        # Counts of comments that the API did not send.
        lambda record: "unloaded comments" if "children" in record and "body" not in record else None,
        *_DELETED_LATER,
    )

    @override
    def posts_of(self, record: Record) -> list[Record]:
        inside = self.opened(record)
        replies = inside.get("replies")
        return [inside, *_things(replies)] if isinstance(replies, dict) else [inside]


@Platform.register("reddit_listing")
class Listing(Platform):
    """Reddit, listings of the API: pages of submissions, a submission with its tree of comments."""

    title = "Reddit (API)"
    signs = ("kind=Listing + data.children",)
    fields: ClassVar[Any] = {"id": "name", "text": "title"}

    @override
    def posts_of(self, record: Record) -> list[Record]:
        return _things(record) or [record]

    @override
    def row(self, record: Record) -> dict[str, Any] | str:
        if record.get("kind") == "Listing":
            return "empty listings"
        row = row_inside(("reddit_submissions", "reddit_comments"), record)
        return super().row(record) if row is None else row
