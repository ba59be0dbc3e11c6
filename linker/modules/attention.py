"""Multi-head attention over small or ragged sets of keys, with α-entmax weights and one α per head."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from linker.modules.entmax import entmax

ScoreFunction = Literal["dot", "cosine"]


class HeadAlphas(nn.Module):
    """One α per head, learned inside (1, 2) or fixed.

    α = 1 + sigmoid(θ) cannot leave its legal range (the advice of the entmax maintainers); θ = 0 starts it at 1.5.
    """

    def __init__(self, num_heads: int, fixed: float | None = None) -> None:
        super().__init__()
        self.fixed = fixed
        if fixed is not None and not 1 <= fixed <= 2:
            raise ValueError(f"alpha is {fixed}, but must be in [1, 2]")
        self.theta = nn.Parameter(torch.zeros(num_heads)) if fixed is None else None

    def forward(self) -> Tensor | float:
        """float, heads × 1, or the fixed number."""
        if self.theta is None:
            assert self.fixed is not None
            return self.fixed
        theta = self.theta if self.theta.dtype == torch.float64 else self.theta.float()
        # Kept a hair above 1 where float32's sigmoid would round to 0.
        return 1 + torch.sigmoid(theta).clamp_min(1e-4)[:, None]


class AttentionHeads(nn.Module):
    """The projections and the score function that ring and star attention share.

    Args:
        dim: size of the vectors attended from and to.
        num_heads: number of heads.
        head_dim: size of each head's queries, keys and values.
        score: `cosine` of query and key, or `dot` product / √head_dim.
        alpha: a fixed α for all heads; None learns one per head.
    """

    def __init__(
        self, dim: int, num_heads: int, head_dim: int, score: ScoreFunction, alpha: float | None
    ) -> None:
        super().__init__()
        self.num_heads, self.head_dim, self.score = num_heads, head_dim, score
        inner = num_heads * head_dim
        self.query = nn.Linear(dim, inner)
        self.key = nn.Linear(dim, inner)
        self.value = nn.Linear(dim, inner)
        self.output = nn.Linear(inner, dim)
        self.alphas = HeadAlphas(num_heads, alpha)

    def _heads(self, flat: Tensor) -> Tensor:
        return flat.view(*flat.shape[:-1], self.num_heads, self.head_dim)

    def queries(self, x: Tensor) -> Tensor:
        """float, n × heads × head_dim, scaled so that a plain dot product with `keys` is the score."""
        q = self._heads(self.query(x))
        return nn.functional.normalize(q, dim=-1) if self.score == "cosine" else q / math.sqrt(self.head_dim)

    def keys(self, x: Tensor) -> Tensor:
        """float, n × heads × head_dim."""
        k = self._heads(self.key(x))
        return nn.functional.normalize(k, dim=-1) if self.score == "cosine" else k

    def values(self, x: Tensor) -> Tensor:
        """float, n × heads × head_dim."""
        return self._heads(self.value(x))

    def weigh(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """α-entmax over the last axis of scores, (...) × heads × keys."""
        return entmax(scores, self.alphas(), mask)

    def merge(self, context: Tensor) -> Tensor:
        """From n × heads × head_dim back to n × dim."""
        return self.output(context.flatten(-2))
