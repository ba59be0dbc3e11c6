"""Tweets of the Twitter API, version 1.1, with cleaned texts, and the filter of those that are paired."""

import json
import re
from typing import Any, NamedTuple

from linker.common.errors import ConfigError
from linker.data.characters import unescaped
from linker.data.tokenizers.patterns import without_links

_MENTION = re.compile(r"(?<!\w)(?:[@＠]\w+)+")
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair, which UTF-8 cannot encode
# Old clients truncated texts at 140 characters and appended an ellipsis, before links at the end.
_CUT_LENGTH, _CUT = 135, re.compile(r"…(?:\s+http\S*)?\s*$")


class Tweet(NamedTuple):
    """The parts of a tweet that mining needs.

    Attributes:
        id: digits.
        text: the full text if the object has it, cleaned.
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


def clean(text: str) -> str:
    """Return a text in lower case without links and mentions, with single spaces.

    This is the cleaning of Di Giovanni & Brambilla 2021.
    """
    text = without_links(text)
    if "@" in text or "＠" in text:
        text = _MENTION.sub(" ", text)
    return " ".join(text.lower().split())


def tweets_of_line(line: bytes) -> list[Tweet] | str:
    """Return the tweets of a line, at least one, or the reason why it has none."""
    try:
        text = line.decode().strip().removeprefix("\ufeff")
        value = json.loads(text) if text else None
    except UnicodeDecodeError:
        return "invalid UTF-8"
    except (ValueError, RecursionError):  # Also for a number of more than 4,300 digits.
        return "broken JSON"
    if not isinstance(value, dict):
        return "not a JSON object" if text else "blank"
    return tweets_in(value) or ("notice of a deletion" if "delete" in value else "no tweet in it")


def tweets_in(value: dict[str, Any]) -> list[Tweet]:
    """Return the tweet of an object and the one that it quotes; a retweet counts as the original tweet."""
    original = _object(value, "retweeted_status") or value
    # In a retweet of a quote, some objects have the quoted tweet next to the quote, not in it.
    quoted = _tweet(_object(original, "quoted_status") or _object(value, "quoted_status"))
    tweet = _tweet(original)
    if tweet is not None and quoted is not None:
        tweet = tweet._replace(quotes=tweet.quotes or quoted.id)
    return list({item.id: item for item in (quoted, tweet) if item is not None}.values())


def _tweet(value: dict[str, Any]) -> Tweet | None:
    full = _string(_object(value, "extended_tweet"), "full_text") or _string(value, "full_text")
    text, number = full or _string(value, "text"), _id(value, "id")
    if number is None or text is None:
        return None
    text = unescaped(text)
    looks_cut = len(text) >= _CUT_LENGTH and _CUT.search(text) is not None
    return Tweet(
        number,
        clean(text),
        full is None and (value.get("truncated") is True or looks_cut),
        _string(value, "lang"),
        _string(value, "created_at"),
        _id(value, "quoted_status_id"),
        _id(value, "in_reply_to_status_id"),
    )


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


def _string(value: dict[str, Any], name: str) -> str | None:
    text = value.get(name)
    return text if isinstance(text, str) and text else None


class TweetFilter:
    """Filter of the tweets that are paired.

    Args:
        min_length: minimum length of a cleaned text, in characters.
        languages: accepted languages by Twitter's guess; empty for any.
    """

    def __init__(self, min_length: int = 20, languages: tuple[str, ...] = ("en",)) -> None:
        if min_length < 1:
            raise ConfigError(f"min_length is {min_length}; a text has at least 1 character")
        self.min_length, self.languages = min_length, languages

    def fault(self, tweet: Tweet) -> str | None:
        """Return the first reason to reject a tweet: language, truncation, Unicode, length; None: it is accepted."""
        if self.languages and tweet.language not in self.languages:
            return "language unknown" if tweet.language is None else "another language"
        if tweet.cut:
            return "cut off"
        if _HALF.search(tweet.text):
            return "half a character"
        return "too short" if len(tweet.text) < self.min_length else None
