"""Convolutions over n-grams with max pooling (Kim 2014), a baseline of Danovitch 2020."""

import torch
from torch import Tensor, nn
from typing_extensions import override

from linker.common.checks import at_least
from linker.modules.dropout import Dropout, text_numbers
from linker.modules.encoders.encoder import Encoder
from linker.modules.padding import pad_tokens


@Encoder.register("cnn")
class CnnEncoder(Encoder):
    """Max-pooled activations of n-gram filters, projected to the output size.

    Only windows completely inside the text count; a text shorter than an n-gram is padded with zero vectors to one
    window.

    Paper: Kim 2014, https://arxiv.org/abs/1408.5882

    Args:
        num_filters: number of filters per n-gram size.
        ngram_sizes: window sizes in tokens; 1 to 4 in the paper.
        hidden_dim: length of the embedding; null: that of the token vectors.
        dropout: dropout on the pooled activations.
    """

    def __init__(
        self,
        num_filters: int = 100,
        ngram_sizes: tuple[int, ...] = (1, 2, 3, 4),
        hidden_dim: int | None = None,
        dropout: float = 0.05,
        *,
        input_dim: int,
    ) -> None:
        at_least(1, num_filters=num_filters, hidden_dim=hidden_dim)
        if not ngram_sizes or min(ngram_sizes) < 1:
            raise ValueError(f"ngram_sizes: {list(ngram_sizes)} is empty or has a number below 1")
        super().__init__()
        hidden_dim = hidden_dim or input_dim
        self.input_dim, self.output_dim = input_dim, hidden_dim
        self.ngram_sizes = tuple(ngram_sizes)
        self.convolutions = nn.ModuleList(nn.Conv1d(input_dim, num_filters, n) for n in self.ngram_sizes)
        self.dropout = Dropout(dropout)
        self.output = nn.Linear(num_filters * len(self.ngram_sizes), hidden_dim)

    @override
    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        padded, _ = pad_tokens(tokens, lengths, minimum=max(self.ngram_sizes))
        return self.output(self.dropout(self._pooled(padded, lengths), text_numbers(tokens.device)))

    def _pooled(self, padded: Tensor, lengths: Tensor) -> Tensor:
        """Maximum of each filter over the windows in a text: float, texts × all filters.

        Args:
            padded: float, texts × longest × dim, at least as long as the longest n-gram.
            lengths: int64, texts.
        """
        padded = padded.transpose(1, 2)  # (texts, dim, longest)
        pooled = []
        for size, convolution in zip(self.ngram_sizes, self.convolutions):
            activations = torch.relu(convolution(padded))  # (texts, filters, windows)
            windows = (lengths - size + 1).clamp_min(1)  # (texts,)
            inside = torch.arange(activations.shape[-1], device=lengths.device) < windows[:, None]
            # Activations are ≥ 0 after the ReLU, so masked ones never exceed real ones.
            pooled.append((activations * inside[:, None]).amax(-1))  # (texts, filters)
        return torch.cat(pooled, -1)
