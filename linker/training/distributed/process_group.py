"""Processes that share a run: NCCL between GPUs, gloo between CPUs."""

import atexit
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn
from torch.distributed import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous
from typing_extensions import override

from linker.common.console import stderr
from linker.common.errors import LinkerError
from linker.training.distributed.context import ConnectionLost, DistributedContext
from linker.training.distributed.environment import DistributedEnvironment, environment_from

T = TypeVar("T")

# Dead processes are noticed at once. This is for live ones that never reach the collective.
PATIENCE = timedelta(minutes=30)
# Set by torchrun and `--devices`: a process that starts the others, hosts the rendezvous store and ends them together.
AGENT = "TORCHELASTIC_USE_AGENT_STORE"
#: Exit code of a process that waited in vain for another one, which may have reported why.
CONNECTION_LOST = 75
# Time for another process to report why, and for the launcher to see that it ended first.
_REPORT_SECONDS = 5.0


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
    """One of several processes. All methods but `split_by_tokens` wait for all of them."""

    def __init__(self, place: DistributedEnvironment) -> None:
        super().__init__(device_for(place.local_rank))
        self.rank, self.size = place.rank, place.size

    @override
    @_collective
    def gather(self, rows: Tensor, shares: list[list[int]]) -> Tensor:
        parts = self._gather_padded(rows, list(map(len, shares)))
        whole = rows.new_empty(sum(map(len, shares)), *rows.shape[1:])
        for part, share in zip(parts, shares):
            whole[torch.tensor(share, dtype=torch.int64, device=rows.device)] = part
        return whole

    @override
    @_collective
    def sum_gradients(self, parameters: Sequence[nn.Parameter], counted_once: Sequence[nn.Parameter]) -> None:
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
                gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                parameter.grad = gradient.contiguous()
                pending.append(distributed.all_reduce(parameter.grad, async_op=True))
        for work in pending:
            work.wait()

    @override
    @_collective
    def all_reduce_max(self, *values: int) -> list[int]:
        largest = torch.tensor(values, dtype=torch.int64)
        distributed.all_reduce(largest, distributed.ReduceOp.MAX)
        return largest.tolist()

    @override
    @_collective
    def all_gather_object(self, value: Any) -> list[Any]:
        # JSON, unlike torch's function of this name, which unpickles what it receives.
        data = torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)
        lengths = self._gather_padded(torch.tensor([len(data)]), [1] * self.size)
        parts = self._gather_padded(data, [int(length) for length in lengths])
        return [json.loads(part.numpy().tobytes()) for part in parts]

    def _gather_padded(self, rows: Tensor, counts: list[int]) -> list[Tensor]:
        """Return the rows of all processes by rank, of which each has another number."""
        padded = rows.new_zeros(max(counts), *rows.shape[1:])
        padded[: len(rows)] = rows
        parts = [torch.empty_like(padded) for _ in counts]
        distributed.all_gather(parts, padded)
        return [part[:count] for part, count in zip(parts, counts)]


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
    stderr.quiet = stderr.quiet or place.rank > 0
    agent = os.environ.get(AGENT) == "True"
    if agent:
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    store = _connect(place)
    try:
        backend = "cpu:gloo,cuda:nccl" if group.device.type == "cuda" else "gloo"
        distributed.init_process_group(
            backend, store=store, rank=place.rank, world_size=place.size, timeout=PATIENCE
        )
        yield group
        # The store ends with its host: exit together.
        group.all_reduce_max(0)
        # Before torch 2.4, destroying the group joins gloo's threads with the interpreter lock held, while such a
        # thread may wait for that lock to release a tensor of the last operation. Let them finish first.
        time.sleep(0.2)
        distributed.destroy_process_group()
    except ConnectionLost as error:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # by which a launcher ends the others
        time.sleep(_REPORT_SECONDS)
        if not agent:
            problem = f"process {place.rank} of {place.size} lost its connection to another one ({error})"
            print(f"error: {problem}", file=sys.stderr, flush=True)
        os._exit(CONNECTION_LOST)
    except Exception as error:
        first = str(place.rank).encode()
        with suppress(RuntimeError):  # the store is gone, and with it any other process that could report
            first = store.compare_set("failure", "", str(place.rank))
        if first != str(place.rank).encode():
            time.sleep(_REPORT_SECONDS)
            os._exit(CONNECTION_LOST)
        # Once the error is printed: threads of gloo that still run would abort the end of the process.
        atexit.register(_exit, 2 if isinstance(error, LinkerError) else 1)
        raise


def _connect(place: DistributedEnvironment) -> Store:
    """Return the store that all processes see.

    Raises:
        LinkerError: if it does not answer.
    """
    variables = {"RANK": place.rank, "WORLD_SIZE": place.size, "MASTER_ADDR": place.host}
    os.environ.update({name: str(value) for name, value in variables.items()}, MASTER_PORT=str(place.port))
    try:
        store, _, _ = next(iter(rendezvous("env://", timeout=timedelta(minutes=5))))
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise LinkerError(
            f"process {place.rank} cannot reach {place.host}:{place.port} ({reason})"
        ) from error
    return PrefixStore("linker", store)


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone: it may have been killed."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _exit(code: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
