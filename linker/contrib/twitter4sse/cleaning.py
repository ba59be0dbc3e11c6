"""Which tweets are worth pairing, and what of their text counts."""

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
    """The text in lower case without links and mentions, spaces made single ones.

    This is the cleaning of Di Giovanni & Brambilla 2021.
    """
    if "/" in text or "…" in text or "www." in text.lower():  # no link is without one of these
        text = _URL.sub(" ", text)
    if "@" in text or "＠" in text:
        text = _MENTION.sub(" ", text)
    return " ".join(text.lower().split())


def text_hash(cleaned: str) -> int:
    """64 bits by which texts are told apart."""
    return int.from_bytes(hashlib.blake2b(cleaned.encode(), digest_size=8).digest(), "big")


class Usable(NamedTuple):
    """A text that may go into a pair, and the hash of its cleaned form."""

    text: str
    hash: int


class TweetFilter:
    """Lets tweets through whose texts are worth learning from.

    Args:
        min_length: characters that a cleaned text must have.
        languages: what Twitter must have guessed a tweet's language to be; empty: any.
        keep_cut: take texts too that are cut off in the object.
        texts: what goes into the pairs: the texts cleaned, or as they were posted.
    """

    def __init__(
        self,
        min_length: int = 20,
        languages: list[str] | None = None,
        keep_cut: bool = False,
        texts: Literal["cleaned", "original"] = "cleaned",
    ) -> None:
        if min_length < 1:
            raise ConfigError(f"min_length is {min_length}; a text has at least 1 character")
        self.min_length = min_length
        self.languages = ["en"] if languages is None else languages
        self.keep_cut, self.texts = keep_cut, texts

    def judge(self, tweet: Tweet) -> Usable | str:
        """The text to use, or why there is none: the first that holds of language, cut, Unicode, length."""
        if self.languages and tweet.language not in self.languages:
            return "language unknown" if tweet.language is None else "another language"
        if tweet.cut and not self.keep_cut:
            return "cut off"
        cleaned = clean(tweet.text)
        try:
            hashed = text_hash(cleaned)
        except UnicodeEncodeError:  # half of a surrogate pair, which no UTF-8 file can hold
            return "half a character"
        if len(cleaned) < self.min_length:
            return "too short"
        return Usable(cleaned if self.texts == "cleaned" else tweet.text, hashed)
