"""Two quotes of one tweet."""

from __future__ import annotations

from collections.abc import Iterator

from linker.mining.miner import Link, Member, Pair, PairMiner, of_children, quote_links
from linker.mining.tweets import Tweet


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
