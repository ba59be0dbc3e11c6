"""Pairs of tweets that quote or answer each other, or the same tweet (Di Giovanni & Brambilla 2021, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from linker.config import Registrable
from linker.contrib.twitter4sse.tweets import Tweet


class Link(NamedTuple):
    """A tweet and the group it belongs to.

    Attributes:
        key: the group; no tabs or line breaks.
        role: whether the group is about the tweet (parent) or the tweet is one of the group's children.
        tweet: the tweet.
    """

    key: str
    role: Literal["parent", "child"]
    tweet: Tweet


@dataclass(frozen=True, slots=True)
class Member:
    """A tweet of a group that passed the filter.

    Attributes:
        id: the tweet's id.
        text: the text to write.
        hash: 64-bit hash of the cleaned text.
        created_at: date and time as in the object.
    """

    id: str
    text: str
    hash: int
    created_at: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two related tweets."""

    anchor: Member
    other: Member


class PairMiner(Registrable):
    """Base class of pair miners: group tweets by keys, and make at most one pair of each group.

    Attributes:
        child: name of a child in reports, such as "quote".
        needs_parent: whether the anchor of a pair is the group's parent; otherwise it is the first child.
    """

    child: ClassVar[str]
    needs_parent: ClassVar[bool]

    def links(self, tweets: list[Tweet]) -> Iterator[Link]:
        """Yield the groups of the tweets that `tweets_in` found in one object."""
        raise NotImplementedError

    def pair(self, parent: Member | None, children: list[Member]) -> Pair | None:
        """Return the pair of a group, or None.

        Args:
            parent: the tweet that the group is about; None if it was not found or is not needed.
            children: up to two, with different cleaned texts, ordered by a hash of their ids.
        """
        if not self.needs_parent:
            return Pair(children[0], children[1]) if len(children) > 1 else None
        if parent is None:
            return None
        return next((Pair(parent, child) for child in children if child.hash != parent.hash), None)


@PairMiner.register("quotes")
class Quotes(PairMiner):
    """Pair a tweet with a quote of it (Qt in the paper).

    Paper: Di Giovanni and Brambilla 2021, https://arxiv.org/abs/2110.02030
    """

    child = "quote"
    needs_parent = True

    def links(self, tweets: list[Tweet]) -> Iterator[Link]:
        """Yield quotes by the id of the quoted tweet, which is in the same object."""
        quoted = {tweet.quotes for tweet in tweets} if self.needs_parent else set()
        for tweet in tweets:
            if tweet.quotes and tweet.quotes != tweet.id:
                yield Link(tweet.quotes, "child", tweet)
            if tweet.id in quoted:
                yield Link(tweet.id, "parent", tweet)


@PairMiner.register("replies")
class Replies(PairMiner):
    """Pair a tweet with a reply to it, if the archives contain both (Rp).

    Paper: Di Giovanni and Brambilla 2021, https://arxiv.org/abs/2110.02030
    """

    child = "reply"
    needs_parent = True

    def links(self, tweets: list[Tweet]) -> Iterator[Link]:
        """Yield replies by the id of the answered tweet, which any tweet of the archives may be."""
        for tweet in tweets:
            if tweet.replies_to and tweet.replies_to != tweet.id:
                yield Link(tweet.replies_to, "child", tweet)
            if self.needs_parent:
                yield Link(tweet.id, "parent", tweet)


@PairMiner.register("coquotes")
class CoQuotes(Quotes):
    """Pair two quotes of the same tweet, which the archives need not contain (CoQt).

    Paper: Di Giovanni and Brambilla 2021, https://arxiv.org/abs/2110.02030
    """

    needs_parent = False


@PairMiner.register("coreplies")
class CoReplies(Replies):
    """Pair two replies to the same tweet, which the archives need not contain (CoRp).

    Paper: Di Giovanni and Brambilla 2021, https://arxiv.org/abs/2110.02030
    """

    needs_parent = False
