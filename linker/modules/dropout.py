"""Dropout masks as a function of a seed and the position, the same on every device and in every kernel.

The mask is not stored for the backward pass but computed again (counter-based generators, Salmon et al. 2011, with the
finalizer of MurmurHash3 as the function). Within `drawing`, seeds and positions are those of the whole training step,
so that the masks do not depend on how its texts are divided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from linker.common.checks import between

SPREAD, FIRST, SECOND = 0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35
CHUNK = 2048


@dataclass(frozen=True)
class Masks:
    """Identities that determine the masks of some texts of a training step.

    Attributes:
        seed: seed of the step.
        texts: int64, texts: each text's number in the step's batch.
        tokens: int64, texts: each text's start on the token axis of the step's batch.
    """

    seed: int
    texts: Tensor
    tokens: Tensor

    @classmethod
    def of_batch(cls, seed: int, lengths: Sequence[int]) -> Masks:
        """Make the masks of a whole batch, from the number of tokens of each text."""
        ends = torch.tensor(lengths, dtype=torch.int64).cumsum(0)
        return cls(seed, torch.arange(len(lengths)), torch.nn.functional.pad(ends, (1, 0))[:-1])

    def of(self, chosen: Sequence[int]) -> Masks:
        """Select those of some texts, in this order."""
        indices = torch.tensor(chosen, dtype=torch.int64)
        return Masks(self.seed, self.texts[indices], self.tokens[indices])

    def split(self, counts: list[int]) -> list[Masks]:
        """Split into those of the first counts[0] texts, the next counts[1], and so on."""
        pieces = zip(self.texts.split(counts), self.tokens.split(counts))
        return [Masks(self.seed, texts, tokens) for texts, tokens in pieces]


class _Drawing:
    def __init__(self, masks: Masks, part: int) -> None:
        self.masks, self.part, self.drawn = masks, part, 0


_current: ContextVar[_Drawing | None] = ContextVar("drawing", default=None)


@contextmanager
def drawing(masks: Masks | None, part: int = 0) -> Iterator[None]:
    """Determine the dropout masks of this block by `masks`.

    Args:
        masks: those of the texts encoded in the block; None: seeds come from torch's generator.
        part: number of the part of the model; each part has its own seeds, the same whenever it is entered.
    """
    token = _current.set(None if masks is None else _Drawing(masks, part))
    try:
        yield
    finally:
        _current.reset(token)


def masks_in_force() -> Masks | None:
    """Return the masks of the enclosing `drawing` block; None outside."""
    drawing = _current.get()
    return None if drawing is None else drawing.masks


def draw_seed(dropout: float) -> int:
    """Return a seed of 31 bits, from the step's seed or torch's generator; 0 without dropout."""
    if not dropout:
        return 0
    drawing = _current.get()
    if drawing is None:
        return int(torch.randint(2**31, (), dtype=torch.int64))
    drawing.drawn += 1
    return mixed(drawing.masks.seed, drawing.part, drawing.drawn)


def text_numbers(device: torch.device) -> Tensor | None:
    """Return the number of each encoded text in the step's batch, int64; None outside of `drawing`: 0, 1, …"""
    drawing = _current.get()
    return None if drawing is None else drawing.masks.texts.to(device)


def token_numbers(starts: Tensor) -> Tensor | None:
    """Return the number of each token in the step's batch, int64; None outside of `drawing`: 0, 1, …

    Args:
        starts: int64, texts + 1: start of each text on the token axis, and the end of the last one.
    """
    drawing = _current.get()
    if drawing is None:
        return None
    shift = drawing.masks.tokens.to(starts.device) - starts[:-1]
    tokens = int(starts[-1])
    return torch.arange(tokens, device=starts.device) + shift.repeat_interleave(
        starts.diff(), output_size=tokens
    )


def mixed(*numbers: int) -> int:
    """Hash numbers to 31 pseudo-random bits (the finalizer of SplitMix64)."""
    x, low = 0, 2**64 - 1
    for number in numbers:
        x = (x + number + 0x9E3779B97F4A7C15) & low
        x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & low
        x = ((x ^ x >> 27) * 0x94D049BB133111EB) & low
        x ^= x >> 31
    return x >> 33


def dropout_mask(
    rows: int, columns: int, dropout: float, seed: int, device: torch.device, numbers: Tensor | None = None
) -> Tensor:
    """Compute a dropout mask.

    Position i = number of the row · columns + column is hashed in 32-bit arithmetic: x = i · SPREAD + seed, then
    x ^= x >> 16, x *= FIRST, x ^= x >> 13, x *= SECOND, x ^= x >> 16; it is kept if x >> 8 ≥ dropout · 2^24.

    Args:
        rows: number of rows.
        columns: number of columns.
        dropout: probability that a number is dropped.
        seed: seed of the mask.
        device: device of the mask.
        numbers: int64, rows: the number of each row; None: 0, 1, …

    Returns:
        bool, rows × columns, true where numbers are kept.
    """
    mask = torch.empty(rows, columns, dtype=torch.bool, device=device)
    limit = int(dropout * 2**24)
    for start in range(0, rows, CHUNK):
        end = min(start + CHUNK, rows)
        if numbers is None:
            position = torch.arange(start * columns, end * columns, dtype=torch.int64, device=device)
        else:
            column = torch.arange(columns, dtype=torch.int64, device=device)
            position = (numbers[start:end, None] * columns + column).flatten()
        x = position.to(torch.int32)
        x = x.mul_(_signed(SPREAD)).add_(_signed(seed))
        x ^= (x >> 16) & 0xFFFF
        x *= _signed(FIRST)
        x ^= (x >> 13) & 0x7FFFF
        x *= _signed(SECOND)
        x ^= (x >> 16) & 0xFFFF
        mask[start:end] = (((x >> 8) & 0xFFFFFF) >= limit).view(-1, columns)
    return mask


def _signed(x: int) -> int:
    """The signed 32-bit number with the same bits."""
    x &= 0xFFFFFFFF
    return x - (1 << 32) if x >= 1 << 31 else x


class Dropout(nn.Module):
    """Dropout with masks that are a function of each row's identity.

    `torch.nn.Dropout` works, too, but with several processes or chunks its masks differ from those of one process.

    Args:
        dropout: probability that a number becomes 0 in training, 0 to 1; the others are scaled by 1 / (1 − dropout).
    """

    def __init__(self, dropout: float) -> None:
        between(0, 1, dropout=dropout)
        super().__init__()
        self.dropout = dropout

    def forward(self, x: Tensor, numbers: Tensor | None) -> Tensor:
        """Apply dropout in training mode.

        Args:
            x: float, rows × dim.
            numbers: int64, rows: the identity of each row (`text_numbers`, `token_numbers`, or word ids); None: its
                index.

        Returns:
            float, rows × dim.
        """
        if not self.training or not self.dropout:
            return x
        mask = dropout_mask(len(x), x.shape[1], self.dropout, draw_seed(self.dropout), x.device, numbers)
        return torch.where(mask, x, 0) * (1 / (1 - self.dropout) if self.dropout < 1 else 0.0)
