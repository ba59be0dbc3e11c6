"""Score the posts of a session in a process of its own: the server stays fast, and may end at any time."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType

from linker.common.errors import LinkerError
from linker.config.registry import catalog

_PATIENCE = 5.0


class Scoring:
    """A process that replaces the scores of a session.

    Args:
        folder: the session.
        model: model that scores the posts.
    """

    def __init__(self, folder: Path, model: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._answer, sender = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_score, args=(folder, model, catalog.included, sender), daemon=True
        )
        self._process.start()
        sender.close()

    def wait(self) -> None:
        """Wait for the end.

        Raises:
            LinkerError: if the posts cannot be scored, or the process was ended.
        """
        try:
            problem = self._answer.recv()
        except EOFError:
            problem = "scoring the posts was interrupted; it begins again with the next start of the server"
        self._process.join()
        if problem:
            raise LinkerError(problem)

    def stop(self) -> None:
        """End the process; the session keeps its scores."""
        self._process.terminate()
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _score(folder: Path, model: str, packages: Sequence[str], answer: Connection) -> None:
    from linker.annotation.session.create import rescore  # imports what only this process needs

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the server
    signal.signal(signal.SIGTERM, _leave)
    problem = ""
    try:
        for package in packages:
            catalog.include(package)
        rescore(folder, model)
    except LinkerError as error:
        problem = str(error)
    except Exception as error:  # the page shows it
        problem = f"{type(error).__name__}: {error}"
    with contextlib.suppress(OSError):  # the server was killed
        answer.send(problem)


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(0)  # removes temporary files
