"""Multi-head attention with α-entmax weights and one α per head, shared by ring and star attention."""

import math
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

ScoreFunction = Literal["dot", "cosine"]


class HeadAlphas(nn.Module):
    """One α per head, learned inside (1, 2) or fixed.

    α = 1 + sigmoid(θ) stays in its valid range, as the maintainers of entmax recommend; it starts at 1.5 (θ = 0).

    Args:
        num_heads: number of heads.
        fixed: one α in [1, 2] for all heads; None: learned.
    """

    def __init__(self, num_heads: int, fixed: float | None = None) -> None:
        super().__init__()
        if fixed is not None and not 1 <= fixed <= 2:
            raise ValueError(f"alpha: {fixed} is outside [1, 2]")
        self.theta = nn.Parameter(torch.zeros(num_heads)) if fixed is None else None
        constant = None if fixed is None else torch.full((num_heads,), float(fixed))
        self.register_buffer("constant", constant, persistent=False)

    def forward(self) -> Tensor:
        """Return α per head: float, heads."""
        if self.theta is None:
            assert isinstance(self.constant, Tensor)
            return self.constant
        # Stays slightly above 1 where the sigmoid would round to 0 in float32.
        return 1 + torch.sigmoid(self.theta).clamp_min(1e-4)


class AttentionHeads(nn.Module):
    """Projections and score function of ring and star attention; below, I = num_heads · head_dim.

    Args:
        dim: length of the vectors.
        num_heads: number of heads.
        head_dim: length of each head's queries, keys and values.
        score: `cosine` of query and key, or `dot` product / √head_dim.
        alpha: a fixed α for all heads; None: one learned α per head.
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

    @property
    def query_scale(self) -> float:
        """Factor of the queries, so that the dot product with a key is the score."""
        return 1.0 if self.score == "cosine" else 1 / math.sqrt(self.head_dim)

    def queries_keys_values(self, x: Tensor) -> Tensor:
        """Project to scaled queries, keys and values: float, n × dim → n × 3I; query · key is the score."""
        scale = self.query_scale
        weight = torch.cat([self.query.weight * scale, self.key.weight, self.value.weight])
        bias = torch.cat([self.query.bias * scale, self.key.bias, self.value.bias])
        qkv = F.linear(x, weight, bias)
        if self.score == "dot":
            return qkv
        inner = self.num_heads * self.head_dim
        return torch.cat([self._unit(qkv[:, : 2 * inner], 2), qkv[:, 2 * inner :]], -1)

    def queries(self, x: Tensor) -> Tensor:
        """Project to scaled queries: float, n × dim → n × I."""
        q = self.query(x)
        return self._unit(q) if self.score == "cosine" else q * self.query_scale

    def keys(self, x: Tensor) -> Tensor:
        """Project to keys: float, n × dim → n × I."""
        k = self.key(x)
        return self._unit(k) if self.score == "cosine" else k

    def keys_values(self, x: Tensor) -> Tensor:
        """Project to keys and values: float, n × dim → n × 2I."""
        return torch.cat([self.keys(x), self.value(x)], -1)

    def by_head(self, flat: Tensor) -> Tensor:
        """Reshape n × I to n × heads × head_dim."""
        return flat.view(len(flat), self.num_heads, self.head_dim)

    def _unit(self, flat: Tensor, parts: int = 1) -> Tensor:
        """Scale each head's part to unit length."""
        heads = flat.view(*flat.shape[:-1], parts * self.num_heads, self.head_dim)
        return F.normalize(heads, dim=-1).reshape(flat.shape)
