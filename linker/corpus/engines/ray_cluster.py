"""A connection to a Ray cluster: found or begun, watched while it works, and whatever happens told in one message."""

from __future__ import annotations

import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from linker.common.errors import LinkerError

# How often a task is begun again whose worker died: then it is the task that kills workers.
RETRIES = 4
_CONNECTING = 10.0
# Seconds without any worker; and without the head, for Ray ends this process after 60.
_LOST, _HEADLESS = 60.0, 40.0
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_NUM_REDIS_GET_RETRIES": "1",
    # Ray would write what it has to say of lost machines to standard output, where rankings go.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
    # Else what lacks memory is begun again and again.
    "RAY_task_oom_retries": str(RETRIES),
}
# A cluster on this machine listens on 127.0.0.1 and nowhere else; else whoever reaches its ports runs what he likes.
_ALONE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
_AGAIN = "give the command again; a build goes on where it was"


class Cluster:
    """Workers, somewhere.

    Args:
        address: see `RayEngine`.
        cpus: see `RayEngine`.
        memory: see `RayEngine`.

    Raises:
        LinkerError: there is no such cluster, or Ray is not installed.
    """

    def __init__(self, address: str | None, cpus: int | None, memory: int | None) -> None:
        self._ray = _package(address is None)
        _connect(self._ray, address, cpus, memory)
        # From outside a cluster only Ray itself speaks to its head.
        outside = address is not None and address.startswith("ray://")
        self._head = None if outside else str(self._ray.get_runtime_context().gcs_address)

    def close(self) -> None:
        """Leave the cluster; one that was begun here ends."""
        self._ray.shutdown()

    def put(self, value: Any) -> Any:
        """Send something once that many tasks need.

        Raises:
            LinkerError: it cannot be sent.
        """
        try:
            return self._ray.put(value)
        except TypeError as error:
            raise LinkerError(f"the model cannot be sent to other processes ({error})") from error

    def task(self, function: Callable[..., Any], cpus: int) -> Callable[..., Any]:
        """A function whose calls are done in workers; they give what `get` takes."""
        remote = self._ray.remote(function).options(num_cpus=cpus, max_retries=RETRIES).remote

        def begin(*given: Any) -> Any:
            self._alive()  # with a dead head this would never return
            return remote(*given)

        return begin

    def is_done(self, result: Any) -> bool:
        """Would `get` return at once?"""
        return bool(self._ray.wait([result], timeout=0)[0])

    def get(self, result: Any) -> Any:
        """What a task gave.

        Raises:
            LinkerError: the cluster is lost, or the task kills every worker.
            BaseException: what the task raised.
        """
        errors = self._ray.exceptions
        lost_since: float | None = None
        try:
            while not self._ray.wait([result], timeout=5)[0]:
                if self.cores():
                    lost_since = None
                elif lost_since is None:
                    lost_since = time.monotonic()
                elif time.monotonic() - lost_since > _LOST:
                    raise LinkerError(f"the Ray cluster has had no worker for a minute; {_AGAIN}")
            return self._ray.get(result)
        except errors.RayTaskError as error:
            raise _cause(error) from error
        except (errors.RayError, ConnectionError) as error:
            first = str(error).strip().splitlines()[0]
            raise LinkerError(f"the Ray cluster could not do the work ({first}); {_AGAIN}") from error

    def cancel(self, results: Iterable[Any]) -> None:
        """End what is not needed any more."""
        for result in results:
            try:
                self._ray.cancel(result, force=True)
            except (self._ray.exceptions.RayError, ConnectionError, ValueError):
                return

    def cores(self) -> list[int]:
        """Of each machine that has any.

        Raises:
            LinkerError: the head of the cluster is gone.
        """
        self._alive()
        found = [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]
        return [cores for cores in found if cores]

    def workers(self, threads: int) -> int:
        """How many with so many cores each there can be, at least 1: lost machines may come back.

        Raises:
            LinkerError: no machine has so many cores, or the head of the cluster is gone.
        """
        cores = self.cores()
        if cores and max(cores) < threads:
            raise LinkerError(
                f"no machine of the Ray cluster has {threads} cores, as many as this process has threads; "
                f"set OMP_NUM_THREADS to {max(cores)} or less"
            )
        return max(sum(core // threads for core in cores), 1)

    def _alive(self) -> None:
        """Wait for the head; Ray would end this process."""
        if self._head is None:
            return
        host, _, port = self._head.rpartition(":")
        since = time.monotonic()
        while True:
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECTING).close()
                return
            except OSError as error:
                if time.monotonic() - since > _HEADLESS:
                    raise LinkerError(
                        f"the head of the Ray cluster at {self._head} is gone ({error}); {_AGAIN}"
                    ) from error
                time.sleep(1)


def _cause(error: Any) -> BaseException:
    """What a task itself raised; what Ray could not even unpack comes as text."""
    cause = error.cause
    if isinstance(cause, BaseException) and not type(cause).__module__.startswith("ray."):
        return cause
    last = str(cause or error).strip().splitlines()[-1]
    return LinkerError(f"a Ray worker failed ({last}); install the same packages on all machines")


def _connect(ray: Any, address: str | None, cpus: int | None, memory: int | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        with warnings.catch_warnings():
            # Of Lance, which Ray's processes, forked off this one, never use.
            warnings.filterwarnings("ignore", "lance is not fork-safe")
            if address is None:
                ray.init(
                    address="local",
                    num_cpus=cpus,
                    object_store_memory=memory,
                    include_dashboard=False,
                    **quiet,
                )
            else:
                _check_reachable(ray, address)
                ray.init(address=address, **quiet)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        if address is None:
            raise LinkerError(f"no Ray cluster could be begun here ({first})") from error
        raise LinkerError(
            f"--address {address}: no connection to a Ray cluster ({first}); if it asks for a token, set RAY_AUTH_MODE "
            "to token and RAY_AUTH_TOKEN to it"
        ) from error


def _check_reachable(ray: Any, address: str) -> None:
    """Ray itself would try for minutes.

    Raises:
        OSError: nothing listens there.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        if host in ("localhost", "127.0.0.1", "[::1]") and not address.startswith("ray://"):
            host = ray.util.get_node_ip_address()  # which Ray will take as well
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECTING).close()


def _package(alone: bool) -> Any:
    """Ray, once it is told to be quiet and not to try for ever; what the environment says goes first."""
    for name, value in (_ENVIRONMENT | (_ALONE if alone else {})).items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ModuleNotFoundError as error:
        raise LinkerError("--engine ray needs the package ray: pip install 'article-linker[ray]'") from error
    return ray
