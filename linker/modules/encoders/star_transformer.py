"""The Adaptive Star Transformer (Danovitch 2020, sections 3.4–3.5; Star-Transformer: Guo et al. 2019)."""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from typing_extensions import override

from linker.common.checks import at_least, between
from linker.modules.dropout import token_numbers
from linker.modules.encoders.attention import AttentionHeads, ScoreFunction
from linker.modules.encoders.encoder import Encoder
from linker.modules.kernels.dispatch import Kernels, kernels_for
from linker.modules.kernels.inputs import RingInput, StarInput
from linker.modules.padding import offsets_of


@Encoder.register("star_transformer")
class StarTransformerEncoder(Encoder):
    """Satellite nodes that attend to their neighbors, and a relay node that attends to all satellites.

    In each cycle every token attends to [h_(i−c) … h_(i+c); e_i; s] (ring), followed by layer norm and a leaky ReLU,
    and then the relay s to [s; h_1 … h_n] (star). The embedding is (max over tokens of h + s) / 2. Neighbors beyond the
    ends of a text are masked, not zero vectors.

    Paper: Danovitch 2020, https://arxiv.org/abs/2001.03303
    Paper: Guo et al. 2019, https://arxiv.org/abs/1902.09113

    Args:
        num_heads: number of attention heads; each has its own α in ring and star.
        head_dim: size of each head; null: the length of the token vectors divided by `num_heads`, rounded up.
        cycles: number of alternations of ring and star; 1 is nearly as good as more.
        window: number of neighbors on each side that a token attends to (c).
        score: `cosine` of query and key, as in the paper, or `dot` product / √head_dim, as in its author's code.
        alpha: one fixed α in [1, 2] for all heads (1 softmax, 2 sparsemax); null: one learned α per head.
        dropout: dropout on the output of attention.
    """

    def __init__(
        self,
        num_heads: int = 10,
        head_dim: int | None = None,
        cycles: int = 1,
        window: int = 1,
        score: ScoreFunction = "dot",
        alpha: float | None = None,
        dropout: float = 0.05,
        *,
        input_dim: int,
    ) -> None:
        at_least(1, num_heads=num_heads, head_dim=head_dim, cycles=cycles)
        at_least(0, window=window)
        super().__init__()
        if head_dim is None:
            head_dim = -(-input_dim // num_heads)
        self.input_dim = self.output_dim = input_dim
        self.cycles = nn.ModuleList(
            Cycle(input_dim, num_heads, head_dim, window, score, alpha, dropout) for _ in range(cycles)
        )

    @property
    def _first_ring(self) -> AttentionHeads:
        return cast(Cycle, self.cycles[0]).ring

    @override
    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        rows = torch.arange(len(tokens), device=tokens.device)
        return self.encode(self.per_word(tokens), rows, lengths)

    def per_word(self, words: Tensor) -> tuple[Tensor, ...]:
        """Return the word vectors and the first ring's queries, keys and values."""
        return words, self._first_ring.queries_keys_values(words)

    @override
    def encode(self, words: tuple[Tensor, ...], rows: Tensor, lengths: Tensor) -> Tensor:
        starts = offsets_of(lengths)
        vectors, qkv = words
        # (texts, dim)
        relay = F.embedding_bag(rows, vectors, starts, mode="mean", include_last_offset=True)
        satellites = None
        numbers = token_numbers(starts) if self.training else None
        for cycle in self.cycles:
            satellites, relay, maximum = cycle(satellites, vectors, qkv, rows, relay, starts, numbers)
        return (maximum + relay) / 2

    @override
    def any_lengths(self) -> bool:
        return kernels_for(self._first_ring.query.weight).ragged


class Cycle(nn.Module):
    """One cycle of ring and star attention, with its own weights."""

    def __init__(
        self,
        dim: int,
        num_heads: int,
        head_dim: int,
        window: int,
        score: ScoreFunction,
        alpha: float | None,
        dropout: float,
    ) -> None:
        super().__init__()
        between(0, 1, dropout=dropout)
        self.ring = AttentionHeads(dim, num_heads, head_dim, score, alpha)
        self.star = AttentionHeads(dim, num_heads, head_dim, score, alpha)
        self.norm = nn.LayerNorm(dim)
        self.window, self.dropout = window, dropout

    def forward(
        self,
        satellites: Tensor | None,
        words: Tensor,
        qkv: Tensor,
        rows: Tensor,
        relay: Tensor,
        starts: Tensor,
        numbers: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Run the cycle.

        Args:
            satellites: float, tokens × dim; None in the first cycle, where they are the token vectors.
            words: float, distinct words × dim.
            qkv: float, distinct words × 3I: the first ring's queries, keys and values, for the first cycle.
            rows: int64, tokens: each token's row in `words` and `qkv`.
            relay: float, texts × dim.
            starts: int64, texts + 1.
            numbers: int64, tokens: identities for dropout; None: 0, 1, …

        Returns:
            New satellites (tokens × dim), new relay (texts × dim), and the satellites' maximum (texts × dim).
        """
        kernels, ring = kernels_for(words), self.ring
        of_relay, alpha = ring.keys_values(relay), ring.alphas()
        if satellites is None:
            inputs = RingInput(qkv, rows, None, None, of_relay, starts, alpha, self.window)
        else:
            qkv, token = ring.queries_keys_values(satellites), ring.keys_values(words)
            inputs = RingInput(qkv, None, token, rows, of_relay, starts, alpha, self.window)
        context = kernels.ring(inputs)
        dropout = self.dropout if self.training else 0.0
        satellites = kernels.norm(ring.output(context), self.norm.weight, self.norm.bias, dropout, numbers)
        return satellites, *self._star(kernels, satellites, relay, starts)

    def _star(
        self, kernels: Kernels, satellites: Tensor, relay: Tensor, starts: Tensor
    ) -> tuple[Tensor, Tensor]:
        """New relay and maximum, each texts × dim.

        Keys and values are not computed per token: q · (W_K h) = (q W_K) · h, and the weighted sum of values is W_V
        times that of the satellites. Only cosine scores need the keys, for their norms.
        """
        star = self.star
        query = star.queries(relay)  # (texts, I)
        inputs = StarInput(satellites, relay, starts, star.alphas())
        if star.score == "dot":
            by_head = star.by_head(query)  # (texts, heads, head_dim)
            inputs = inputs._replace(
                folded=torch.bmm(by_head.transpose(0, 1), _by_head(star.key.weight, star)),
                shift=torch.einsum("thd,hd->th", by_head, star.key.bias.view(star.num_heads, -1)),
            )
        else:
            per_token = query.repeat_interleave(starts.diff(), 0, output_size=len(satellites))  # (tokens, I)
            inputs = inputs._replace(
                scores=star.by_head(star.keys(satellites) * per_token).sum(-1),
                relay_scores=star.by_head(star.keys(relay) * query).sum(-1),
            )
        mixture, maximum, _ = kernels.star(inputs)  # mixture: (heads, texts, dim)
        values = torch.bmm(
            mixture, _by_head(star.value.weight, star).transpose(1, 2)
        )  # (heads, texts, head_dim)
        return star.output(values.transpose(0, 1).flatten(1) + star.value.bias), maximum


def _by_head(weight: Tensor, heads: AttentionHeads) -> Tensor:
    """Reshape I × dim to heads × head_dim × dim."""
    return weight.view(heads.num_heads, heads.head_dim, -1)
