"""Dropout whose mask is a function of a seed and the place, so that every path drops the same numbers.

Nothing is stored between forward and backward: the mask is computed anew (the counter-based generators of Salmon
et al. 2011, with the finaliser of MurmurHash3 as function). While `drawing` is entered, seeds and places are those of
the whole step, so that the masks do not depend on how its texts were divided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from torch import Tensor

SPREAD, FIRST, SECOND = 0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35
CHUNK = 2048


@dataclass(frozen=True)
class Masks:
    """What decides the masks of some texts of a training step.

    Attributes:
        seed: of the step.
        texts: int64, each text's number in the step's batch.
        tokens: int64, where each text begins on the token axis of the step's batch.
    """

    seed: int
    texts: Tensor
    tokens: Tensor

    @classmethod
    def of_batch(cls, seed: int, lengths: Sequence[int]) -> Masks:
        """Those of a whole batch, whose texts have so many tokens each."""
        ends = torch.tensor(lengths, dtype=torch.int64).cumsum(0)
        return cls(seed, torch.arange(len(lengths)), torch.nn.functional.pad(ends, (1, 0))[:-1])

    def of(self, chosen: Sequence[int]) -> Masks:
        """Those of some of the texts, in this order."""
        places = torch.tensor(chosen, dtype=torch.int64)
        return Masks(self.seed, self.texts[places], self.tokens[places])

    def split(self, counts: list[int]) -> list[Masks]:
        """Those of the first texts, of the next ones, and so on."""
        pieces = zip(self.texts.split(counts), self.tokens.split(counts))
        return [Masks(self.seed, texts, tokens) for texts, tokens in pieces]


class _Drawing:
    def __init__(self, masks: Masks, part: int) -> None:
        self.masks, self.part, self.drawn = masks, part, 0


_current: ContextVar[_Drawing | None] = ContextVar("drawing", default=None)


@contextmanager
def drawing(masks: Masks | None, part: int = 0) -> Iterator[None]:
    """In this block what is dropped follows from `masks`; with None, seeds come from torch's generator as ever.

    Args:
        masks: of the texts that are encoded in the block.
        part: of the model; each has seeds of its own, the same whenever it is entered.
    """
    token = _current.set(None if masks is None else _Drawing(masks, part))
    try:
        yield
    finally:
        _current.reset(token)


def masks_in_force() -> Masks | None:
    """Those of the block this is called in; None outside."""
    drawing = _current.get()
    return None if drawing is None else drawing.masks


def draw_seed(dropout: float) -> int:
    """31 bits from the step's seed or torch's generator; 0, and nothing drawn, where nothing is dropped."""
    if not dropout:
        return 0
    drawing = _current.get()
    if drawing is None:
        return int(torch.randint(2**31, (), dtype=torch.int64))
    drawing.drawn += 1
    return mixed(drawing.masks.seed, drawing.part, drawing.drawn)


def text_numbers(device: torch.device) -> Tensor | None:
    """int64: the number in the step's batch of each text that is encoded; None: count them from 0."""
    drawing = _current.get()
    return None if drawing is None else drawing.masks.texts.to(device)


def token_numbers(starts: Tensor) -> Tensor | None:
    """int64: each token's number in the step's batch; None: count them from 0.

    Args:
        starts: int64, texts + 1: where each text begins, and where the last one ends.
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
    """31 bits that look drawn at random but follow from the numbers (the finaliser of SplitMix64)."""
    x, low = 0, 2**64 - 1
    for number in numbers:
        x = (x + number + 0x9E3779B97F4A7C15) & low
        x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & low
        x = ((x ^ x >> 27) * 0x94D049BB133111EB) & low
        x ^= x >> 31
    return x >> 33


def kept(
    rows: int,
    columns: int,
    dropout: float,
    seed: int,
    device: torch.device,
    numbers: Tensor | None = None,
) -> Tensor:
    """bool, rows × columns: which numbers stay.

    The number at place i = number of the row · columns + column is hashed in 32-bit arithmetic: x = i · SPREAD + seed,
    then x ^= x >> 16, x *= FIRST, x ^= x >> 13, x *= SECOND, x ^= x >> 16; it stays where x >> 8 ≥ dropout · 2^24.

    Args:
        rows, columns: the shape.
        dropout: the share that goes.
        seed: of the mask.
        device: where it is needed.
        numbers: int64, the number of each row; None counts from 0.
    """
    answer = torch.empty(rows, columns, dtype=torch.bool, device=device)
    limit = int(dropout * 2**24)
    for start in range(0, rows, CHUNK):
        end = min(start + CHUNK, rows)
        if numbers is None:
            place = torch.arange(start * columns, end * columns, dtype=torch.int64, device=device)
        else:
            column = torch.arange(columns, dtype=torch.int64, device=device)
            place = (numbers[start:end, None] * columns + column).flatten()
        x = place.to(torch.int32)
        x = x.mul_(_signed(SPREAD)).add_(_signed(seed))
        x ^= (x >> 16) & 0xFFFF
        x *= _signed(FIRST)
        x ^= (x >> 13) & 0x7FFFF
        x *= _signed(SECOND)
        x ^= (x >> 16) & 0xFFFF
        answer[start:end] = (((x >> 8) & 0xFFFFFF) >= limit).view(-1, columns)
    return answer


def _signed(x: int) -> int:
    """The 32-bit number with the same bits."""
    x &= 0xFFFFFFFF
    return x - (1 << 32) if x >= 1 << 31 else x
