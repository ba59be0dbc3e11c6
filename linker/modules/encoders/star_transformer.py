"""The Adaptive Star Transformer (Danovitch 2020, sections 3.4–3.5; Star-Transformer: Guo et al. 2019)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from linker.bounds import at_least
from linker.modules.attention import AttentionHeads, ScoreFunction
from linker.modules.encoder import Encoder, offsets_of


@Encoder.register("star_transformer")
class StarTransformerEncoder(Encoder):
    """Satellites that attend to their neighbours, and a relay that attends to all satellites.

    In each cycle every token attends to [h_(i−c) … h_(i+c); e_i; s] (ring), followed by layer norm and a leaky ReLU,
    and then the relay s to [s; h_1 … h_n] (star). The text vector is (max over tokens of h + s) / 2. Neighbours beyond
    the ends of a text do not exist: they are masked, not zero vectors.

    Args:
        num_heads: attention heads, each with an α of its own in ring and star.
        head_dim: size of each head.
        cycles: how many times ring and star take turns; 1 is nearly as good as more.
        window: neighbours on each side that a token attends to (c).
        score: `cosine` of query and key, which the paper names, or `dot` product / √head_dim, as in its author's code.
        alpha: one fixed α in [1, 2] for all heads (1 softmax, 2 sparsemax) instead of a learned one per head.
        dropout: on what attention puts out, while training.
        positions: add sinusoidal positions to the token vectors.
    """

    def __init__(
        self,
        num_heads: int = 10,
        head_dim: int = 30,
        cycles: int = 1,
        window: int = 1,
        score: ScoreFunction = "dot",
        alpha: float | None = None,
        dropout: float = 0.05,
        positions: bool = False,
        *,
        input_dim: int,
    ) -> None:
        at_least(1, num_heads=num_heads, head_dim=head_dim, cycles=cycles)
        at_least(0, window=window)
        super().__init__()
        self.input_dim = self.output_dim = input_dim
        self.window, self.positions = window, positions

        self.cycles = nn.ModuleList(
            Cycle(input_dim, num_heads, head_dim, score, alpha, dropout) for _ in range(cycles)
        )

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """float, texts × input_dim; see `Encoder.forward`."""
        return self.encode_with_attention(tokens, lengths)[0]

    def token_weights(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """The relay's attention to each token, the mean over heads; exactly 0 where no head looks."""
        return self.encode_with_attention(tokens, lengths)[1].mean(-1)

    def encode_with_attention(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Text vectors, and the relay's last attention weights: float, tokens × heads."""
        layout = _Layout(lengths, self.window)
        if self.positions:
            tokens = tokens + _sinusoids(layout.position, self.input_dim).to(tokens.dtype)
        satellites, relay = tokens, layout.mean(tokens)
        for cycle in self.cycles:
            satellites, relay, weights = cycle(satellites, tokens, relay, layout)
        return (layout.maximum(satellites) + relay) / 2, weights


class Cycle(nn.Module):
    """One turn of ring and star, with weights of its own."""

    def __init__(
        self,
        dim: int,
        num_heads: int,
        head_dim: int,
        score: ScoreFunction,
        alpha: float | None,
        dropout: float,
    ) -> None:
        super().__init__()
        self.ring = AttentionHeads(dim, num_heads, head_dim, score, alpha)
        self.star = AttentionHeads(dim, num_heads, head_dim, score, alpha)
        self.norm = nn.LayerNorm(dim)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, satellites: Tensor, tokens: Tensor, relay: Tensor, layout: _Layout
    ) -> tuple[Tensor, Tensor, Tensor]:
        """New satellites (tokens × dim), new relay (texts × dim), the relay's weights (tokens × heads)."""
        ring_context = _ring_attention(self.ring, satellites, tokens, relay, layout)
        satellites = nn.functional.leaky_relu(self.norm(self.dropout(self.ring.merge(ring_context))))
        star_context, weights = _star_attention(self.star, satellites, relay, layout)
        return satellites, self.star.merge(star_context), weights


