"""Web addresses of posts on their platforms."""

import re
from typing import Any
from urllib.parse import urlsplit

from linker.data.files.known_columns import normal
from linker.data.types import Post

# Fields with the address of the post, most reliable first: `url` or `link` may also be what the post shares.
_FIELDS = (
    "permalink", "permalinkurl", "posturl", "tweeturl", "statusurl", "commenturl", "linktomessage", "posturi",
    "url", "uri",
)  # fmt: skip
_BLUESKY = re.compile(r"at://(did:[a-z0-9:.%-]+)/app\.bsky\.feed\.post/([A-Za-z0-9._~-]+)")
_REDDIT_POST = re.compile(r"t3_([a-z0-9]{1,12})")
_REDDIT_COMMENT = re.compile(r"t1_([a-z0-9]{1,12})")
_SNOWFLAKE = re.compile(r"\d{8,20}")
# Fields that are specific to posts of X.
_OF_X = {
    "retweetcount", "tweetid", "idstr", "inreplytostatusidstr", "quotecount", "possiblysensitive", "tweeturl",
    "favoritecount",
}  # fmt: skip
_SCHEMES = ("http", "https")


def link_of(post: Post) -> str | None:
    """Return the address of a post, from a field or from an id that identifies the platform.

    Ids of Bluesky (`at://…`), of posts on Reddit (`t3_…`), of comments there if `link_id` is known, and of X where the
    other fields are those of X. Only http and https addresses are given out.
    """
    fields = {normal(name): value for name, value in post.extra.items()}
    for name in _FIELDS:
        if (address := _address(fields.get(name))) is not None:
            return address
    if match := _BLUESKY.fullmatch(post.id):
        return f"https://bsky.app/profile/{match[1]}/post/{match[2]}"
    if match := _REDDIT_POST.fullmatch(post.id):
        return f"https://www.reddit.com/comments/{match[1]}/"
    thread = _REDDIT_POST.fullmatch(str(fields.get("linkid", "")))
    if thread and (match := _REDDIT_COMMENT.fullmatch(post.id)):
        return f"https://www.reddit.com/comments/{thread[1]}/_/{match[1]}/"
    if _SNOWFLAKE.fullmatch(post.id) and _OF_X & fields.keys():
        return f"https://x.com/i/status/{post.id}"
    return None


def _address(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    value = value.strip()
    if match := _BLUESKY.fullmatch(value):
        return f"https://bsky.app/profile/{match[1]}/post/{match[2]}"
    if value.startswith("/r/"):
        value = f"https://www.reddit.com{value}"
    try:
        parts = urlsplit(value)
    except ValueError:
        return None
    plain = (
        parts.scheme.lower() in _SCHEMES and bool(parts.netloc) and not re.search(r"[\s\x00-\x1f\x7f]", value)
    )
    return value if plain else None
