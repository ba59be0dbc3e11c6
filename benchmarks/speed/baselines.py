"""Baselines of the star transformer: the algorithm as first published, and full self-attention.

`OriginalStarTransformer` computes the same function as `StarTransformerEncoder` (dot product scores, one α per head,
norm and leaky ReLU after the attention) the way it was first published: texts padded to a rectangle, 1 × 1
convolutions, neighbors by unfolding windows, own token and relay laid out and projected once per token, entmax by 50
halvings. Unlike the published code it masks padding; otherwise the two would not be comparable.
"""

from __future__ import annotations

import math

import torch
from entmax import entmax_bisect
from torch import Tensor, nn
from torch.nn import functional as F

from linker.modules.encoders.attention import AttentionHeads
from linker.modules.encoders.encoder import Encoder
from linker.modules.encoders.star_transformer import Cycle, StarTransformerEncoder
from linker.modules.padding import pad_tokens

HALVINGS = 50


class OriginalHeads(nn.Module):
    """Projections as 1 × 1 convolutions over batch × dim × length × 1, and the heads' α."""

    def __init__(self, ours: AttentionHeads) -> None:
        super().__init__()
        self.num_heads, self.head_dim = ours.num_heads, ours.head_dim
        self.query = _convolution(ours.query)
        self.key = _convolution(ours.key)
        self.value = _convolution(ours.value)
        self.output = _convolution(ours.output)
        assert ours.alphas.theta is not None
        self.theta = nn.Parameter(ours.alphas.theta.detach().clone())

    def weights(self, scores: Tensor, dim: int) -> Tensor:
        """α-entmax of batch × heads × … along `dim`."""
        alpha = (1 + torch.sigmoid(self.theta).clamp_min(1e-4)).view(1, -1, 1, 1)
        return entmax_bisect(scores, alpha, dim=dim, n_iter=HALVINGS)


class OriginalRing(OriginalHeads):
    """Every token attends to its window and to its `context`."""

    def __init__(self, ours: AttentionHeads, window: int) -> None:
        super().__init__(ours)
        self.window = window

    def forward(self, tokens: Tensor, context: Tensor, mask: Tensor) -> Tensor:
        """From batch × dim × length × 1, context batch × dim × 2 × length, mask batch × length."""
        batch, _, length, _ = tokens.shape
        heads = (batch, self.num_heads, self.head_dim)
        query = self.query(tokens).view(*heads, 1, length)
        keys = torch.cat([self.windows(self.key(tokens)), self.key(context).view(*heads, -1, length)], 3)
        values = torch.cat(
            [self.windows(self.value(tokens)), self.value(context).view(*heads, -1, length)], 3
        )
        scores = (query * keys).sum(2) / math.sqrt(self.head_dim)
        inside = F.unfold(
            mask[:, None, :, None].to(scores.dtype), (2 * self.window + 1, 1), padding=(self.window, 0)
        )
        outside = F.pad(inside == 0, (0, 0, 0, context.shape[2]))
        weights = self.weights(scores.masked_fill(outside[:, None], -torch.inf), 2)
        attended = (weights[:, :, None] * values).sum(3)
        return self.output(attended.view(batch, -1, length, 1))

    def windows(self, x: Tensor) -> Tensor:
        """batch × heads × head_dim × window × length."""
        unfolded = F.unfold(x, (2 * self.window + 1, 1), padding=(self.window, 0))
        return unfolded.view(len(x), self.num_heads, self.head_dim, -1, x.shape[2])


class OriginalStar(OriginalHeads):
    """The relay attends to itself and to all tokens of its text."""

    def forward(self, relay: Tensor, tokens: Tensor, mask: Tensor) -> Tensor:
        """From batch × dim × 1 × 1 and batch × dim × length × 1."""
        batch = len(relay)
        everything = torch.cat([relay, tokens], 2)
        query = self.query(relay).view(batch, self.num_heads, 1, self.head_dim)
        keys = self.key(everything).view(batch, self.num_heads, self.head_dim, -1)
        values = self.value(everything).view(batch, self.num_heads, self.head_dim, -1)
        scores = query @ keys / math.sqrt(self.head_dim)
        outside = F.pad(~mask, (1, 0))[:, None, None]
        weights = self.weights(scores.masked_fill(outside, -torch.inf), 3)
        return self.output((weights @ values.transpose(2, 3)).view(batch, -1, 1, 1))


