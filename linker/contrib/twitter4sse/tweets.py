"""Tweets from the JSON objects of the Twitter API, versions 1.1 and 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from linker.data.characters import unescaped

# Old clients truncated texts at 140 characters and appended an ellipsis.
_CUT_LENGTH = 135


@dataclass(frozen=True, slots=True)
class Tweet:
    """The parts of a tweet that mining needs.

    Attributes:
        id: digits.
        text: the full text if the object has it, with HTML entities resolved.
        cut: whether the text is truncated.
        language: Twitter's guess (`en`, `und`, …), or None.
        created_at: date and time as in the object, any string.
        quotes: id of the quoted tweet, or None.
        replies_to: id of the answered tweet, or None.
    """

    id: str
    text: str
    cut: bool = False
    language: str | None = None
    created_at: str | None = None
    quotes: str | None = None
    replies_to: str | None = None


def tweets_in(value: dict[str, Any]) -> list[Tweet]:
    """Return each tweet of an object once: itself, and those that it quotes, retweets or includes.

    A retweet counts as the original tweet; a retweet without its original yields nothing.

    Args:
        value: a v1.1 tweet, a v2 tweet, or a v2 response with `data` (a tweet or a list) and `includes`.
    """
    tweets: dict[str, Tweet] = {}
    for tweet in _from_v2(value) if _is_v2(value) else _from_v1(value):
        previous = tweets.get(tweet.id)
        # The same tweet may be nested in several places, in some of them truncated.
        if previous is None or (previous.cut, -len(previous.text)) > (tweet.cut, -len(tweet.text)):
            tweets[tweet.id] = tweet
    return list(tweets.values())


def _is_v2(value: dict[str, Any]) -> bool:
    return isinstance(value.get("data"), (dict, list)) or (
        isinstance(value.get("id"), str) and "id_str" not in value and "user" not in value
    )


def _from_v1(value: dict[str, Any]) -> Iterator[Tweet]:
    outer = value
    if isinstance(value.get("retweeted_status"), dict):
        value = value["retweeted_status"]
    quoted = value.get("quoted_status")
    if not isinstance(quoted, dict):
        # In a retweet of a quote, some objects have the quoted tweet next to the quote, not in it.
        quoted = outer.get("quoted_status")
    tweet = _v1_tweet(value)
    parent = _v1_tweet(quoted) if isinstance(quoted, dict) else None
    if tweet is not None:
        yield replace(tweet, quotes=parent.id) if parent and not tweet.quotes else tweet
    if parent is not None:
        yield parent


def _v1_tweet(value: dict[str, Any]) -> Tweet | None:
    extended = value.get("extended_tweet")
    full = _string(extended.get("full_text")) if isinstance(extended, dict) else None
    full = full or _string(value.get("full_text"))
    quotes, replies_to = _id(value, "quoted_status_id"), _id(value, "in_reply_to_status_id")
    return _tweet(value, full, value.get("truncated") is True, quotes, replies_to)


def _from_v2(value: dict[str, Any]) -> Iterator[Tweet]:
    data = value.get("data", value)
    objects = list(data) if isinstance(data, list) else [data]
    includes = value.get("includes")
    included = includes.get("tweets") if isinstance(includes, dict) else None
    objects += included if isinstance(included, list) else []
    for item in objects:  # The list grows in the loop.
        if not isinstance(item, dict):
            continue
        references = item.get("referenced_tweets")
        references = [r for r in references if isinstance(r, dict)] if isinstance(references, list) else []
        # Flattened responses contain the tweets themselves instead of references to `includes`.
        objects += [reference for reference in references if "text" in reference]
        targets = {r["type"]: _id(r, "id") for r in references if isinstance(r.get("type"), str)}
        if "retweeted" not in targets:
            tweet = _v2_tweet(item, targets)
            if tweet is not None:
                yield tweet


def _v2_tweet(value: dict[str, Any], targets: dict[str, str | None]) -> Tweet | None:
    note = value.get("note_tweet")
    full = _string(note.get("text")) if isinstance(note, dict) else None
    return _tweet(value, full, False, targets.get("quoted"), targets.get("replied_to"))


def _tweet(
    value: dict[str, Any], full: str | None, flagged_cut: bool, quotes: str | None, replies_to: str | None
) -> Tweet | None:
    """Read the fields that both versions share; `full` is a separate full text, `flagged_cut` the truncation flag."""
    text = full or _string(value.get("text"))
    number = _id(value, "id")
    if number is None or text is None:
        return None
    text = unescaped(text)
    return Tweet(
        number,
        text,
        cut=full is None and (flagged_cut or _looks_cut(text)),
        language=_string(value.get("lang")),
        created_at=_string(value.get("created_at")),
        quotes=quotes,
        replies_to=replies_to,
    )


def _looks_cut(text: str) -> bool:
    if len(text) < _CUT_LENGTH or "…" not in text[-40:]:
        return False
    before_links = text.rstrip()
    head, _, last = before_links.rpartition(" ")
    return before_links.endswith("…") or (last.startswith("http") and head.rstrip().endswith("…"))


def _id(value: dict[str, Any], name: str) -> str | None:
    for number in (value.get(f"{name}_str"), value.get(name)):
        # No floats: they have lost digits of an id.
        if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 10**20:
            return str(number)
        if isinstance(number, str) and len(number) <= 20 and number.isascii() and number.isdigit():
            return number
    return None


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
