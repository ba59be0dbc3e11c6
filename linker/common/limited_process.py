"""Processes for work on what strangers wrote: they answer in lines of JSON, within limits of time and memory."""

import contextlib
import json
import subprocess
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


class LimitedProcess:
    """A process that is killed when it takes too long; used by one thread at a time.

    Args:
        command: program and arguments.
    """

    def __init__(self, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        weakref.finalize(self, self._child.kill)  # also if this process is ended in the middle of an import
        self._late = threading.Event()

    def limit_memory(self, megabytes: int) -> None:
        """Limit the memory beyond that which the process has now (on Linux).

        Args:
            megabytes: in MiB.
        """
        with contextlib.suppress(ImportError, AttributeError, OSError, IndexError):  # not Linux, or ended
            import resource

            pages = Path(f"/proc/{self._child.pid}/statm").read_text(encoding="ascii").split()[0]
            limit = int(pages) * resource.getpagesize() + (megabytes << 20)
            _, hard = resource.prlimit(self._child.pid, resource.RLIMIT_AS)
            soft = limit if hard < 0 else min(limit, hard)
            resource.prlimit(self._child.pid, resource.RLIMIT_AS, (soft, hard))

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Kill the process if the block does not end in time, or by an error."""
        alarm = threading.Timer(seconds, self._give_up)
        alarm.daemon = True
        alarm.start()
        try:
            yield
        except BaseException:
            self.kill()
            raise
        finally:
            alarm.cancel()

    def send(self, message: Mapping[str, Any], body: bytes = b"") -> None:
        """Send a message, and bytes after it; nothing if the process has ended."""
        to = self._child.stdin
        assert to is not None
        with contextlib.suppress(OSError):
            to.write(json.dumps(message).encode() + b"\n")
            to.write(body)
            to.flush()

    def receive(self) -> dict[str, Any] | None:
        """Return the next message; None if the process has ended."""
        replies = self._child.stdout
        assert replies is not None
        line = replies.readline()
        if not line.endswith(b"\n"):
            return None
        message: dict[str, Any] = json.loads(line)
        return message

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self._child.poll() is not None

    def ending(self, seconds: float) -> str:
        """Wait until the process has ended, and return why as the end of a sentence.

        Args:
            seconds: the limit, as given to `within`.
        """
        status = self._child.wait()
        return (
            f"takes more than {seconds:g} seconds" if self._late.is_set() else f"ended with status {status}"
        )

    def kill(self) -> None:
        """End the process."""
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()

    def _give_up(self) -> None:
        self._late.set()
        self._child.kill()