class _Layout:
    """Where the texts of a batch lie on the token axis, and sums, maxima and neighbours within them."""

    def __init__(self, lengths: Tensor, window: int) -> None:
        self.lengths = lengths
        self.starts = offsets_of(lengths)
        count = len(lengths)
        self.text = torch.repeat_interleave(torch.arange(count, device=lengths.device), lengths)
        self.position = torch.arange(len(self.text), device=lengths.device) - self.starts[self.text]
        self.window = window
        # The padded place of each token in (texts × longest) arrays of scores: one number per head, never vectors.
        self.longest = int(lengths.max())
        self.place = self.text * self.longest + self.position

    def neighbour_exists(self, offset: int) -> Tensor:
        """bool, tokens: is the token `offset` places away in the same text?"""
        there = self.position + offset
        return (there >= 0) & (there < self.lengths[self.text])

    def mean(self, x: Tensor) -> Tensor:
        """float, texts × dim, the mean over each text's tokens."""
        return torch.segment_reduce(x, "mean", lengths=self.lengths, unsafe=True)

    def maximum(self, x: Tensor) -> Tensor:
        """float, texts × dim, the maximum over each text's tokens."""
        return torch.segment_reduce(x, "max", lengths=self.lengths, unsafe=True)

    def total(self, x: Tensor) -> Tensor:
        """float, texts × …, the sum over each text's tokens."""
        return x.new_zeros(len(self.lengths), *x.shape[1:]).index_add(0, self.text, x)

    def pad(self, x: Tensor, fill: float) -> Tensor:
        """From tokens × heads to texts × heads × longest, `fill` where no token is."""
        padded = x.new_full((len(self.lengths) * self.longest, x.shape[1]), fill)
        return padded.index_copy(0, self.place, x).view(len(self.lengths), self.longest, -1).transpose(1, 2)

    def unpad(self, x: Tensor) -> Tensor:
        """From texts × heads × longest to tokens × heads."""
        return x.transpose(1, 2).reshape(-1, x.shape[1])[self.place]


def _shift(x: Tensor, offset: int) -> Tensor:
    """Row i becomes row i + offset; rows from beyond the ends are zero (and masked by whoever asks)."""
    if offset == 0:
        return x
    size = min(abs(offset), len(x))
    gap = x.new_zeros(size, *x.shape[1:])
    return torch.cat([x[size:], gap]) if offset > 0 else torch.cat([gap, x[: len(x) - size]])


def _ring_attention(
    heads: AttentionHeads, satellites: Tensor, tokens: Tensor, relay: Tensor, at: _Layout
) -> Tensor:
    """Each satellite attends to its neighbourhood, its own token and the relay: tokens × heads × head_dim."""
    query = heads.queries(satellites)
    key, value = heads.keys(satellites), heads.values(satellites)
    same = satellites is tokens
    token_key, token_value = (key, value) if same else (heads.keys(tokens), heads.values(tokens))
    relay_key, relay_value = heads.keys(relay)[at.text], heads.values(relay)[at.text]
    offsets = range(-at.window, at.window + 1)
    scores = [
        (query * _shift(key, offset)).sum(-1).masked_fill(~at.neighbour_exists(offset)[:, None], -torch.inf)
        for offset in offsets
    ]
    scores += [(query * token_key).sum(-1), (query * relay_key).sum(-1)]
    weights = heads.weigh(torch.stack(scores, -1)).to(value.dtype)
    context = weights[..., -2, None] * token_value + weights[..., -1, None] * relay_value
    for column, offset in enumerate(offsets):
        context = context + weights[..., column, None] * _shift(value, offset)
    return context


def _star_attention(
    heads: AttentionHeads, satellites: Tensor, relay: Tensor, at: _Layout
) -> tuple[Tensor, Tensor]:
    """The relay attends to itself and all satellites: texts × heads × head_dim, and the weights, tokens × heads."""
    query = heads.queries(relay)
    scores = (query[at.text] * heads.keys(satellites)).sum(-1)
    own = (query * heads.keys(relay)).sum(-1)
    padded = torch.cat([own[..., None], at.pad(scores, -torch.inf)], -1)
    weights = heads.weigh(padded).to(satellites.dtype)
    token_weights = at.unpad(weights[..., 1:])
    context = at.total(token_weights[..., None] * heads.values(satellites))
    return context + weights[..., 0, None] * heads.values(relay), token_weights


def _sinusoids(position: Tensor, dim: int) -> Tensor:
    """Sinusoidal positions (Vaswani et al. 2017, section 3.5): float, tokens × dim."""
    rates = torch.exp(torch.arange(0, dim, 2, device=position.device) * (-math.log(10_000.0) / dim))
    angles = position[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :dim]
