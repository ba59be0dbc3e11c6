"""Cleaning of tweet texts, and the filter of the tweets that are paired."""

from __future__ import annotations

import hashlib
import re
from typing import Literal, NamedTuple

from linker.common.errors import ConfigError
from linker.contrib.twitter4sse.tweets import Tweet
from linker.data.tokenizers.patterns import URL

_URL = re.compile(URL)
_MENTION = re.compile(r"(?<!\w)(?:[@＠]\w+)+")


def clean(text: str) -> str:
    """Return a text in lower case without links and mentions, with single spaces.

    This is the cleaning of Di Giovanni & Brambilla 2021.
    """
    if "/" in text or "…" in text or "www." in text.lower():  # Every link contains one of these.
        text = _URL.sub(" ", text)
    if "@" in text or "＠" in text:
        text = _MENTION.sub(" ", text)
    return " ".join(text.lower().split())


def text_hash(cleaned: str) -> int:
    """Return a 64-bit hash that identifies a text."""
    return int.from_bytes(hashlib.blake2b(cleaned.encode(), digest_size=8).digest(), "big")


class Usable(NamedTuple):
    """A text that passed the filter, and the hash of its cleaned form."""

    text: str
    hash: int


class TweetFilter:
    """Filter of the tweets that are paired.

    Args:
        min_length: minimum length of a cleaned text, in characters.
        languages: accepted languages by Twitter's guess; empty for any, None for English.
        texts: whether pairs have cleaned texts or the original ones.
    """

    def __init__(
        self,
        min_length: int = 20,
        languages: list[str] | None = None,
        texts: Literal["cleaned", "original"] = "cleaned",
    ) -> None:
        if min_length < 1:
            raise ConfigError(f"min_length is {min_length}; a text has at least 1 character")
        self.min_length = min_length
        self.languages = ["en"] if languages is None else languages
        self.texts = texts

    def judge(self, tweet: Tweet) -> Usable | str:
        """Return the text to use, or the first reason to reject the tweet: language, truncation, Unicode, length."""
        if self.languages and tweet.language not in self.languages:
            return "language unknown" if tweet.language is None else "another language"
        if tweet.cut:
            return "cut off"
        cleaned = clean(tweet.text)
        try:
            hashed = text_hash(cleaned)
        except UnicodeEncodeError:  # Half of a surrogate pair, which UTF-8 cannot encode.
            return "half a character"
        if len(cleaned) < self.min_length:
            return "too short"
        return Usable(cleaned if self.texts == "cleaned" else tweet.text, hashed)
