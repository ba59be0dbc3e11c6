"""Reddit: submissions and comments of the Pushshift and Arctic Shift dumps, and of the API.

Sources: scripts and README of ArthurHeitmann/arctic_shift; listings in the documentation of Reddit's API.
"""

from typing import Any

from typing_extensions import override

from linker.data.platforms.paths import lister
from linker.data.platforms.platform import Platform, Record, table

_DELETED = {"[deleted]": "deleted posts", "[removed]": "removed posts"}
_DELETED_LATER = (
    ("_meta.was_deleted_later", "posts deleted later"),
    ("_meta.removal_type", "removed posts"),
    ("author", {"AutoModerator": "AutoModerator posts"}),
)
_URLS, _REPLIES = lister("url_overridden_by_dest|url"), lister("replies.data.children[]")


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
    left_out = (("selftext", _DELETED), ("removed_by_category", "removed posts"), *_DELETED_LATER)


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
        posts: list[Record] = []
        waiting: list[Any] = [record]
        while waiting:
            if isinstance(thing := waiting.pop(), dict):
                is_more = thing.get("kind") == "more"
                posts.append({"children": [], **self.opened(thing)} if is_more else self.opened(thing))
                waiting += reversed(_REPLIES(posts[-1]))
        return posts
