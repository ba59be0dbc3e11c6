"""Collectors of several platforms: CSV of 4CAT, NDJSON of Zeeschuimer, and what is left of snscrape.

4CAT makes the CSV of any data source; its NDJSON has the records of the platforms themselves. Source of snscrape:
modules/twitter.py and telegram.py of JustAnotherArchivist/snscrape.
"""

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from typing_extensions import override

from linker.data.platforms.paths import getter
from linker.data.platforms.platform import Platform, Record, UnknownShapeError, table
from linker.data.platforms.recognition import platforms

_BETWEEN = re.compile(r"[,|;\s]+(?=https?://)")
_LISTED = ("urls", "links", "link_url", "url_original")
_SINGLE = ("link", "url", "post_url", "tiktok_url")


def _addresses(record: Record, names: Sequence[str]) -> list[str]:
    """The addresses in cells with several, separated by commas, bars or spaces."""
    cells = [cell for name in names if isinstance(cell := record.get(name), str)]
    return [address for cell in cells for address in _BETWEEN.split(cell.strip()) if "://" in address]


def _is_own(address: str, record: Record) -> bool:
    """Whether an address is that of the post itself. Those of Facebook have another id in them."""
    id_ = str(record.get("id") or "")
    return bool(id_) and (id_ in address or "://www.facebook.com/" in address)


def _links(record: Record) -> list[str]:
    if any(name in record for name in _LISTED):
        return _addresses(record, _LISTED)
    return [address for address in _addresses(record, _SINGLE) if not _is_own(address, record)]


def _address(record: Record) -> str | None:
    return next((address for address in _addresses(record, _SINGLE) if _is_own(address, record)), None)


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
        text="{subject}\n\n{body}|subject|body",
        created_at="unix_timestamp|timestamp",
        lang=lambda record: str(_LANGUAGES(record) or "").partition(",")[0] or None,
        author="author_id|account_id|author",
        author_name="author|account_username",
        reply_to="replied_to_post|reply_to",
        quote_of="quoted_post",
        thread="thread_id",
        url=_address,
    )
    has_entities = True
    is_table = True
    links = (_links,)
    left_out = (
        ("is_retweet", dict.fromkeys(("yes", "True", "true", "1"), "reposts")),
        ("body", {"[deleted]": "deleted posts", "[removed]": "removed posts"}),
    )


_INSIDE = (
    *("x_graphql", "tiktok", "tiktok_comments", "threads", "instagram"),
    *("facebook", "linkedin", "truth_social", "gab"),
)


@Platform.register("zeeschuimer")
class Zeeschuimer(Platform):
    """Zeeschuimer, NDJSON of any platform that has a table."""

    title = "Zeeschuimer"
    signs = ("source_platform + item_id + data",)
    fields: ClassVar[Any] = {"id": "item_id", "text": "data.text"}

    @override
    def row(self, record: Record) -> dict[str, Any] | str:
        inside, source = record.get("data"), record.get("source_platform")
        if not isinstance(inside, dict) or not isinstance(source, str):
            raise UnknownShapeError("no source_platform and data")
        for name in _INSIDE:
            platform = platforms()[name]
            if platform.recognizes(inside):
                row = platform.row(platform.opened(inside))
                return {**row, "platform": name} if isinstance(row, dict) else row
        return f"records of {source}"


@Platform.register("snscrape")
class Tweets(Platform):
    """X, tweets of snscrape."""

    title = "snscrape (X)"
    signs = (
        "_type=snscrape.modules.twitter.Tweet",
        "id + date + rawContent",
        "id + date + content + conversationId",
    )
    fields = table(
        id="id",
        text="rawContent|content",
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
    has_entities = True
    below = "media[].altText"
    context = "likeCount retweetCount replyCount quoteCount viewCount sourceLabel"
    links = ("links[].url", "outlinks[]")
    left_out = (("retweetedTweet", "reposts"),)


@Platform.register("snscrape_telegram")
class Telegram(Platform):
    """Telegram, messages of snscrape."""

    title = "snscrape (Telegram)"
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
