"""The article that a post links to, or the reason why the post cannot be used."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from linker.data.languages import language_of_post
from linker.data.links.link_key import host_of, link_key
from linker.data.links.link_kind import LinkKind, link_kind
from linker.data.links.text_links import links_in
from linker.data.types import Post
from linker.mining.options import MiningOptions

_RETWEET = re.compile(r"^\W{0,3}(?:rt|mt)\b\W{0,3}@\w", re.IGNORECASE)
_DELETED = frozenset({"[deleted]", "[removed]", "[deleted by user]"})
_MODERATOR = "AutoModerator"
#: Fate of posts whose shortened links lead to unknown pages.
SHORTENED = "only shortened links"
_FATES: dict[LinkKind, str] = {
    "shortener": SHORTENED,
    "front page": "only links to front pages and sections",
    "platform": "only links to social platforms",
    "other site": "only links to videos, shops and the like",
    "file": "only links to pictures and other files",
}
NO_LINK = "without a link"
#: Fates that `linked` gives, in the order in which the report lists them.
FATES = (
    "another language", "reposts", "deleted, or by a moderation bot", NO_LINK, "with an unreadable link",
    *_FATES.values(), "links to several articles", "replies to comments",
)  # fmt: skip


class Link(NamedTuple):
    """A link to an article.

    Attributes:
        key: from `link_key`; empty if the post is a comment on the post `thread`, which has the link.
        url: the address as the post has it.
        title: the article's title in the post's link card; may be empty.
        description: the description there; may be empty.
        thread: id of the post that a comment belongs to; empty if the post has a link itself.
        shortened: whether the link is shortened, so that the article is known only after its redirects.
    """

    key: str
    url: str = ""
    title: str = ""
    description: str = ""
    thread: str = ""
    shortened: bool = False


def linked(post: Post, options: MiningOptions) -> Link | str:
    """Return the one article that a post links to, or the fate of the post, one of `FATES`.

    If a post has no such link but one that is shortened, this one is returned.

    Links are those of the card, of `links`, and only without these the addresses in the text. A comment on Reddit
    belongs to the link of its thread if it answers the submission itself; a submission's text begins with its title.
    """
    extra = post.extra
    if options.lang and language_of_post(post) not in options.lang:
        return "another language"
    if extra.get("repost_of") or _RETWEET.match(post.text):
        return "reposts"
    if post.text.strip() in _DELETED or extra.get("author") == _MODERATOR:
        return "deleted, or by a moderation bot"
    card_url, listed = _string(extra.get("card_url")), _strings(extra.get("links"))
    fields = [card_url, *listed] if card_url else listed
    urls = [url for field in fields for url in links_in(field) or [field]] or links_in(post.text)
    comment = _comment(post)
    if not urls:
        return comment
    home = host_of(link_key(_string(extra.get("url"))) or "")
    address: dict[str, str] = {}
    for url in urls:
        if key := link_key(url):
            address.setdefault(key, url)
    kinds: dict[str, LinkKind] = {
        key: "platform" if host_of(key) == home else link_kind(key, *options.sites) for key in address
    }
    if not kinds:
        return "with an unreadable link"
    articles = [key for key, kind in kinds.items() if kind == "article"]
    shortened = [key for key, kind in kinds.items() if kind == "shortener"]
    if len(articles) > 1:
        # Each would be a false negative of the other; a wrong pair costs more than a missing one.
        return "links to several articles"
    if not articles and isinstance(comment, Link):
        return comment
    if not articles and len(shortened) != 1:
        return _FATES[next(iter(kinds.values()))]
    [key] = articles or shortened
    title, description = _string(extra.get("card_title")), _string(extra.get("card_description"))
    if not title and _is_on_reddit(post):
        title = _string(post.text.partition("\n")[0])
    card = link_key(card_url) if card_url else key
    if card != key and kinds.get(card or "") != "shortener":
        title = description = ""
    return Link(key, address[key], title, description, shortened=not articles)


def _comment(post: Post) -> Link | str:
    """A comment on Reddit as a link by way of its thread."""
    thread, parent = (bare_id(_string(post.extra.get(name))) for name in ("thread", "reply_to"))
    if not _is_on_reddit(post) or thread in ("", bare_id(post.id)):
        return NO_LINK
    return Link("", thread=thread) if parent in ("", thread) else "replies to comments"


def _is_on_reddit(post: Post) -> bool:
    return _string(post.extra.get("platform")).startswith("reddit")


def bare_id(post_id: str) -> str:
    """Return an id without the prefix that says what it is on Reddit (`t3_`)."""
    return post_id.removeprefix("t3_")


def _string(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        # In CSV several links are separated by spaces, commas or bars; an address may contain a comma.
        parts: Iterable[Any] = re.split(r"[\s|]+|,(?=https?://)", value)
    else:
        parts = value if isinstance(value, list) else []
    return [part.strip() for part in parts if isinstance(part, str) and part.strip()]
