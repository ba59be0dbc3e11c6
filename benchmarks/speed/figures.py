"""Figures of one run of the speed benchmark."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.measurement import Seconds


@dataclass(frozen=True)
class Amounts:
    """Amounts to measure."""

    repeats: int
    encoded_articles: int = 64
    encoded_posts: int = 2048
    lengths: tuple[int, ...] = (128, 256, 512, 1024, 2048, 4096, 8192)
    growth_texts: int = 4
    batch: int = 32
    quick: bool = False


QUICK = Amounts(1, 4, 64, (128, 512, 1024), 4, 4, quick=True)


@dataclass
class Results:
    """All data of the report. Shares are of 1, memory is in bytes, times are in seconds.

    `difference` is the largest between the vectors of those that compute the same function.
    """

    machine: str
    command: str
    native_problem: str
    texts: dict[str, Any]
    amounts: Amounts
    step: Seconds = field(default_factory=dict)
    step_with_dropout: Seconds = field(default_factory=dict)
    articles: Seconds = field(default_factory=dict)
    posts: Seconds = field(default_factory=dict)
    memory_of_step: dict[str, int] = field(default_factory=dict)
    memory_of_encoding: dict[str, int] = field(default_factory=dict)
    encoding_by_length: dict[int, Seconds] = field(default_factory=dict)
    step_by_length: dict[int, Seconds] = field(default_factory=dict)
    memory_by_length: dict[int, dict[str, int]] = field(default_factory=dict)
    end_to_end: dict[str, Seconds] = field(default_factory=dict)
    end_to_end_counts: dict[str, int] = field(default_factory=dict)
    unknown_words: float = 0.0
    difference: float = 0.0
    minilm_problem: str = ""
