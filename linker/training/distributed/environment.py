"""Rank and size of a distributed run from the environment of torchrun, SLURM or `linker train --devices`."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from linker.common.errors import LinkerError


class DistributedEnvironment(NamedTuple):
    """The place of this process in a run.

    Attributes:
        rank: number of this process, from 0.
        size: number of processes.
        local_rank: number of this process, and of its GPU, on this machine.
        host: host of the rendezvous store.
        port: port of the rendezvous store.
    """

    rank: int
    size: int
    local_rank: int
    host: str
    port: int


def environment_from(environment: Mapping[str, str]) -> DistributedEnvironment | None:
    """Return the place of this process; None if it is the only one.

    Raises:
        LinkerError: if the environment is incomplete.
    """
    try:
        if "RANK" in environment and "WORLD_SIZE" in environment:
            names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT")
            rank, size, local, port = (int(environment[name]) for name in names)
            host = environment["MASTER_ADDR"]
        elif int(environment.get("SLURM_STEP_NUM_TASKS", "1")) > 1:
            # Set by `srun` only: a batch script that starts linker without it is a single process.
            names = ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_JOB_ID")
            rank, size, local, job = (int(environment[name]) for name in names)
            port = int(environment.get("MASTER_PORT", 20_000 + job % 20_000))
            host = environment.get("MASTER_ADDR") or first_host(environment["SLURM_STEP_NODELIST"])
        else:
            return None
    except (KeyError, ValueError) as error:
        raise LinkerError(
            f"torchrun or srun started this process, but the environment lacks a value: {error}"
        ) from error
    return None if size == 1 else DistributedEnvironment(rank, size, local, host, port)


def first_host(nodes: str) -> str:
    """Return the first host of SLURM's short form, such as `gpu[07-09,12],big1`."""
    match = re.match(r"([^\[,]*)(?:\[([^\],-]+)[^\]]*\])?([^,]*)", nodes)
    assert match is not None  # any text begins with an empty host
    return match[1] + (match[2] or "") + match[3]
