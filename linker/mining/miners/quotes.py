"""A tweet and a quote of it."""

from __future__ import annotations

from collections.abc import Iterator

from linker.mining.miner import Link, Member, Pair, PairMiner, quote_links, with_parent
from linker.mining.tweets import Tweet


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
