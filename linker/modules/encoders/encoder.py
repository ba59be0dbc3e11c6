"""Base class of encoders: token vectors to one embedding per text."""

from torch import Tensor, nn

from linker.config import Registrable


class Encoder(nn.Module, Registrable):
    """Turns token vectors into embeddings of texts.

    The texts of a batch are concatenated along one token axis, without padding. An embedding must not depend on the
    other texts of the batch.

    An encoder must define `forward`. If part of the computation depends on each word alone, `per_word` can do it once
    per distinct word, and `encode` the rest.

    Attributes:
        input_dim: length of the token vectors.
        output_dim: length of the embeddings.
    """

    default_component = "star_transformer"

    input_dim: int
    output_dim: int

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Encode a batch.

        Args:
            tokens: float, tokens × input_dim: the token vectors of all texts, concatenated.
            lengths: int64, texts: number of tokens per text, ≥ 1.

        Returns:
            float, texts × output_dim.
        """
        raise NotImplementedError

    def per_word(self, words: Tensor) -> tuple[Tensor, ...]:
        """Compute what depends on each word alone.

        Args:
            words: float, distinct words × input_dim.

        Returns:
            Tensors with one row per word.
        """
        return (words,)

    def encode(self, words: tuple[Tensor, ...], rows: Tensor, lengths: Tensor) -> Tensor:
        """Compute the rest of `forward`.

        Args:
            words: the output of `per_word`.
            rows: int64, tokens: each token's row in `words`.
            lengths: int64, texts.

        Returns:
            float, texts × output_dim.
        """
        return self(words[0][rows], lengths)

    def any_lengths(self) -> bool:
        """Return whether texts of very different lengths can be encoded together at no extra cost."""
        return False
