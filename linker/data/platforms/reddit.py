"""Reddit: submissions and comments of the Pushshift and Arctic Shift dumps, and of the API.

Sources: scripts and README of ArthurHeitmann/arctic_shift; listings in the documentation of Reddit's API.
"""

from __future__ import annotations

from typing import Any, ClassVar

from typing_extensions import override

from linker.data.platforms.clocks import began
from linker.data.platforms.paths import lister
from linker.data.platforms.platform import Platform, Record, joined, other_than, table, unescaped, without

_SINCE = began(2005, 6, 23)
_NOBODY = ("[deleted]", "[removed]")
_DELETED_LATER = (
    without("_meta.was_deleted_later", "posts deleted later"),
    without("_meta.removal_type", "removed posts"),
    without("author", "AutoModerator posts", "AutoModerator"),
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
    since = _SINCE
    signs = ("selftext + title + subreddit",)
    envelope = "data"
    fields = table(
        id="name|t3_{id}",
        text=unescaped(joined("title", "selftext")),
        created_at="created_utc",
        author=other_than("author", *_NOBODY),
        repost_of="crosspost_parent",
        url="https://www.reddit.com{permalink}",
        quoted_text=unescaped(joined("crosspost_parent_list[0].title", "crosspost_parent_list[0].selftext")),
    )
    below = "poll_data.options[].text gallery_data.items[].caption"
    context = "subreddit score num_comments upvote_ratio num_crossposts link_flair_text over_18 domain"
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
    since = _SINCE
    signs = ("body + link_id + subreddit", "body + link_id + parent_id", "kind=more + data.children")
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
    context = "subreddit score controversiality"
    left_out = (
        without("body", "deleted posts", "[deleted]"),
        without("body", "removed posts", "[removed]"),
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

    def __init__(self) -> None:
        super().__init__()
        self._submissions, self._comments = Submissions(), Comments()

    @override
    def posts_of(self, record: Record) -> list[Record]:
        return _things(record) or [record]

    @override
    def row(self, record: Record) -> dict[str, Any] | str:
        if record.get("kind") == "Listing":
            return "empty listings"
        is_submission = self._submissions.recognizes(record)
        row = (self._submissions if is_submission else self._comments).row(record)
        name = "reddit_submissions" if is_submission else "reddit_comments"
        return {**row, "platform": name} if isinstance(row, dict) else row
