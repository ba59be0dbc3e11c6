"""Tweets from the JSON objects of the Twitter API, versions 1.1 and 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
    original = _object(value, "retweeted_status") or value
    # In a retweet of a quote, some objects have the quoted tweet next to the quote, not in it.
    quoted = _object(original, "quoted_status") or _object(value, "quoted_status")
    parent = _v1_tweet(quoted, None)
    yield from (tweet for tweet in (_v1_tweet(original, parent), parent) if tweet is not None)


def _v1_tweet(value: dict[str, Any], parent: Tweet | None) -> Tweet | None:
    full = _string(_object(value, "extended_tweet").get("full_text")) or _string(value.get("full_text"))
    quotes = _id(value, "quoted_status_id") or (parent.id if parent else None)
    return _tweet(value, full, value.get("truncated") is True, quotes, _id(value, "in_reply_to_status_id"))


def _from_v2(value: dict[str, Any]) -> Iterator[Tweet]:
    data, included = value.get("data", value), _object(value, "includes").get("tweets")
    objects = list(data) if isinstance(data, list) else [data]
    objects += included if isinstance(included, list) else []
    for item in objects:  # The list grows in the loop.
        if not isinstance(item, dict):
            continue
        references = item.get("referenced_tweets")
        references = [r for r in references if isinstance(r, dict)] if isinstance(references, list) else []
        # Flattened responses contain the tweets themselves instead of references to `includes`.
        objects += [reference for reference in references if "text" in reference]
        targets = {r["type"]: _id(r, "id") for r in references if isinstance(r.get("type"), str)}
        full = _string(_object(item, "note_tweet").get("text"))
        tweet = _tweet(item, full, False, targets.get("quoted"), targets.get("replied_to"))
        if tweet is not None and "retweeted" not in targets:
            yield tweet


def _tweet(
    value: dict[str, Any], full: str | None, flagged_cut: bool, quotes: str | None, replies_to: str | None
) -> Tweet | None:
    """Read the fields that both versions share; `full` is a separate full text, `flagged_cut` the truncation flag."""
    text, number = full or _string(value.get("text")), _id(value, "id")
    if number is None or text is None:
        return None
    text = unescaped(text)
    cut = full is None and (flagged_cut or _looks_cut(text))
    language, created_at = _string(value.get("lang")), _string(value.get("created_at"))
    return Tweet(number, text, cut, language, created_at, quotes, replies_to)


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


def _object(value: dict[str, Any], name: str) -> dict[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
