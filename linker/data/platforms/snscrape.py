"""snscrape: what is left of its collections of X and Telegram.

Source: modules/twitter.py and telegram.py of JustAnotherArchivist/snscrape.
"""

from __future__ import annotations

from linker.data.platforms.clocks import began, of_x
from linker.data.platforms.platform import Platform, table, unescaped, without


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
    )
    below = ("media[].altText",)
    context = (
        "likeCount",
        "retweetCount",
        "replyCount",
        "quoteCount",
        "viewCount",
        "sourceLabel",
        "quoted_text=quotedTweet.rawContent|quotedTweet.content",
    )
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
