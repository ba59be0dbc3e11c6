"""Mastodon and servers with its API: statuses, and an account's own archive.

Sources: entities Status, PreviewCard and Context of mastodon/documentation; datasources/gab
and truth of 4CAT; modules/gab.js of Zeeschuimer.
"""

from linker.data.platforms.platform import Platform, html_links, html_text, table

_FAVORITES = "favourites_count"


@Platform.register("truth_social")
@Platform.register("mastodon")
class Mastodon(Platform):
    """Mastodon and Truth Social, statuses of the API and their contexts."""

    title = "Mastodon"
    signs = (
        "content + created_at + in_reply_to_id",
        "content + created_at + reblog",
        "content + created_at + spoiler_text",
        "ancestors + descendants",
    )
    posts = ("ancestors[]", "descendants[]")
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
        quoted_text=html_text("quote.quoted_status.content|quote.content"),
    )
    above = "spoiler_text"
    below = "poll.options[].title media_attachments[].description"
    context = (
        f"{_FAVORITES} reblogs_count replies_count quotes_count visibility sensitive spoiler_text "
        "votes_count=poll.votes_count"
    )
    links = (html_links("content"),)
    left_out = (("reblog", "reposts"), lambda record: "empty contexts" if "ancestors" in record else None)


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
    above = "object.summary"
    below = "object.oneOf[].name object.anyOf[].name object.attachment[].name"
    context = "object.sensitive"
    links = (html_links("object.content"),)
    left_out = (("type", {"Create": "", "Announce": "reposts", "*": "other activities"}),)


@Platform.register("gab")
class Gab(Platform):
    """Gab, posts of its web page and of its API (Zeeschuimer, 4CAT)."""

    title = "Gab"
    signs = (
        "i + c + ca + ul",
        *(
            f"content + created_at + url + {key} + !in_reply_to_id + !reblog + !spoiler_text"
            for key in ("card", "link", "reaction_count", "reposts_count")
        ),
    )
    envelope = "data"
    fields = table(
        id="i|id",
        text=html_text("c|content"),
        created_at="ca|created_at",
        lang="language",
        author="author_info.i|ai|account.id|account.acct",
        author_name="author_info.un|account.username",
        reply_to="in_reply_to_id",
        quote_of="quote_of_id|quote.id",
        url="ul|url",
        card_url="link_info.url|card.url|link.url",
        card_title="link_info.title|card.title|link.title",
        card_description="link_info.description|card.description|link.description",
        quoted_text=html_text("quote.content"),
    )
    above = "spoiler_text"
    below = "poll.options[].title media_attachments[].description"
    context = f"{_FAVORITES}|fbc reblogs_count|rbc replies_count|rc reaction_count"
    links = (html_links("c|content"),)
    left_out = (("reblog", "reposts"), ("type", {"group": "groups", "user": "profiles"}))
