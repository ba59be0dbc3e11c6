"""Processes that share a run: NCCL between GPUs, gloo between CPUs."""

from __future__ import annotations

import atexit
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
from linker.training.distributed.context import ConnectionLost, DistributedContext
from linker.training.distributed.environment import DistributedEnvironment, environment_from
from linker.training.distributed.watchdog import Watchdog, connect

T = TypeVar("T")

# `Watchdog` notices dead processes. This is for live ones that never reach the collective.
PATIENCE = timedelta(hours=2)


def device_for(local_rank: int) -> torch.device:
    """Return the device of a process: its GPU, or the CPU if the machine has none.

    Raises:
        LinkerError: if there are fewer GPUs than processes.
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
            raise ConnectionLost(str(error)) from error

    return guarded


class ProcessGroup(DistributedContext):
    """One of several processes. All but `split_by_tokens` and `set_activity` wait for all of them."""

    def __init__(self, place: DistributedEnvironment) -> None:
        super().__init__(device_for(place.local_rank))
        self.rank, self.size = place.rank, place.size
        self._doing = ""

    @_collective
    def gather(self, own: Tensor, shares: list[list[int]]) -> Tensor:
        """See `DistributedContext.gather`."""
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
        """See `DistributedContext.sum_gradients`."""
        everything = [*parameters, *counted_once]
        # A parameter that no process used must have no gradient, so that the optimizer skips it.
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
    def all_reduce_max(self, *values: int) -> list[int]:
        """See `DistributedContext.all_reduce_max`."""
        found = torch.tensor(values, dtype=torch.int64)
        distributed.all_reduce(found, distributed.ReduceOp.MAX)
        return found.tolist()

    @_collective
    def all_gather_object(self, value: Any) -> list[Any]:
        """See `DistributedContext.all_gather_object`."""
        data = torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)
        lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        distributed.all_gather(lengths, torch.tensor([len(data)]))
        padded = torch.zeros(max(int(length) for length in lengths), dtype=torch.uint8)
        padded[: len(data)] = data
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        distributed.all_gather(parts, padded)
        return [json.loads(part[: int(length)].numpy().tobytes()) for part, length in zip(parts, lengths)]

    def set_activity(self, what: str) -> None:
        """See `DistributedContext.set_activity`."""
        self._doing = what


@contextmanager
def process_group() -> Iterator[DistributedContext]:
    """Join the processes of the run that the environment describes; a single process if it describes none.

    If one process fails, all exit, and one of them reports why.

    Raises:
        LinkerError: if the environment is incomplete or a GPU is missing.
    """
    place = environment_from(os.environ)
    if place is None:
        yield DistributedContext(device_for(0))
        return
    group = ProcessGroup(place)
    if place.rank:
        stderr.quiet = True
    try:
        store = connect(place, place.hosts_store)
        watch = Watchdog(place, connect(place, False), lambda: group._doing)
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
        # The store ends with its host: exit together, when none is watched any more.
        group.all_reduce_max(0)
        watch.stop()
        group.all_reduce_max(0)
        # Before torch 2.4, destroying the group joins gloo's threads with the interpreter lock held, while such a
        # thread may wait for that lock to release a tensor of the last operation. Let them finish first.
        time.sleep(0.2)
        distributed.destroy_process_group()
    except ConnectionLost as error:
        watch.wait_for_the_end(error)
        sys.exit(1)
    except Exception as error:
        if not watch.claim(str(error)):
            os._exit(1)
        watch.linger()
        # Once the error is printed: threads of gloo that still run would abort the end of the process.
        atexit.register(_exit, 2 if isinstance(error, LinkerError) else 1)
        raise


def _exit(code: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
