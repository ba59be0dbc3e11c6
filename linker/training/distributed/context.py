"""The processes that share the work of a run, as the trainer sees them; here there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn


class ConnectionLost(Exception):  # noqa: N818
    """Another process did not answer; why is for `Watchdog` to find out."""


class DistributedContext:
    """This process alone; `linker.training.distributed.process_group` has several of them.

    Attributes:
        rank: this process's number, from 0; only number 0 writes.
        size: how many there are.
        device: where this process computes.
    """

    rank = 0
    size = 1

    def __init__(self, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)

    @property
    def is_main(self) -> bool:
        """Is this the process that writes?"""
        return self.rank == 0

    def split_by_tokens(self, lengths: Sequence[int]) -> list[list[int]]:
        """Which texts each process encodes: every text once, about as many tokens each.

        Args:
            lengths: tokens of each text.
        """
        shares: list[list[int]] = [[] for _ in range(self.size)]
        if self.size == 1:
            return [list(range(len(lengths)))]
        loads = [0] * self.size
        for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
            rank = min(range(self.size), key=loads.__getitem__)
            shares[rank].append(i)
            loads[rank] += lengths[i]
        return [sorted(share) for share in shares]

    def gather(self, own: Tensor, shares: list[list[int]]) -> Tensor:
        """All processes' rows in order, the same everywhere; no gradient passes.

        Args:
            own: this process's rows, in the order of its share.
            shares: what `shares` gave.
        """
        return own

    def sum_gradients(self, parameters: Sequence[nn.Parameter], counted_once: Sequence[nn.Parameter]) -> None:
        """Add up the gradients of all processes; a parameter has one if any process gave it one.

        Args:
            parameters: each process has its part of their gradients.
            counted_once: every process has the whole of theirs.
        """

    def all_reduce_max(self, *values: int) -> list[int]:
        """The highest that any process gives, for each of the values."""
        return list(values)

    def all_gather_object(self, value: Any) -> list[Any]:
        """Every process's value, by rank; JSON values."""
        return [value]

    def set_activity(self, what: str) -> None:
        """Note what this process is about to do, for whoever has to tell why it ended."""
