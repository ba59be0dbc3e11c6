"""Gradient caching: encoding and backpropagating a batch in chunks (GradCache: Gao et al. 2021, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from linker.data.token_axis import length_buckets
from linker.data.vocabulary import EncodedText
from linker.modules.kernels.dropout import Masks, drawing
from linker.training.rng_state import get_rng_state, set_rng_state

Encode = Callable[[Sequence[EncodedText]], Tensor]


class CachedBatch:
    """The vectors of some texts, and backpropagation from their gradient to the weights.

    Texts of more than `chunk_tokens` tokens are encoded in chunks without storing activations; `backward` encodes each
    chunk again, with the same dropout, so that the activations of one chunk are in memory at a time.

    Args:
        encode: returns the vectors of texts, float, texts × dim.
        texts: at least one.
        chunk_tokens: tokens encoded at a time, including padding; a longer text is a chunk. None: all.
        masks: dropout masks of each text; None: sampled for each chunk.
    """

    def __init__(
        self,
        encode: Encode,
        texts: Sequence[EncodedText],
        chunk_tokens: int | None,
        masks: Masks | None = None,
    ) -> None:
        self._encode, self._texts, self._masks = encode, texts, masks
        self._chunks = [list(range(len(texts)))]
        if chunk_tokens is not None:
            self._chunks = list(length_buckets([len(text.ids) for text in texts], chunk_tokens))
        self._states = []
        if len(self._chunks) == 1:
            self.vectors = self._vectors(list(range(len(texts))))
            return
        pieces = []
        with torch.no_grad():
            for chunk in self._chunks:
                self._states.append(get_rng_state())
                pieces.append(self._vectors(chunk))
        vectors = torch.cat(pieces)
        self.vectors = torch.empty_like(vectors)
        self.vectors[torch.tensor([i for chunk in self._chunks for i in chunk], device=vectors.device)] = (
            vectors
        )

    def backward(self, gradient: Tensor) -> None:
        """Backpropagate `gradient` of the vectors (texts × dim) to the weights."""
        if not self._states:
            if self.vectors.requires_grad:
                self.vectors.backward(gradient)
            return
        after = get_rng_state()
        for chunk, state in zip(self._chunks, self._states):
            set_rng_state(state)
            vectors = self._vectors(chunk)
            if vectors.requires_grad:
                vectors.backward(gradient[torch.tensor(chunk, device=gradient.device)])
        set_rng_state(after)

    def _vectors(self, chunk: list[int]) -> Tensor:
        with drawing(None if self._masks is None else self._masks.of(chunk)):
            return self._encode([self._texts[i] for i in chunk])
