"""Two replies to one tweet."""

from __future__ import annotations

from collections.abc import Iterator

from linker.mining.miner import Link, Member, Pair, PairMiner, of_children, reply_links
from linker.mining.tweets import Tweet


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
