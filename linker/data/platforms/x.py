"""X (Twitter): API 2 and 1.1, a person's archive, the GraphQL of the web page, and tables of collectors.

Sources: expansions.py of DocNow/twarc; dataframe_converter.py of DocNow/twarc-csv; datasources/twitter-import of 4CAT;
analysis/mod.export_tweets.php of DMI-TCAT.
"""

from __future__ import annotations

import re
from typing import Any

from typing_extensions import override

from linker.data.platforms.clocks import began, of_x
from linker.data.platforms.paths import getter, lister, parsed
from linker.data.platforms.platform import (
    AROUND,
    OLDER,
    Platform,
    Record,
    beginning,
    each,
    separated,
    table,
    unescaped,
    without,
)

_URL = "https://x.com/i/status/"
_ALL_URLS = "entities.urls[]|note_tweet.entities.urls[]"
_URLS = lister(_ALL_URLS)
# In place of a list of references.
_OF_TWARC = tuple(f"referenced_tweets.{kind}" for kind in ("replied_to", "retweeted", "quoted"))
_BESIDE = getter(f"includes|{AROUND}.includes")
_NUMBER = re.compile(r"\d+")
_TEXT = getter("note_tweet.text|text")
_QUOTED = getter("referenced_tweets[type=quoted].id")


def _card(*keys: str) -> Any:
    """A value of the first link that has a title."""

    def value_of(record: Record) -> Any:
        for url in _URLS(record):
            if isinstance(url, dict) and url.get("title"):
                return next((url[key] for key in keys if url.get(key)), None)
        return None

    return value_of


def _of_ids(ids: Any, records: Any, key: str) -> list[Record]:
    """The records beside a tweet, such as pictures, with one of the ids that it names."""
    ids = ids if isinstance(ids, list) else [ids]
    candidates = records if isinstance(records, list) else []
    return [record for record in candidates if isinstance(record, dict) and record.get(key) in ids]


def _unbroken(record: Record) -> Any:
    """The text, in which twarc writes line breaks as backslash and n; with one of its options it is JSON."""
    text = _TEXT(record)
    if not isinstance(text, str):
        return text
    if text[:1] == text[-1:] == '"' and isinstance(decoded := parsed(text), str):
        return decoded
    return text.replace("\\n", "\n")


def _older_versions(record: Record) -> list[str]:
    """The versions before that of the record, of a post that was edited."""
    versions, post_id = record.get("edit_history_tweet_ids"), record.get("id")
    if isinstance(versions, str):  # a cell of a table
        versions = _NUMBER.findall(versions)
    if not isinstance(versions, list) or post_id not in versions:
        return []
    return [f"{OLDER}{version}" for version in versions[: versions.index(post_id)]]


class _X(Platform):
    since = began(2006, 3, 21)
    numbered = (of_x("id"),)


@Platform.register("x")
class V2(_X):
    """X, API 2: pages, streams and flattened lines."""

    title = "X (API 2)"
    signs = (
        *(
            f"id + text + {more} + {' + '.join(f'!{reference}' for reference in _OF_TWARC)}"
            for more in (
                "edit_history_tweet_ids",
                "author_id + conversation_id",
                "author_id + referenced_tweets",
                "author_id + public_metrics",
            )
        ),
        "errors + !id + !text + !data",
    )
    envelope = "data"
    fields = table(
        id="id",
        text=unescaped("note_tweet.text|text"),
        created_at="created_at",
        lang="lang",
        author="author_id",
        author_name="author.username",
        reply_to="referenced_tweets[type=replied_to].id",
        quote_of="referenced_tweets[type=quoted].id",
        thread="conversation_id",
        url=f"{_URL}{{id}}",
        card_url=_card("unwound_url", "expanded_url", "url"),
        card_title=_card("title"),
        card_description=_card("description"),
        quoted_text="quoted.note_tweet.text|quoted.text|referenced_tweets[type=quoted].note_tweet.text"
        "|referenced_tweets[type=quoted].text",
    )
    below = "attachments.poll.options[].label attachments.poll[].options[].label attachments.media[].alt_text"
    context = (
        "public_metrics.like_count public_metrics.retweet_count public_metrics.reply_count "
        "public_metrics.quote_count public_metrics.bookmark_count public_metrics.impression_count "
        "possibly_sensitive reply_settings source"
    )
    deletions = (_older_versions,)
    # twarc writes the addresses alone.
    links = (each(_ALL_URLS, "unwound_url", "expanded_url"), "entities.urls[]")
    left_out = (
        lambda record: "notices" if "errors" in record and "text" not in record else None,
        without("referenced_tweets[type=retweeted].id", "reposts"),
    )

    @override
    def opened(self, record: Record) -> Record:
        inside, beside = super().opened(record), _BESIDE(record)
        if not isinstance(beside, dict):
            return inside
        # Pages and lines of streams have the pictures, polls and quoted tweets of their tweets beside these.
        attached = inside.get("attachments")
        attached = attached if isinstance(attached, dict) else {}
        return {
            **inside,
            "attachments": {
                "media": _of_ids(attached.get("media_keys"), beside.get("media"), "media_key"),
                "poll": _of_ids(attached.get("poll_ids"), beside.get("polls"), "id"),
            },
            "quoted": next(iter(_of_ids(_QUOTED(inside), beside.get("tweets"), "id")), None),
        }


