"""Which of how many processes this is, as torchrun, SLURM or `linker train --devices` say in the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from linker.common.errors import LinkerError

# Set by `--devices` as by torchrun: whoever started the processes keeps the store that they meet at.
STORE_IS_KEPT = "TORCHELASTIC_USE_AGENT_STORE"


@dataclass(frozen=True)
class DistributedEnvironment:
    """This process among those of a run.

    Attributes:
        rank: its number, from 0.
        size: how many there are.
        local_rank: its number on this machine, and that of its GPU.
        host, port: where the processes meet.
        hosts_store: this process keeps the store that they meet at.
    """

    rank: int
    size: int
    local_rank: int
    host: str
    port: int
    hosts_store: bool


def environment_from(environment: Mapping[str, str]) -> DistributedEnvironment | None:
    """What the environment says; None where this process is alone.

    Raises:
        LinkerError: the environment says only half of it.
    """
    if "RANK" in environment and "WORLD_SIZE" in environment:
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT")
        rank, size, local, port = _numbers(environment, names, "torchrun")
        host, kept = _host(environment, "torchrun"), environment.get(STORE_IS_KEPT) == "True"
    elif int(environment.get("SLURM_STEP_NUM_TASKS", "1")) > 1:
        # Of `srun` alone: a batch script that starts linker without it is one process, whatever was reserved.
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
    """The first host of SLURM's short form, `gpu[07-09,12],big1`.

    Raises:
        LinkerError: no host can be read from it.
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
