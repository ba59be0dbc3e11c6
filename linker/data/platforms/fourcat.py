"""4CAT: the CSV that it makes of any data source. Its NDJSON has the records of the platforms themselves."""

from __future__ import annotations

from linker.data.platforms.platform import Platform, joined, other_than, separated, table, without


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
        text=joined("subject", "body"),
        created_at="unix_timestamp|timestamp",
        lang="language_guess|languages|language|lang",
        author=other_than("author_id|author", "[deleted]"),
        author_name="author",
        reply_to="replied_to_post|reply_to",
        quote_of="quoted_post",
        thread="thread_id",
    )
    links = (separated("urls", "links", "link", "url"),)
    left_out = (
        without("is_retweet", "reposts", "yes", "True", "true", "1"),
        without("body", "deleted posts", "[deleted]"),
        without("body", "removed posts", "[removed]"),
    )
