"""Base class of losses over article and post vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn

from linker.config import Registrable
from linker.modules.miners import MinedPairs


class Loss(nn.Module, Registrable):
    """A loss over the mined pairs of a batch; 0 with zero gradient if nothing can be learned."""

    default_component = "triplet_margin"

    #: What the loss is computed from, for the progress line.
    counts: Literal["pairs", "triplets", "texts"] = "pairs"

    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """Return the loss of a batch.

        Args:
            articles: float, articles × dim, unit length for cosines.
            posts: float, posts × dim, likewise.
            pairs: the chosen pairs, articles × posts.

        Returns:
            A scalar.
        """
        raise NotImplementedError

    def batch_loss(
        self, articles: Tensor, posts: Tensor, pairs: MinedPairs, post_rows: Sequence[int]
    ) -> tuple[Tensor, dict[str, float]]:
        """Return the loss of a batch and the figures to log. By default the loss is that of `forward`.

        Args:
            articles: as for `forward`.
            posts: as for `forward`.
            pairs: as for `forward`.
            post_rows: the row of each post in the training set.

        Returns:
            A scalar, and figures by name; among them the one that `counts` names.
        """
        figures = {"pairs": float(pairs.pairs), "triplets": float(pairs.triplets)}
        return self(articles, posts, pairs), figures
