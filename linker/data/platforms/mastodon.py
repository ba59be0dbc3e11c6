"""Mastodon and servers with its API: statuses, and an account's own archive.

Sources: entities Status and PreviewCard of mastodon/documentation; datasources/gab and truth of 4CAT.
"""

from __future__ import annotations

from linker.data.platforms.platform import Platform, html_links, html_text, only, table, without


@Platform.register("truth_social")
@Platform.register("mastodon")
class Mastodon(Platform):
    """Mastodon and Truth Social, statuses of the API."""

    title = "Mastodon"
    signs = (
        "content + created_at + in_reply_to_id",
        "content + created_at + reblog",
        "content + created_at + spoiler_text",
    )
    fields = table(
        id="id",
        text=html_text("content"),
        created_at="created_at",
        lang="language",
        author="account.acct|account.username",
        author_name="account.display_name",
        reply_to="in_reply_to_id",
        quote_of="quote.quoted_status.id|quote.id|quote_id",
        url="url|uri",
        card_url="card.url",
        card_title="card.title",
        card_description="card.description",
    )
    links = (html_links("content"),)
    left_out = (without("reblog", "reposts"),)


@Platform.register("mastodon_archive")
class Outbox(Platform):
    """Mastodon, an account's own archive (outbox.json)."""

    title = "Mastodon archive"
    signs = ("type=Create + object.content + actor", "type=Announce + object + actor")
    fields = table(
        id="object.id",
        text=html_text("object.content"),
        created_at="object.published|published",
        author="actor",
        reply_to="object.inReplyTo",
        quote_of="object.quote|object.quoteUri",
        thread="object.conversation",
        url="object.url",
    )
    links = (html_links("object.content"),)
    left_out = (only("type", "Create", Announce="reposts", other="other activities"),)


@Platform.register("gab")
class Gab(Platform):
    """Gab, posts of its API."""

    title = "Gab"
    signs = ("i + c + ca + ul",)
    fields = table(
        id="i",
        text=html_text("c"),
        created_at="ca",
        author="ai|account.acct",
        url="ul",
        card_url="card.url|link.url",
        card_title="card.title|link.title",
        card_description="card.description|link.description",
    )
    links = (html_links("c"),)
