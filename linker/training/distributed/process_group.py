"""Several processes that share a run: NCCL between GPUs, gloo between CPUs."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn

from linker.common.console import stderr
from linker.common.errors import LinkerError
from linker.training.distributed.context import LostContact, Workers
from linker.training.distributed.environment import Place, place_in
from linker.training.distributed.watchdog import Watch, connect

T = TypeVar("T")

# Dead processes are noticed by `Watch`. This is for those that live and never come.
PATIENCE = timedelta(hours=2)


def device_for(local_rank: int) -> torch.device:
    """Where the process of that number on this machine computes: its GPU, or the CPU where there is none.

    Raises:
        LinkerError: there are GPUs, but too few.
    """
    if not torch.cuda.is_available():
        return torch.device("cpu")
    if local_rank >= torch.cuda.device_count():
        raise LinkerError(
            f"process {local_rank} of this machine has no GPU of its own, there are {torch.cuda.device_count()}; "
            "start fewer, or hide the GPUs with CUDA_VISIBLE_DEVICES="
        )
    torch.cuda.set_device(local_rank)
    return torch.device("cuda", local_rank)


def _collective(method: Callable[..., T]) -> Callable[..., T]:
    @wraps(method)
    def guarded(*arguments: Any) -> T:
        try:
            return method(*arguments)
        except RuntimeError as error:
            raise LostContact(str(error)) from error

    return guarded


class Group(Workers):
    """One of several processes; every method but `shares` and `doing` waits for all of them."""

    def __init__(self, place: Place) -> None:
        super().__init__(device_for(place.local_rank))
        self.rank, self.size = place.rank, place.size
        self._doing = ""

    @_collective
    def gather(self, own: Tensor, shares: list[list[int]]) -> Tensor:
        """See `Workers.gather`."""
        longest = max(map(len, shares))
        padded = own.new_zeros(longest, *own.shape[1:])
        padded[: len(own)] = own
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        distributed.all_gather(parts, padded)
        whole = own.new_empty(sum(map(len, shares)), *own.shape[1:])
        for part, share in zip(parts, shares):
            whole[torch.tensor(share, dtype=torch.int64, device=own.device)] = part[: len(share)]
        return whole

    @_collective
    def sum_gradients(self, parameters: Sequence[nn.Parameter], counted_once: Sequence[nn.Parameter]) -> None:
        """See `Workers.sum_gradients`."""
        everything = [*parameters, *counted_once]
        # A parameter that no process used must stay without a gradient: optimisers leave it alone then.
        used = torch.tensor([p.grad is not None for p in everything], dtype=torch.int32, device=self.device)
        distributed.all_reduce(used, distributed.ReduceOp.MAX)
        if self.rank:
            for parameter in counted_once:
                if parameter.grad is not None:
                    parameter.grad.zero_()
        pending = []
        for parameter, flag in zip(everything, used.tolist()):
            if flag:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                parameter.grad = parameter.grad.contiguous()
                pending.append(distributed.all_reduce(parameter.grad, async_op=True))
        for work in pending:
            work.wait()

    @_collective
    def highest(self, *values: int) -> list[int]:
        """See `Workers.highest`."""
        found = torch.tensor(values, dtype=torch.int64)
        distributed.all_reduce(found, distributed.ReduceOp.MAX)
        return found.tolist()

    @_collective
    def all_of(self, value: Any) -> list[Any]:
        """See `Workers.all_of`."""
        data = torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)
        lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        distributed.all_gather(lengths, torch.tensor([len(data)]))
        padded = torch.zeros(max(int(length) for length in lengths), dtype=torch.uint8)
        padded[: len(data)] = data
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        distributed.all_gather(parts, padded)
        return [json.loads(part[: int(length)].numpy().tobytes()) for part, length in zip(parts, lengths)]

    def doing(self, what: str) -> None:
        """See `Workers.doing`."""
        self._doing = what


@contextmanager
def joined() -> Iterator[Workers]:
    """The processes of this run, as the environment says; this one alone where it says nothing.

    Whatever ends one process ends all, and one of them tells why.

    Raises:
        LinkerError: the environment is not whole, a GPU is missing, or what the block raises.
    """
    place = place_in(os.environ)
    if place is None:
        yield Workers(device_for(0))
        return
    group = Group(place)
    if place.rank:
        stderr.quiet = True
    try:
        store = connect(place, place.keeps_store)
        watch = Watch(place, connect(place, False), lambda: group._doing)
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise LinkerError(
            f"process {place.rank} cannot reach {place.host}:{place.port} ({reason})"
        ) from error
    watch.start()
    try:
        backend = "cpu:gloo,cuda:nccl" if group.device.type == "cuda" else "gloo"
        distributed.init_process_group(
            backend, store=store, rank=place.rank, world_size=place.size, timeout=PATIENCE
        )
        yield group
        # The store goes with the process that keeps it: leave together, when none is watched any more.
        group.highest(0)
        watch.stop()
        group.highest(0)
        # Before torch 2.4, destroying the group joins gloo's threads with the interpreter lock held, while such a
        # thread may wait for that lock to release a tensor of the last operation. Let them finish first.
        time.sleep(0.2)
        distributed.destroy_process_group()
    except LostContact as error:
        watch.wait_for_the_end(error)
        sys.exit(1)
    except Exception as error:
        if not watch.claim(str(error)):
            os._exit(1)
        watch.linger()
        raise
