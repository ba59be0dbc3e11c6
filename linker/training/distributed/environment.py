"""Rank and size of a distributed run from the environment of torchrun, SLURM or `linker train --devices`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from linker.common.errors import LinkerError

# Set by torchrun and `--devices`: the launcher hosts the rendezvous store.
STORE_IS_KEPT = "TORCHELASTIC_USE_AGENT_STORE"


@dataclass(frozen=True)
class DistributedEnvironment:
    """The place of this process in a run.

    Attributes:
        rank: number of this process, from 0.
        size: number of processes.
        local_rank: number of this process, and of its GPU, on this machine.
        host: host of the rendezvous store.
        port: port of the rendezvous store.
        hosts_store: whether this process hosts it.
    """

    rank: int
    size: int
    local_rank: int
    host: str
    port: int
    hosts_store: bool


def environment_from(environment: Mapping[str, str]) -> DistributedEnvironment | None:
    """Return the place of this process; None if it is the only one.

    Raises:
        LinkerError: if the environment is incomplete.
    """
    if "RANK" in environment and "WORLD_SIZE" in environment:
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT")
        rank, size, local, port = _numbers(environment, names, "torchrun")
        host, kept = _host(environment, "torchrun"), environment.get(STORE_IS_KEPT) == "True"
    elif int(environment.get("SLURM_STEP_NUM_TASKS", "1")) > 1:
        # Set by `srun` only: a batch script that starts linker without it is a single process.
        names = ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_JOB_ID")
        rank, size, local, job = _numbers(environment, names, "srun")
        port = int(environment.get("MASTER_PORT", 20_000 + job % 20_000))
        host = environment.get("MASTER_ADDR") or first_host(environment.get("SLURM_STEP_NODELIST", ""))
        kept = False
    else:
        return None
    if size == 1:
        return None
    return DistributedEnvironment(rank, size, local, host, port, hosts_store=rank == 0 and not kept)


def first_host(nodes: str) -> str:
    """Return the first host of SLURM's short form, such as `gpu[07-09,12],big1`.

    Raises:
        LinkerError: if it contains no host.
    """
    match = re.match(r"([^\[,]+)(?:\[([^\],-]+)[^\]]*\])?([^,]*)", nodes)
    if not match:
        raise LinkerError(f"no host can be read from SLURM_STEP_NODELIST={nodes!r}; set MASTER_ADDR yourself")
    return match[1] + (match[2] or "") + match[3]


def _numbers(environment: Mapping[str, str], names: tuple[str, ...], source: str) -> list[int]:
    try:
        return [int(environment[name]) for name in names]
    except (KeyError, ValueError) as error:
        raise LinkerError(
            f"{source} started this process, but the environment lacks a number: {error}"
        ) from error


def _host(environment: Mapping[str, str], source: str) -> str:
    if "MASTER_ADDR" not in environment:
        raise LinkerError(f"{source} started this process, but the environment lacks MASTER_ADDR")
    return environment["MASTER_ADDR"]
