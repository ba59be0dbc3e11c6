"""4CAT: the CSV that it makes of any data source. Its NDJSON has the records of the platforms themselves."""

from __future__ import annotations

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

_listed, _single = separated("urls", "links"), separated("link", "url")


def _links(record: Record) -> list[str]:
    # Beside a list of links, `link` is the address of the post itself.
    return _listed(record) if "urls" in record or "links" in record else _single(record)


@Platform.register("fourcat")
class FourCat(Platform):
    """4CAT, CSV of any data source."""

    title = "4CAT"
    signs = (
        "id + thread_id + timestamp + author + body",
        "id + thread_id + timestamp + body + unix_timestamp",
    )
    fields = table(
        id="id",
        text=unescaped(joined("subject", "body")),
        created_at="unix_timestamp|timestamp",
        lang="language_guess|languages|language|lang",
        author=other_than("author_id|author", "[deleted]"),
        author_name="author",
        reply_to="replied_to_post|reply_to",
        quote_of="quoted_post",
        thread="thread_id",
    )
    links = (_links,)
    left_out = (
        without("is_retweet", "reposts", "yes", "True", "true", "1"),
        without("body", "deleted posts", "[deleted]"),
        without("body", "removed posts", "[removed]"),
    )
