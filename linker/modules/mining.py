"""The family of miners: which positives and negatives of a batch are worth learning from."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from linker.config import Registrable


@dataclass
class MinedPairs:
    """What a miner chose: both boolean, anchors (articles) × posts, never true at the same place."""

    positives: Tensor
    negatives: Tensor

    @property
    def triplets(self) -> Tensor:
        """How many (article, positive, negative) triplets the choice forms, as an int64 scalar."""
        return (self.positives.sum(1) * self.negatives.sum(1)).sum()

    @property
    def pairs(self) -> Tensor:
        """How many pairs were chosen, as an int64 scalar."""
        return self.positives.sum() + self.negatives.sum()


class Miner(nn.Module, Registrable):
    """Chooses pairs of a batch; the choice carries no gradient."""

    default_component = "multi_similarity"

    #: Does it leave pairs out? The progress line then speaks of mined pairs or triplets.
    chooses = True

    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        """Choose pairs.

        Args:
            articles: float, A × D, unit length: the anchors.
            posts: float, P × D, unit length.
            relevance: bool, A × P.
        """
        raise NotImplementedError
