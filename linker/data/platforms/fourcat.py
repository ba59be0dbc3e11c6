"""4CAT: the CSV that it makes of any data source. Its NDJSON has the records of the platforms themselves."""

from __future__ import annotations

from linker.data.platforms.paths import getter
from linker.data.platforms.platform import (
    Platform,
    Record,
    joined,
    other_than,
    separated,
    table,
    unescaped,
    without,
)

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
    found = _LANGUAGES(record)
    return found.partition(",")[0] if isinstance(found, str) else None


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
