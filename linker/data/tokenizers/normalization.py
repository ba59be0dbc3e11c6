"""Normalization of post texts before they are split into word pieces."""

from __future__ import annotations

import re
from typing import Literal

from linker.data.tokenizers.patterns import URL, WORD, hashtag_words

#: `bertweet`: mentions and links as in BERTweet's training data; `hashtags`: hashtags split into words.
Normalization = Literal["none", "bertweet", "hashtags"]

_URL = re.compile(URL)
_MENTION = re.compile(r"(?<![\w@＠.])[@＠]\w+")
# Matches links first, so that a # inside a link does not start a hashtag.
_HASHTAG = re.compile(rf"({URL})|(?<!\w)[#＃]({WORD})")


def normalized(text: str, how: Normalization) -> str:
    """Return the text as a network reads it."""
    if how == "bertweet":
        return bertweet_normalized(text)
    return hashtags_split(text) if how == "hashtags" else text


def bertweet_normalized(text: str) -> str:
    """Replace mentions by `@USER` and links by `HTTPURL`; emojis and everything else stay."""
    return _MENTION.sub("@USER", _URL.sub("HTTPURL", text))


def hashtags_split(text: str) -> str:
    """Replace hashtags by the words in them; everything else stays."""
    return _HASHTAG.sub(lambda match: match[1] or " ".join(hashtag_words(match[2])), text)
