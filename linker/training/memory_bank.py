"""Memory bank of posts of earlier batches (cross-batch memory: Wang et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from linker.common.checks import at_least


class CrossBatchMemory:
    """Settings of the memory bank: articles are also compared with posts of earlier batches, as encoded then.

    Stored vectors get no gradient and are as old as the memory is long, so it suits small learning rates. The posts of
    the current batch are never taken from the memory.

    Args:
        posts: number of posts stored.
        after_steps: use the memory from this step on, when vectors change slowly.
    """

    def __init__(self, posts: int = 4096, after_steps: int = 100) -> None:
        at_least(1, posts=posts)
        at_least(0, after_steps=after_steps)
        self.posts, self.after_steps = posts, after_steps


class MemoryBank:
    """The stored posts: rows of the training set and their vectors, oldest first.

    Args:
        size: maximum number of posts.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self.rows: list[int] = []
        self.vectors: Tensor | None = None

    def excluding(self, rows: Sequence[int]) -> tuple[list[int], Tensor | None]:
        """Return the stored posts that are not among `rows`, and their vectors (posts × dim), or None without any."""
        known = set(rows)
        places = [place for place, row in enumerate(self.rows) if row not in known]
        if not places or self.vectors is None:
            return [], None
        return [self.rows[place] for place in places], self.vectors[torch.tensor(places)]

    def enqueue(self, rows: Sequence[int], vectors: Tensor) -> None:
        """Store the posts of a batch; newer vectors replace older ones of the same post."""
        older, kept = self.excluding(rows)
        vectors = vectors.detach()
        self.rows = [*older, *rows][-self._size :]
        self.vectors = (vectors if kept is None else torch.cat([kept, vectors]))[-self._size :].clone()

    def state(self) -> dict[str, Tensor]:
        """Return what `restore` takes."""
        if self.vectors is None:
            return {}
        return {"rows": torch.tensor(self.rows, dtype=torch.int64), "vectors": self.vectors}

    def restore(self, state: dict[str, Tensor], device: torch.device) -> None:
        """Restore what `state` returned."""
        self.rows = state["rows"].tolist()[-self._size :] if state else []
        self.vectors = state["vectors"][-self._size :].to(device) if state else None