@Platform.register("x_twarc_csv")
class TwarcCsv(_X):
    """X, API 2, CSV of twarc: columns are paths, such as `author.username`."""

    title = "X (twarc CSV)"
    signs = tuple(f"id + text + {reference}" for reference in _OF_TWARC)
    fields = table(
        **{name: field for name, field in V2.fields.items() if name not in ("text", "reply_to", "quote_of")},
        text=unescaped(_unbroken),
        reply_to="referenced_tweets.replied_to.id",
        quote_of="referenced_tweets.quoted.id",
    )
    below, context = V2.below, V2.context
    links = V2.links
    left_out = (without("referenced_tweets.retweeted.id", "reposts"),)


@Platform.register("x_1")
class V1(_X):
    """X, API 1.1: tweets and streams."""

    title = "X (API 1.1)"
    numbered = (of_x("id_str"),)
    signs = (
        "id_str + full_text",
        "id_str + text + user",
        "id_str + text + entities",
        "delete.status.id_str",
        *("limit.track", "scrub_geo.user_id", "status_withheld.id", "user_withheld.id", "warning.code"),
    )
    fields = table(
        id="id_str",
        text=unescaped("extended_tweet.full_text|full_text|text"),
        created_at="created_at",
        lang="lang",
        author="user.id_str|user.id|user.screen_name",
        author_name="user.screen_name",
        reply_to="in_reply_to_status_id_str",
        quote_of="quoted_status_id_str|quoted_status.id_str",
        url=f"{_URL}{{id_str}}",
        quoted_text="quoted_status.extended_tweet.full_text|quoted_status.full_text|quoted_status.text",
    )
    below = "extended_tweet.extended_entities.media[].ext_alt_text extended_entities.media[].ext_alt_text"
    context = "favorite_count retweet_count reply_count quote_count possibly_sensitive place=place.full_name"
    links = (each("extended_tweet.entities.urls[]|entities.urls[]", "unwound.url", "expanded_url"),)
    left_out = (
        without("delete", "deletions"),
        *(
            without(name, "notices")
            for name in ("limit", "scrub_geo", "status_withheld", "user_withheld", "warning")
        ),
        without("retweeted_status", "reposts"),
    )
    deletions = (getter("delete.status.id_str"),)


@Platform.register("twitter_archive")
class Archive(_X):
    """X, a person's own archive (data/tweets.js)."""

    title = "Twitter archive"
    numbered = (of_x("id_str"),)
    signs = ("tweet.id_str + tweet.full_text",)
    envelope = "tweet"
    fields = V1.fields
    below, context = V1.below, V1.context
    links = V1.links
    left_out = (beginning("full_text", "RT @", "reposts"),)


