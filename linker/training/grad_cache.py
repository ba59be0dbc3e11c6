"""Encoding a batch so that its gradient can be had, at once or in pieces (GradCache: Gao et al. 2021, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from linker.data.vocabulary import EncodedText
from linker.models.siamese.siamese import length_buckets
from linker.modules.kernels.dropout import Masks, drawing
from linker.training.rng_state import get_rng_state, set_rng_state

Encode = Callable[[Sequence[EncodedText]], Tensor]


class CachedBatch:
    """The vectors of some texts, and the way back from a gradient of theirs to the weights'.

    Where the texts are more than `chunk_tokens`, they are encoded in chunks without keeping what the way back needs;
    `backward` encodes each chunk again, with the same dropout, and so never holds more than one.

    Args:
        encode: from texts to vectors.
        texts: at least one.
        chunk_tokens: tokens encoded at a time, paddings counted; a longer text is a chunk of its own. None: all.
        masks: what is dropped out of each text; None: drawn for each chunk.
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
        """Add to the weights' gradients what `gradient` of the vectors makes of them."""
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
