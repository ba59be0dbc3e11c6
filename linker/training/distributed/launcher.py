"""`linker train --devices N`: starts N processes of a command on this machine and supervises them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from types import FrameType

from torch.distributed import TCPStore

from linker.training.distributed.environment import STORE_IS_KEPT
from linker.training.distributed.watchdog import FAILURE, ended_key

# Time for the other processes to exit after one has failed.
GRACE_SECONDS = 10.0


def launch(arguments: Sequence[str], size: int) -> int:
    """Run `linker ARGUMENTS` in `size` connected processes.

    Args:
        arguments: the command line.
        size: number of processes.

    Returns:
        The exit code: that of the processes, or 1 if one of them was killed.
    """
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    environment = {
        **os.environ,
        # Together they use as many cores as a single process would.
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // size))),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
        "WORLD_SIZE": str(size),
        STORE_IS_KEPT: "True",
    }
    processes: list[subprocess.Popen] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        for process in processes:
            if process.poll() is None:
                process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        for rank in range(size):
            own = {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            command = [sys.executable, "-m", "linker.cli.main", *arguments]
            processes.append(subprocess.Popen(command, env=environment | own))
        return _wait(processes, store)
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait(processes: list[subprocess.Popen], store: TCPStore) -> int:
    ended: dict[int, int] = {}
    failed_at = 0.0
    while len(ended) < len(processes):
        for rank, process in enumerate(processes):
            code = process.poll()
            if code is None or rank in ended:
                continue
            ended[rank] = code
            if code and not failed_at:
                failed_at = time.monotonic()
                # Processes that exit by themselves have reported why.
                if not store.check([FAILURE]) and code < 0:
                    store.set(ended_key(rank), _how(code))
                elif not store.check([FAILURE]) and code not in (128 + signal.SIGTERM, 128 + signal.SIGINT):
                    store.set(ended_key(rank), f"ended with exit code {code}")
        if failed_at and time.monotonic() - failed_at > GRACE_SECONDS:
            for process in processes:
                process.kill()
        time.sleep(0.05)
    codes = [code for code in ended.values() if code]
    if codes and all(code < 0 for code in codes) and not store.check([FAILURE]):
        rank, code = next((rank, code) for rank, code in ended.items() if code)
        print(f"error: process {rank} {_how(code)}", file=sys.stderr)
    # The exit code of the process that failed first says more than those of the others.
    own = [code for code in codes if code > 1]
    return own[0] if own else int(bool(codes))


def _how(code: int) -> str:
    name = signal.Signals(-code).name
    hint = " (manually, or by the system because memory ran out)" if code == -signal.SIGKILL else ""
    return f"was ended by {name}{hint}"