@Platform.register("x_graphql")
class GraphQL(_X):
    """X, GraphQL of the web page, as Zeeschuimer and 4CAT save it."""

    title = "X (GraphQL)"
    numbered = (of_x("rest_id|legacy.id_str"),)
    signs = ("rest_id + legacy.full_text", "legacy.id_str + legacy.full_text", "__typename=TweetTombstone")
    envelope = "data.tweet|tweet|data"
    fields = table(
        id="rest_id|legacy.id_str",
        text=unescaped("note_tweet.note_tweet_results.result.text|legacy.full_text"),
        created_at="legacy.created_at",
        lang="legacy.lang",
        author="core.user_results.result.rest_id|legacy.user_id_str|user.id_str"
        "|core.user_results.result.core.screen_name|core.user_results.result.legacy.screen_name",
        author_name="core.user_results.result.core.screen_name|core.user_results.result.legacy.screen_name"
        "|user.screen_name",
        reply_to="legacy.in_reply_to_status_id_str",
        quote_of="legacy.quoted_status_id_str|quoted_status_result.result.rest_id|quoted_status_result.result.tweet.rest_id",
        thread="legacy.conversation_id_str",
        url=f"{_URL}{{rest_id}}|{_URL}{{legacy.id_str}}",
        card_title="card.legacy.binding_values[key=title].value.string_value",
        card_description="card.legacy.binding_values[key=description].value.string_value",
        quoted_text="quoted_status_result.result.note_tweet.note_tweet_results.result.text"
        "|quoted_status_result.result.tweet.note_tweet.note_tweet_results.result.text"
        "|quoted_status_result.result.legacy.full_text|quoted_status_result.result.tweet.legacy.full_text",
    )
    below = " ".join(
        (
            *(f"card.legacy.binding_values[key=choice{n}_label].value.string_value" for n in range(1, 5)),
            "legacy.extended_entities.media[].ext_alt_text",
            "article.article_results.result.title article.article_results.result.preview_text",
        )
    )
    context = (
        "legacy.favorite_count legacy.retweet_count legacy.reply_count legacy.quote_count "
        "legacy.bookmark_count legacy.possibly_sensitive views=views.count"
    )
    links = ("legacy.entities.urls[].expanded_url",)
    left_out = (
        without("__typename", "tombstones", "TweetTombstone"),
        without("legacy.retweeted_status_result", "reposts"),
    )


@Platform.register("tcat")
class Tcat(_X):
    """X, tweets of DMI-TCAT, CSV."""

    title = "TCAT"
    signs = ("id + text + from_user_name + from_user_id", "id + text + from_user_name + to_user_name")
    fields = table(
        id="id",
        text=unescaped("text"),
        created_at="created_at|time",
        lang="lang",
        author="from_user_id|from_user_name",
        author_name="from_user_name",
        reply_to="in_reply_to_status_id",
        quote_of="quoted_status_id",
        url=f"{_URL}{{id}}",
    )
    is_table = True
    links = (separated("urls_followed", "urls_expanded"),)
    left_out = (beginning("text", "RT @", "reposts"),)


@Platform.register("twint")
class Twint(_X):
    """X, tweets of Twint."""

    title = "Twint"
    signs = ("id + conversation_id + tweet + username",)
    fields = table(
        id="id",
        text=unescaped("tweet"),
        created_at="created_at|{date} {time}",
        lang="language",
        author="user_id|username",
        author_name="username",
        thread="conversation_id",
        url=f"{_URL}{{id}}",
    )
    is_table = True
    links = ("urls[]",)
    left_out = (without("retweet", "reposts", True, "True", "true"), without("user_rt", "reposts"))


@Platform.register("x_1_csv")
class TwarcCsv1(_X):
    """X, API 1.1, CSV of twarc."""

    title = "X (twarc CSV, API 1.1)"
    signs = ("id + text + tweet_url + tweet_type",)
    fields = table(
        id="id",
        text=unescaped("text"),
        created_at="created_at|parsed_created_at",
        lang="lang",
        author="user_id|user_screen_name",
        author_name="user_screen_name",
        reply_to="in_reply_to_status_id",
        url="tweet_url",
    )
    is_table = True
    links = (separated("urls"),)
    left_out = (without("tweet_type", "reposts", "retweet"),)
