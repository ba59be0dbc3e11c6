"""Normalization of post texts before they are split into word pieces."""

import re
from typing import Literal

from linker.data.tokenizers.patterns import LINK, URL, WORD, hashtag_words

#: `bertweet`: mentions and links as in BERTweet's training data; `hashtags`: hashtags split into words;
#: `hashtags_and_links`: this, and shortened links without their random letters.
Normalization = Literal["none", "bertweet", "hashtags", "hashtags_and_links"]

_MENTION = re.compile(r"(?<![\w@＠.])[@＠]\w+")
# Matches links first, so that a # inside a link does not start a hashtag.
_HASHTAG = re.compile(rf"({URL})|(?<!\w)[#＃]({WORD})")

# Hosts whose links do not say where they lead: random letters follow. The list is a part of the models that read it:
# with another one they would embed the same posts differently. `data/links/lists.ini` may grow.
_SHORTENERS = (
    "t.co", "pic.twitter.com", "pic.x.com", "amp.twimg.com", "bit.ly", "bitly.com", "buff.ly", "cutt.ly",
    "dlvr.it", "fb.me", "fb.watch", "goo.gl", "ift.tt", "is.gd", "j.mp", "lnkd.in", "ow.ly", "rebrand.ly",
    "shar.es", "shorturl.at", "tinyurl.com", "tl.gd", "tmblr.co", "trib.al", "v.gd", "wp.me", "youtu.be",
    "abcn.ws", "apne.ws", "bbc.in", "bloom.bg", "cbsn.ws", "cnn.it", "econ.st", "fxn.ws", "huff.to", "n.pr",
    "nbcnews.to", "nyti.ms", "politi.co", "reut.rs", "ti.me", "usat.ly", "wapo.st", "wrd.cm",
)  # fmt: skip
_HOST = "|".join(map(re.escape, _SHORTENERS))
# Twitter puts pic.twitter.com directly after the last word.
_SHORTENED = re.compile(
    rf"(?:https?://(?:www\.)?(?:{_HOST})|pic\.twitter\.com|(?<![\w.@-])(?:{_HOST}))/", re.IGNORECASE
)


def normalized(text: str, how: Normalization) -> str:
    """Return the text as a network reads it."""
    if how == "bertweet":
        return bertweet_normalized(text)
    if how == "none":
        return text
    return hashtags_split(text, shortened_links=how == "hashtags")


def bertweet_normalized(text: str) -> str:
    """Replace mentions by `@USER` and links by `HTTPURL`; emojis and everything else stay."""
    return _MENTION.sub("@USER", LINK.sub("HTTPURL", text))


def hashtags_split(text: str, shortened_links: bool = True) -> str:
    """Replace hashtags by the words in them; everything else stays.

    Args:
        text: a post or an article.
        shortened_links: whether links such as `https://t.co/aBcD` stay as they are; otherwise they become `http`.
    """

    def read(match: re.Match[str]) -> str:
        link, tag = match.groups()
        if tag:
            return " ".join(hashtag_words(tag))
        # A link of which only the beginning is left, `https:…`, says as little.
        opaque = link[-1] == "…" or _SHORTENED.match(text, match.start())
        return " http " if opaque and not shortened_links else link

    return _HASHTAG.sub(read, text)
