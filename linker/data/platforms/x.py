"""X (Twitter): API 2 and 1.1, a person's archive, and the GraphQL of the web page.

Sources: expansions.py of DocNow/twarc; dataframe_converter.py of DocNow/twarc-csv; datasources/twitter-import of 4CAT.
"""

from collections.abc import Callable
from typing import Any

from typing_extensions import override

from linker.data.platforms.paths import getter, lister
from linker.data.platforms.platform import AROUND, OLDER, Platform, Record, table

_URL = "https://x.com/i/status/"
_ALL_URLS = "entities.urls[]|note_tweet.entities.urls[]"
_URLS = lister(_ALL_URLS)
_BESIDE = getter(f"includes|{AROUND}.includes")
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


def _each(path: str, expression: str) -> Callable[[Record], list[Any]]:
    """Return a function that returns one value of each object at a path."""
    objects_of, value_of = lister(path), getter(expression)
    return lambda record: [value_of(item) for item in objects_of(record) if isinstance(item, dict)]


def _of_ids(ids: Any, records: Any, key: str) -> list[Record]:
    """The records beside a tweet, such as pictures, with one of the ids that it names."""
    ids = ids if isinstance(ids, list) else [ids]
    candidates = records if isinstance(records, list) else []
    return [record for record in candidates if isinstance(record, dict) and record.get(key) in ids]


def _unbroken(record: Record) -> Any:
    """The text, in which CSV of twarc has line breaks as backslash and n."""
    text = _TEXT(record)
    is_of_twarc = isinstance(record.get("referenced_tweets"), dict) and isinstance(text, str)
    return text.replace("\\n", "\n") if is_of_twarc else text


def _older_versions(post: Record) -> list[str]:
    """The versions before that of the record, of a post that was edited."""
    versions, post_id = post["edit_history_tweet_ids"], post.get("id")
    is_known = isinstance(versions, list) and post_id in versions
    return [f"{OLDER}{version}" for version in versions[: versions.index(post_id)]] if is_known else []


class _X(Platform):
    has_entities = True


@Platform.register("x")
class V2(_X):
    """X, API 2: pages, streams, flattened lines, and CSV of twarc, whose columns are paths."""

    title = "X (API 2)"
    signs = (
        "id + text + edit_history_tweet_ids",
        "id + text + author_id + conversation_id",
        "id + text + author_id + referenced_tweets",
        "id + text + author_id + public_metrics",
        "errors + !id + !text + !data",
    )
    envelope = "data"
    fields = table(
        id="id",
        text=_unbroken,
        created_at="created_at",
        lang="lang",
        author="author_id",
        author_name="author.username",
        reply_to="referenced_tweets[type=replied_to].id|referenced_tweets.replied_to.id",
        quote_of="referenced_tweets[type=quoted].id|referenced_tweets.quoted.id",
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
    # twarc writes the addresses alone.
    links = (_each(_ALL_URLS, "unwound_url|expanded_url"), "entities.urls[]")
    left_out = (
        lambda record: "notices" if "errors" in record and "text" not in record else None,
        ("referenced_tweets[type=retweeted].id|referenced_tweets.retweeted.id", "reposts"),
    )

    deletions = (("edit_history_tweet_ids", _older_versions),)

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


class _V1(_X):
    fields = table(
        id="id_str",
        text="extended_tweet.full_text|full_text|text",
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
    links = (_each("extended_tweet.entities.urls[]|entities.urls[]", "unwound.url|expanded_url"),)


@Platform.register("x_1")
class V1(_V1):
    """X, API 1.1: tweets and streams."""

    title = "X (API 1.1)"
    signs = (
        "id_str + full_text",
        "id_str + text + user",
        "id_str + text + entities",
        "delete.status.id_str",
        *("limit.track", "scrub_geo.user_id", "status_withheld.id", "user_withheld.id", "warning.code"),
    )
    left_out = (
        ("delete", "deletions"),
        ("limit|scrub_geo|status_withheld|user_withheld|warning", "notices"),
        ("retweeted_status", "reposts"),
    )
    deletions = (("delete", "delete.status.id_str"),)


@Platform.register("twitter_archive")
class Archive(_V1):
    """X, a person's own archive (data/tweets.js)."""

    title = "Twitter archive"
    signs = ("tweet.id_str + tweet.full_text",)
    envelope = "tweet"
    left_out = (lambda tweet: "reposts" if str(tweet.get("full_text")).startswith("RT @") else None,)


@Platform.register("x_graphql")
class GraphQL(_X):
    """X, GraphQL of the web page, as Zeeschuimer and 4CAT save it."""

    title = "X (GraphQL)"
    signs = ("rest_id + legacy.full_text", "legacy.id_str + legacy.full_text", "__typename=TweetTombstone")
    envelope = "data.tweet|tweet|data"
    fields = table(
        id="rest_id|legacy.id_str",
        text="note_tweet.note_tweet_results.result.text|legacy.full_text",
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
    below = (
        "legacy.extended_entities.media[].ext_alt_text "
        "article.article_results.result.title article.article_results.result.preview_text"
    )
    context = (
        "legacy.favorite_count legacy.retweet_count legacy.reply_count legacy.quote_count "
        "legacy.bookmark_count legacy.possibly_sensitive views=views.count"
    )
    links = ("legacy.entities.urls[].expanded_url",)
    left_out = (
        ("__typename", {"TweetTombstone": "tombstones"}),
        ("legacy.retweeted_status_result", "reposts"),
    )
