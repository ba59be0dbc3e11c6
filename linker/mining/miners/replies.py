"""A tweet and a reply to it."""

from __future__ import annotations

from collections.abc import Iterator

from linker.mining.miner import Link, Member, Pair, PairMiner, reply_links, with_parent
from linker.mining.tweets import Tweet


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