class OriginalStarTransformer(nn.Module):
    """The original algorithm with the weights of one of our encoders (score `dot`, learned α)."""

    def __init__(self, ours: StarTransformerEncoder) -> None:
        super().__init__()
        cycles = [cycle for cycle in ours.cycles if isinstance(cycle, Cycle)]
        assert all(cycle.ring.score == "dot" for cycle in cycles)
        self.rings = nn.ModuleList(OriginalRing(cycle.ring, cycle.window) for cycle in cycles)
        self.stars = nn.ModuleList(OriginalStar(cycle.star) for cycle in cycles)
        self.norms = nn.ModuleList(nn.LayerNorm(ours.input_dim) for _ in cycles)
        for norm, cycle in zip(self.norms, cycles):
            norm.load_state_dict(cycle.norm.state_dict())
        self.dropout = nn.Dropout(cycles[0].dropout)

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        """Text vectors, batch × dim, of padded token vectors, batch × length × dim, mask batch × length."""
        tokens = embedded.transpose(1, 2)[..., None]
        length = tokens.shape[2]
        real = mask[:, None, :, None]
        relay = (tokens * real).sum(2, keepdim=True) / mask.sum(1)[:, None, None, None]
        nodes = tokens
        for ring, star, norm in zip(self.rings, self.stars, self.norms):
            context = torch.cat([tokens.transpose(2, 3), relay.expand(-1, -1, -1, length)], 2)
            attended = self.dropout(ring(nodes, context, mask))
            normed = F.leaky_relu(norm(attended.squeeze(3).transpose(1, 2)))
            nodes = normed.transpose(1, 2)[..., None]
            relay = star(relay, nodes, mask)
        maximum = nodes.masked_fill(~real, -torch.inf).amax(2, keepdim=True)
        return ((maximum + relay) / 2).flatten(1)


class EveryToken(Encoder):
    """One of our encoders, with every token projected, however often its word occurs in the batch."""

    def __init__(self, inner: StarTransformerEncoder) -> None:
        super().__init__()
        self.inner = inner
        self.input_dim = self.output_dim = inner.input_dim

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """See `Encoder.forward`."""
        return self.inner(tokens, lengths)

    def any_lengths(self) -> bool:
        """See `Encoder.any_lengths`."""
        return self.inner.any_lengths()


class SelfAttentionEncoder(Encoder):
    """One layer of a transformer (Vaswani et al. 2017) over torch's fused attention, then the mean over tokens."""

    def __init__(self, dim: int = 300, num_heads: int = 10, dropout: float = 0.0) -> None:
        super().__init__()
        self.input_dim = self.output_dim = dim
        self.num_heads, self.dropout = num_heads, dropout
        self.inputs = nn.Linear(dim, 3 * dim)
        self.output = nn.Linear(dim, dim)
        self.feed_forward = nn.Sequential(nn.Linear(dim, 4 * dim), nn.ReLU(), nn.Linear(4 * dim, dim))
        self.norms = nn.ModuleList([nn.LayerNorm(dim), nn.LayerNorm(dim)])

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """See `Encoder.forward`."""
        x, mask = pad_tokens(tokens, lengths)
        parts = self.inputs(x).view(*x.shape[:2], 3, self.num_heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        allowed = None if bool(mask.all()) else mask[:, None, None]
        attended = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
        drop = self.dropout if self.training else 0.0
        x = self.norms[0](x + F.dropout(self.output(attended.transpose(1, 2).flatten(2)), drop))
        x = self.norms[1](x + F.dropout(self.feed_forward(x), drop))
        return (x * mask[..., None]).sum(1) / lengths[:, None]


def _convolution(linear: nn.Linear) -> nn.Conv2d:
    convolution = nn.Conv2d(linear.in_features, linear.out_features, 1, dtype=linear.weight.dtype)
    with torch.no_grad():
        convolution.weight.copy_(linear.weight[:, :, None, None])
        convolution.bias.copy_(linear.bias)  # type: ignore[union-attr]
    return convolution
