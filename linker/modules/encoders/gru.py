"""Gated recurrent units (Cho et al. 2014), in one or both directions: baselines of Danovitch 2020."""

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence
from typing_extensions import override

from linker.common.checks import at_least
from linker.modules.dropout import Dropout, text_numbers
from linker.modules.encoders.encoder import Encoder
from linker.modules.padding import pad_tokens


class _Recurrent(Encoder):
    """A one-layer GRU whose last state (of each direction) is the embedding."""

    def __init__(self, hidden_dim: int, dropout: float, bidirectional: bool, input_dim: int) -> None:
        super().__init__()
        self.input_dim, self.output_dim = input_dim, hidden_dim
        size = hidden_dim // 2 if bidirectional else hidden_dim
        self.gru = nn.GRU(input_dim, size, batch_first=True, bidirectional=bidirectional)
        self.dropout = Dropout(dropout)

    @override
    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        padded, _ = pad_tokens(tokens, lengths)  # (texts, longest, input_dim)
        packed = pack_padded_sequence(padded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, last = self.gru(packed)  # (directions, texts, size)
        return self.dropout(last.transpose(0, 1).flatten(1), text_numbers(tokens.device))


@Encoder.register("gru")
class GruEncoder(_Recurrent):
    """The state of a GRU after the last token.

    Paper: Cho et al. 2014, https://arxiv.org/abs/1406.1078

    Args:
        hidden_dim: length of the state and of the embedding; null: that of the token vectors.
        dropout: dropout on the embedding.
    """

    def __init__(self, hidden_dim: int | None = None, dropout: float = 0.05, *, input_dim: int) -> None:
        at_least(1, hidden_dim=hidden_dim)
        super().__init__(hidden_dim or input_dim, dropout, False, input_dim)


@Encoder.register("bigru")
class BiGruEncoder(_Recurrent):
    """The last states of a forward and a backward GRU, each of half the size.

    Paper: Cho et al. 2014, https://arxiv.org/abs/1406.1078

    Args:
        hidden_dim: length of the embedding, an even number; null: that of the token vectors, rounded up to even.
        dropout: dropout on the embedding.
    """

    def __init__(self, hidden_dim: int | None = None, dropout: float = 0.05, *, input_dim: int) -> None:
        at_least(1, hidden_dim=hidden_dim)
        hidden_dim = hidden_dim or input_dim + input_dim % 2
        if hidden_dim % 2:
            raise ValueError(
                f"hidden_dim: {hidden_dim} is odd, but both directions of a bigru have half of it; use an even number"
            )
        super().__init__(hidden_dim, dropout, True, input_dim)
