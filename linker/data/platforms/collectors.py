"""Collectors of several platforms: CSV of 4CAT, NDJSON of Zeeschuimer, and what is left of snscrape.

4CAT makes the CSV of any data source; its NDJSON has the records of the platforms themselves. Source of snscrape:
modules/twitter.py and telegram.py of JustAnotherArchivist/snscrape.
"""

from __future__ import annotations

from typing import Any, ClassVar

from typing_extensions import override

from linker.data.platforms.clocks import began, of_x
from linker.data.platforms.linkedin import LinkedIn
from linker.data.platforms.mastodon import Gab, Mastodon
from linker.data.platforms.meta import Facebook, Instagram, InstagramComments, Threads
from linker.data.platforms.paths import getter
from linker.data.platforms.platform import (
    Platform,
    Record,
    UnknownShapeError,
    joined,
    other_than,
    separated,
    table,
    unescaped,
    without,
)
from linker.data.platforms.tiktok import Comments, Videos
from linker.data.platforms.x import GraphQL

_listed = separated("urls", "links", "link_url", "url_original")
_single = separated("link", "url", "post_url", "tiktok_url")


def _is_own(address: str, record: Record) -> bool:
    """Whether an address is that of the post itself. Those of Facebook have another id in them."""
    id_ = str(record.get("id") or "")
    return bool(id_) and (id_ in address or "://www.facebook.com/" in address)


def _links(record: Record) -> list[str]:
    if any(name in record for name in ("urls", "links", "link_url", "url_original")):
        return _listed(record)
    return [address for address in _single(record) if not _is_own(address, record)]


def _address(record: Record) -> str | None:
    return next((address for address in _single(record) if _is_own(address, record)), None)


def _language(record: Record) -> str | None:
    """The first of several languages, separated by commas."""
    codes = _LANGUAGES(record)
    return codes.partition(",")[0] if isinstance(codes, str) else None


_LANGUAGES = getter("language_guess|languages|language|lang")


@Platform.register("fourcat")
class FourCat(Platform):
    """4CAT, CSV of any data source."""

    title = "4CAT"
    signs = (
        "id + thread_id + timestamp + author + body",
        "id + thread_id + timestamp + body + unix_timestamp",
        "id + thread_id + timestamp + body + account_id",
        "id + timestamp + unix_timestamp + author + body",
    )
    fields = table(
        id="id",
        text=unescaped(joined("subject", "body")),
        created_at="unix_timestamp|timestamp",
        lang=_language,
        author=other_than("author_id|account_id|author", "[deleted]"),
        author_name="author|account_username",
        reply_to="replied_to_post|reply_to",
        quote_of="quoted_post",
        thread="thread_id",
        url=_address,
    )
    is_table = True
    links = (_links,)
    left_out = (
        without("is_retweet", "reposts", "yes", "True", "true", "1"),
        without("body", "deleted posts", "[deleted]"),
        without("body", "removed posts", "[removed]"),
    )


_INSIDE: dict[str, type[Platform]] = {
    "x_graphql": GraphQL,
    "tiktok": Videos,
    "tiktok_comments": Comments,
    "threads": Threads,
    "instagram": Instagram,
    "instagram_comments": InstagramComments,
    "facebook": Facebook,
    "linkedin": LinkedIn,
    "truth_social": Mastodon,
    "gab": Gab,
}


@Platform.register("zeeschuimer")
class Zeeschuimer(Platform):
    """Zeeschuimer, NDJSON of any platform that has a table."""

    title = "Zeeschuimer"
    signs = ("source_platform + item_id + data",)
    fields: ClassVar[Any] = {"id": "item_id", "text": "data.text"}

    def __init__(self) -> None:
        super().__init__()
        self._inside = {name: platform() for name, platform in _INSIDE.items()}

    @override
    def row(self, record: Record) -> dict[str, Any] | str:
        inside, source = record.get("data"), record.get("source_platform")
        if not isinstance(inside, dict) or not isinstance(source, str):
            raise UnknownShapeError("no source_platform and data")
        for name, platform in self._inside.items():
            if platform.recognizes(inside):
                row = platform.row(platform.opened(inside))
                return {**row, "platform": name} if isinstance(row, dict) else row
        return f"records of {source}"


@Platform.register("snscrape")
class Tweets(Platform):
    """X, tweets of snscrape."""

    title = "snscrape (X)"
    since = began(2006, 3, 21)
    numbered = (of_x("id"),)
    signs = (
        "_type=snscrape.modules.twitter.Tweet",
        "id + date + rawContent",
        "id + date + content + conversationId",
    )
    fields = table(
        id="id",
        text=unescaped("rawContent|content"),
        created_at="date",
        lang="lang",
        author="user.id|user.username",
        author_name="user.username",
        reply_to="inReplyToTweetId",
        quote_of="quotedTweet.id",
        thread="conversationId",
        url="https://x.com/i/status/{id}",
        card_url="card.url",
        card_title="card.title",
        card_description="card.description",
        quoted_text="quotedTweet.rawContent|quotedTweet.content",
    )
    below = "media[].altText"
    context = "likeCount retweetCount replyCount quoteCount viewCount sourceLabel"
    links = ("links[].url", "outlinks[]")
    left_out = (without("retweetedTweet", "reposts"),)


@Platform.register("snscrape_telegram")
class Telegram(Platform):
    """Telegram, messages of snscrape."""

    title = "snscrape (Telegram)"
    since = began(2013, 8, 14)
    signs = ("_type=snscrape.modules.telegram.TelegramPost", "url + date + content + outlinks + linkPreview")
    fields = table(
        id="url",
        text="content",
        created_at="date",
        url="url",
        card_url="linkPreview.href",
        card_title="linkPreview.title",
        card_description="linkPreview.description",
    )
    links = ("outlinks[]",)
