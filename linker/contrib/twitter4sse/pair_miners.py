"""Two replies to one tweet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from linker.config import Registrable
from linker.contrib.twitter4sse.tweets import Tweet


class Link(NamedTuple):
    """A tweet and the group it goes to.

    Attributes:
        key: the group; without tabs and line breaks.
        role: is the tweet what the group is about, or one of those about it?
        tweet: the tweet.
    """

    key: str
    role: Literal["parent", "child"]
    tweet: Tweet


@dataclass(frozen=True, slots=True)
class Member:
    """A tweet in a group, fit for pairs."""

    id: str
    text: str
    hash: int
    created_at: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tweets that belong together."""

    anchor: Member
    other: Member


class PairMiner(Registrable):
    """Gathers tweets under keys and makes at most one pair of each group.

    Attributes:
        child: what a child is called in reports, such as "quote".
        needs_parent: a group without its parent gives nothing.
    """

    child: ClassVar[str]
    needs_parent: ClassVar[bool]

    def links(self, tweets: list[Tweet]) -> Iterator[Link]:
        """The groups that the tweets of one object go to.

        Args:
            tweets: what `tweets_in` found in it.
        """
        raise NotImplementedError

    def pair(self, parent: Member | None, children: list[Member]) -> Pair | None:
        """The pair of a group, if it has one.

        Args:
            parent: what the group is about; None where it was not met or is not needed.
            children: up to two, their cleaned texts different, in an order that depends on nothing but ids.
        """
        raise NotImplementedError


def quote_links(tweets: list[Tweet], with_parents: bool) -> Iterator[Link]:
    """Quotes under the ids of what they quote."""
    quoted = {tweet.quotes for tweet in tweets} if with_parents else set()
    for tweet in tweets:
        if tweet.quotes and tweet.quotes != tweet.id:
            yield Link(tweet.quotes, "child", tweet)
        if tweet.id in quoted:
            yield Link(tweet.id, "parent", tweet)


def reply_links(tweets: list[Tweet], with_parents: bool) -> Iterator[Link]:
    """Replies under the ids of what they answer; any tweet may turn out to be answered."""
    for tweet in tweets:
        if tweet.replies_to and tweet.replies_to != tweet.id:
            yield Link(tweet.replies_to, "child", tweet)
        if with_parents:
            yield Link(tweet.id, "parent", tweet)


def with_parent(parent: Member | None, children: Iterable[Member]) -> Pair | None:
    """The parent and its first child that says something else."""
    if parent is None:
        return None
    return next((Pair(parent, child) for child in children if child.hash != parent.hash), None)


def of_children(children: list[Member]) -> Pair | None:
    """The first two children."""
    return Pair(children[0], children[1]) if len(children) > 1 else None


@PairMiner.register("quotes")
class Quotes(PairMiner):
    """Pairs a tweet with a quote of it (Qt in Di Giovanni & Brambilla 2021)."""

    child = "quote"
    needs_parent = True

    def links(self, tweets: list[Tweet]) -> Iterator[Link]:
        """Quotes, and the tweets that they hold."""
        return quote_links(tweets, with_parents=True)

    def pair(self, parent: Member | None, children: list[Member]) -> Pair | None:
        """The tweet and its first quote that says something else."""
        return with_parent(parent, children)


@PairMiner.register("replies")
class Replies(PairMiner):
    """Pairs a tweet with a reply to it, where the archives hold both (Rp)."""

    child = "reply"
    needs_parent = True

    def links(self, tweets: list[Tweet]) -> Iterator[Link]:
        """Replies, and every tweet as what may have been answered."""
        return reply_links(tweets, with_parents=True)

    def pair(self, parent: Member | None, children: list[Member]) -> Pair | None:
        """The tweet and its first reply that says something else."""
        return with_parent(parent, children)


@PairMiner.register("coquotes")
class CoQuotes(PairMiner):
    """Pairs two quotes of the same tweet (CoQt)."""

    child = "quote"
    needs_parent = False

    def links(self, tweets: list[Tweet]) -> Iterator[Link]:
        """Quotes alone: what they quote need not be known."""
        return quote_links(tweets, with_parents=False)

    def pair(self, parent: Member | None, children: list[Member]) -> Pair | None:
        """The first two quotes."""
        return of_children(children)


@PairMiner.register("coreplies")
class CoReplies(PairMiner):
    """Pairs two replies to the same tweet (CoRp)."""

    child = "reply"
    needs_parent = False

    def links(self, tweets: list[Tweet]) -> Iterator[Link]:
        """Replies alone: what they answer need not be known."""
        return reply_links(tweets, with_parents=False)

    def pair(self, parent: Member | None, children: list[Member]) -> Pair | None:
        """The first two replies."""
        return of_children(children)
