"""Base class of losses over article and post embeddings."""

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn

from linker.config import Registrable
from linker.modules.miners import MinedPairs


class Loss(nn.Module, Registrable):
    """A loss over the mined pairs of a batch; without pairs it is 0 with zero gradients."""

    default_component = "triplet_margin"

    #: What the loss averages over, for the progress line.
    counts: Literal["pairs", "triplets", "texts"] = "pairs"

    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """Return the loss, a scalar.

        Args:
            articles: float, A × D; of unit length if the model's similarity is `cosine`.
            posts: float, P × D, like `articles`.
            pairs: the mined pairs, over A × P.
        """
        raise NotImplementedError

    def batch_loss(
        self, articles: Tensor, posts: Tensor, pairs: MinedPairs, post_rows: Sequence[int]
    ) -> tuple[Tensor, dict[str, float]]:
        """Return the loss of a batch and the figures to log, among them the one that `counts` names.

        Args:
            articles: as for `forward`, which computes the loss by default.
            posts: as for `forward`.
            pairs: as for `forward`.
            post_rows: the row of each post in the training set.
        """
        figures = {"pairs": float(pairs.pairs), "triplets": float(pairs.triplets)}
        return self(articles, posts, pairs), figures
