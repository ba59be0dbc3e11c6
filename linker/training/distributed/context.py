"""The processes that share a run, as the trainer sees them: here a single one."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn


class ConnectionLost(Exception):  # noqa: N818
    """Another process did not answer."""


class DistributedContext:
    """A single process; `linker.training.distributed.process_group` has several.

    Attributes:
        rank: number of this process, from 0; only rank 0 writes.
        size: number of processes.
        device: where this process computes.
    """

    rank = 0
    size = 1

    def __init__(self, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)

    @property
    def is_main(self) -> bool:
        """Whether this is the process that writes."""
        return self.rank == 0

    def split_by_tokens(self, lengths: Sequence[int]) -> list[list[int]]:
        """Return which texts each process encodes: every text once, about as many tokens each.

        Args:
            lengths: tokens of each text.
        """
        longest_first = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
        return [sorted(longest_first[rank :: self.size]) for rank in range(self.size)]

    def gather(self, rows: Tensor, shares: list[list[int]]) -> Tensor:
        """Return the rows of all processes in order, equal in all of them; no gradient passes.

        Args:
            rows: the rows of this process, in the order of its share.
            shares: the result of `split_by_tokens`.
        """
        return rows

    def sum_gradients(self, parameters: Sequence[nn.Parameter], counted_once: Sequence[nn.Parameter]) -> None:
        """Sum the gradients of all processes; a parameter gets one if any process has one.

        Args:
            parameters: each process has a part of their gradients.
            counted_once: every process has their whole gradients.
        """

    def all_reduce_max(self, *values: int) -> list[int]:
        """Return the maximum over all processes of each value. Also a barrier."""
        return list(values)

    def all_gather_object(self, value: Any) -> list[Any]:
        """Return the values of all processes by rank; JSON values."""
        return [value]
