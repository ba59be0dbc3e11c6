"""Connection to a Ray cluster: join or start it, watch it, and report each failure in one message."""

from __future__ import annotations

import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from linker.common.errors import LinkerError

# Retries of a task whose worker died; if all fail, the task itself kills workers.
RETRIES = 4
_CONNECTING = 10.0
# Seconds to wait without any worker, and without the head (Ray ends this process after 60).
_LOST, _HEADLESS = 60.0, 40.0
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_NUM_REDIS_GET_RETRIES": "1",
    # Ray would report lost machines on standard output, where rankings go.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
    # Otherwise a task that runs out of memory is retried forever.
    "RAY_task_oom_retries": str(RETRIES),
}
# A cluster on this machine listens on 127.0.0.1 only, because anyone who reaches its ports can run code.
_ALONE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
_AGAIN = "run the command again; an interrupted build resumes"


class Cluster:
    """A cluster's workers.

    Args:
        address: see `RayEngine`.
        cpus: see `RayEngine`.
        memory: see `RayEngine`.

    Raises:
        LinkerError: if the cluster cannot be reached or started, or Ray is not installed.
    """

    def __init__(self, address: str | None, cpus: int | None, memory: int | None) -> None:
        self._ray = _package(address is None)
        _connect(self._ray, address, cpus, memory)
        # From outside a cluster only Ray itself can connect to its head.
        outside = address is not None and address.startswith("ray://")
        self._head = None if outside else str(self._ray.get_runtime_context().gcs_address)

    def close(self) -> None:
        """Leave the cluster; stop it if it was started here."""
        self._ray.shutdown()

    def put(self, value: Any) -> Any:
        """Send a value once, for use by many tasks.

        Raises:
            LinkerError: if it cannot be serialized.
        """
        try:
            return self._ray.put(value)
        except TypeError as error:
            raise LinkerError(f"the model cannot be sent to other processes ({error})") from error

    def task(self, function: Callable[..., Any], cpus: int) -> Callable[..., Any]:
        """Return a function whose calls run in workers and return references for `get`."""
        remote = self._ray.remote(function).options(num_cpus=cpus, max_retries=RETRIES).remote

        def begin(*given: Any) -> Any:
            self._alive()  # with a dead head this would never return
            return remote(*given)

        return begin

    def is_done(self, result: Any) -> bool:
        """Return whether `get` would return immediately."""
        return bool(self._ray.wait([result], timeout=0)[0])

    def get(self, result: Any) -> Any:
        """Return the result of a task.

        Raises:
            LinkerError: if the cluster is lost, or the task kills every worker.
            BaseException: the task's error.
        """
        with self._errors():
            self._wait(result)
            return self._ray.get(result)

    def _wait(self, result: Any) -> None:
        lost_since: float | None = None
        while not self._ray.wait([result], timeout=5)[0]:
            if self.cores():
                lost_since = None
            elif lost_since is None:
                lost_since = time.monotonic()
            elif time.monotonic() - lost_since > _LOST:
                raise LinkerError(f"the Ray cluster has had no worker for a minute; {_AGAIN}")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        errors = self._ray.exceptions
        try:
            yield
        except errors.RayTaskError as error:
            raise _cause(error) from error
        except (errors.RayError, ConnectionError) as error:
            first = str(error).strip().splitlines()[0]
            raise LinkerError(f"the Ray cluster could not do the work ({first}); {_AGAIN}") from error

    def cancel(self, results: Iterable[Any]) -> None:
        """Cancel tasks."""
        for result in results:
            try:
                self._ray.cancel(result, force=True)
            except (self._ray.exceptions.RayError, ConnectionError, ValueError):
                return

    def cores(self) -> list[int]:
        """Return the number of cores of each machine that has any.

        Raises:
            LinkerError: if the head of the cluster is gone.
        """
        self._alive()
        found = [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]
        return [cores for cores in found if cores]

    def workers(self, threads: int) -> int:
        """Return how many workers with `threads` cores each fit; at least 1, because lost machines may come back.

        Raises:
            LinkerError: if no machine has that many cores, or the head of the cluster is gone.
        """
        cores = self.cores()
        if cores and max(cores) < threads:
            raise LinkerError(
                f"no machine of the Ray cluster has {threads} cores, as many as this process has threads; "
                f"set OMP_NUM_THREADS to {max(cores)} or less"
            )
        return max(sum(core // threads for core in cores), 1)

    def _alive(self) -> None:
        """Wait for the head; a call without it would make Ray end this process."""
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
    """Return the error that a task raised; errors that Ray cannot unpickle are available as text only."""
    cause = error.cause
    if isinstance(cause, BaseException) and not type(cause).__module__.startswith("ray."):
        return cause
    last = str(cause or error).strip().splitlines()[-1]
    return LinkerError(f"a Ray worker failed ({last}); install the same packages on all machines")


def _connect(ray: Any, address: str | None, cpus: int | None, memory: int | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        with warnings.catch_warnings():
            # A warning of Lance, which Ray's forked processes never use.
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
            raise LinkerError(f"cannot start a Ray cluster on this machine ({first})") from error
        raise LinkerError(
            f"--address {address}: no connection to a Ray cluster ({first}); if it requires a token, set RAY_AUTH_MODE "
            "to token and RAY_AUTH_TOKEN to the token"
        ) from error


def _check_reachable(ray: Any, address: str) -> None:
    """Check that something listens at the address; Ray itself would retry for minutes.

    Raises:
        OSError: if nothing listens there.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        if host in ("localhost", "127.0.0.1", "[::1]") and not address.startswith("ray://"):
            host = ray.util.get_node_ip_address()  # Ray uses the same
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECTING).close()


def _package(alone: bool) -> Any:
    """Import Ray, configured to be quiet and not to retry forever; environment variables take precedence."""
    for name, value in (_ENVIRONMENT | (_ALONE if alone else {})).items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ModuleNotFoundError as error:
        raise LinkerError("--engine ray needs the package ray: pip install 'article-linker[ray]'") from error
    return ray
