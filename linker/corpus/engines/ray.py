"""Encode the posts of a corpus on a Ray cluster. The corpus equals that of one process, even if workers are lost."""

from __future__ import annotations

import os
import socket
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from linker.common.errors import LinkerError
from linker.corpus.engines.engine import Engine
from linker.version import __version__

# Chunks per worker, running and queued, so that no worker waits for the driver.
_AHEAD = 2
# Retries of a call whose worker died; if all fail, the call itself kills workers.
RETRIES = 4
# Seconds to wait for a connection, without any worker, and without the head (Ray ends this process after 60).
_CONNECTING, _LOST, _HEADLESS = 10.0, 60.0, 40.0
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_NUM_REDIS_GET_RETRIES": "1",
    # Ray would report lost machines on standard output.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
    # Otherwise a call that runs out of memory is retried forever.
    "RAY_task_oom_retries": str(RETRIES),
}
# A cluster on this machine listens on 127.0.0.1 only, because anyone who reaches its ports can run code.
_ALONE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
_AGAIN = "run the command again; an interrupted build resumes"

T = TypeVar("T")

# The function of this worker process, with the model, and the object it was loaded from; set by the first call.
_loaded: tuple[Any, Callable[..., Any]] | None = None


class RayEngine(Engine):
    """Engine on a Ray cluster.

    The last bits of embeddings may depend on the number of threads, so every worker uses as many threads and cores as
    this process has threads; with `OMP_NUM_THREADS=1` every core is a worker.

    Args:
        address: of the cluster (`HOST:PORT` or `auto` on one of its machines, `ray://HOST:PORT` from elsewhere);
            None: start a cluster on this machine for the duration of the outermost `with` block.
        cpus: number of cores of the started cluster; None: all.
    """

    def __init__(self, address: str | None = None, cpus: int | None = None) -> None:
        self._address, self._cpus, self._entered = address, cpus, 0

    def __enter__(self) -> RayEngine:
        """Join or start the cluster.

        Raises:
            LinkerError: if that fails, or Ray is not installed.
        """
        if not self._entered:
            self._ray = _connected(self._address, self._cpus)
            # From outside a cluster only Ray itself can connect to its head.
            outside = (self._address or "").startswith("ray://")
            self._head = None if outside else str(self._ray.get_runtime_context().gcs_address)
        self._entered += 1
        return self

    def __exit__(self, *error: object) -> None:
        self._entered -= 1
        if not self._entered:
            self._ray.shutdown()

    def map(self, function: Callable[..., T], items: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Yield the results of calls in workers, in order; a few calls per worker are under way or wait.

        Raises:
            LinkerError: if the cluster is lost, or a call kills every worker.
        """
        import torch

        from linker.modules.kernels.dispatch import kernels_for

        threads = torch.get_num_threads()
        workers = self._workers(threads)
        of_each = (
            "one core"
            if threads == 1
            else f"{threads} cores each; with OMP_NUM_THREADS=1 every core is a worker"
        )
        print(f"ray: {workers:,} workers of {of_each}", file=sys.stderr)
        try:
            # In a list, so that Ray does not send the function with each call.
            setting = (
                (threads, kernels_for(torch.zeros(())).name, __version__, os.getcwd()),
                [self._ray.put(function)],
            )
        except TypeError as error:
            raise LinkerError(f"the model cannot be sent to other processes ({error})") from error
        begin = self._ray.remote(_call).options(num_cpus=threads, max_retries=RETRIES).remote
        source: Iterator[tuple[Any, ...]] | None = iter(items)
        failure: BaseException | None = None
        waiting: deque[Any] = deque()
        try:
            while source is not None or waiting:
                # Finished calls are yielded before more is read, because the source may be slow.
                if (
                    source is None
                    or len(waiting) >= _AHEAD * workers
                    or (waiting and self._is_done(waiting[0]))
                ):
                    yield self._result(waiting.popleft())
                    workers = self._workers(threads)
                    continue
                try:
                    item = next(source, None)
                except Exception as error:
                    item, failure = None, error
                if item is None:
                    source = None
                else:
                    self._cores()  # with a dead head the call would never return
                    waiting.append(begin(*setting, *item))
        finally:
            with suppress(self._ray.exceptions.RayError, ConnectionError, ValueError):
                for call in waiting:
                    self._ray.cancel(call, force=True)
        if failure is not None:
            raise failure

    def _is_done(self, call: Any, timeout: float = 0) -> bool:
        return bool(self._ray.wait([call], timeout=timeout)[0])

    def _result(self, call: Any) -> Any:
        """Return the result of a call, or raise its error."""
        errors, lost_since = self._ray.exceptions, None
        try:
            while not self._is_done(call, 5):
                lost_since = None if self._cores() else lost_since or time.monotonic()
                if lost_since and time.monotonic() - lost_since > _LOST:
                    raise LinkerError(f"the Ray cluster has had no worker for a minute; {_AGAIN}")
            return self._ray.get(call)
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, BaseException) and not type(cause).__module__.startswith("ray."):
                raise cause from error
            last = str(cause or error).strip().splitlines()[-1]  # Ray could not unpickle it
            raise LinkerError(
                f"a Ray worker failed ({last}); install the same packages on all machines"
            ) from error
        except (errors.RayError, ConnectionError) as error:
            first = str(error).strip().splitlines()[0]
            raise LinkerError(f"the Ray cluster could not do the work ({first}); {_AGAIN}") from error

    def _workers(self, threads: int) -> int:
        """Return how many workers with `threads` cores each fit; at least 1, because lost machines may come back."""
        cores = self._cores()
        if cores and max(cores) < threads:
            raise LinkerError(
                f"no machine of the Ray cluster has {threads} cores, as many as this process has threads; "
                f"set OMP_NUM_THREADS to {max(cores)} or less"
            )
        return max(sum(core // threads for core in cores), 1)

    def _cores(self) -> list[int]:
        """Return the number of cores of each machine that has any, after waiting for the head of the cluster."""
        since = time.monotonic()
        while self._head is not None:
            try:
                _reach(self._head)
                break
            except OSError as error:
                if time.monotonic() - since > _HEADLESS:
                    raise LinkerError(
                        f"the head of the Ray cluster at {self._head} is gone ({error}); {_AGAIN}"
                    ) from error
                time.sleep(1)
        cores = [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]
        return [number for number in cores if number]


def _call(setting: tuple[int, str, str, str], at_function: list[Any], *item: Any) -> Any:
    """Return the result of a call; runs in a worker, which is set up as the process that runs the command."""
    global _loaded
    import ray
    import torch

    from linker.modules.kernels.dispatch import use_kernels

    threads, kernels, version, folder = setting
    if version != __version__:
        raise LinkerError(
            f"the worker on {socket.gethostname()} has linker {__version__}, this is {version}; "
            "install the same on all machines"
        )
    if _loaded is None or _loaded[0] != at_function[0]:
        _loaded = (at_function[0], ray.get(at_function[0]))
    with suppress(OSError):  # a machine without the folder does not see files below it
        os.chdir(folder)
    torch.set_num_threads(threads)
    with use_kernels(kernels):
        return _loaded[1](*item)


def _connected(address: str | None, cpus: int | None) -> Any:
    """Return the package Ray after joining the cluster at an address, or starting one on this machine."""
    # Quiet, and without retries forever; environment variables of the user take precedence.
    for name, value in (_ENVIRONMENT | (_ALONE if address is None else {})).items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ModuleNotFoundError as error:
        raise LinkerError("--engine ray needs the package ray: pip install 'article-linker[ray]'") from error
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        options |= {"address": "local", "num_cpus": cpus, "include_dashboard": False}
    try:
        if address is not None:
            _check_reachable(ray, address)
            options["address"] = address
        with warnings.catch_warnings():
            # A warning of Lance, which Ray's forked processes never use.
            warnings.filterwarnings("ignore", "lance is not fork-safe")
            ray.init(**options)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        if address is None:
            raise LinkerError(f"cannot start a Ray cluster on this machine ({first})") from error
        raise LinkerError(
            f"--address {address}: no connection to a Ray cluster ({first}); if it requires a token, set RAY_AUTH_MODE "
            "to token and RAY_AUTH_TOKEN to the token"
        ) from error
    return ray


def _check_reachable(ray: Any, address: str) -> None:
    """Raise OSError if nothing listens at the address; Ray itself would retry for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        if host in ("localhost", "127.0.0.1", "[::1]") and not address.startswith("ray://"):
            host = ray.util.get_node_ip_address()  # Ray uses the same
        _reach(f"{host}:{port}")


def _reach(address: str) -> None:
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECTING).close()
