"""`linker train --devices N`: N processes of a command on this machine, started and ended by torch's launcher."""

import logging
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType

from torch.distributed import TCPStore
from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, start_processes

from linker.training.distributed.process_group import AGENT, CONNECTION_LOST


def launch(arguments: Sequence[str], size: int) -> int:
    """Run `linker ARGUMENTS` in `size` connected processes; when one fails, end the others.

    Returns:
        The exit code of the process that failed first, or 1 if it was killed.
    """
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    environment = {
        # Together they use as many cores as a single process would.
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // size))),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
        "WORLD_SIZE": str(size),
        AGENT: "True",
    }
    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)  # the processes report why
    with tempfile.TemporaryDirectory() as logs:
        processes = start_processes(
            "linker",
            sys.executable,
            args=dict.fromkeys(range(size), ("-m", "linker.cli.main", *arguments)),
            envs={rank: environment | {"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(size)},
            logs_specs=DefaultLogsSpecs(log_dir=logs),
        )

        def pass_on(number: int, frame: FrameType | None) -> None:
            for pid in processes.pids().values():
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, pass_on)
        try:
            result = processes.wait(period=0.1)
        finally:
            processes.close(signal.SIGKILL)
    if result is None or not result.failures:
        return 0
    first = next(iter(result.failures.values()))
    problem = _problem(first.exitcode)
    if not problem:
        return first.exitcode
    print(f"error: process {first.local_rank} of {size} {problem}", file=sys.stderr)
    return 1


def _problem(code: int) -> str:
    """Return how a process ended that could not report it; empty if it could."""
    if code == CONNECTION_LOST:
        return "lost its connection: another process hangs, or took longer than 30 minutes for a step"
    if code >= 0:
        return ""
    hint = " (manually, or by the system because memory ran out)" if code == -signal.SIGKILL else ""
    return f"was ended by {signal.Signals(-code).name}{hint}; continue with --resume"
