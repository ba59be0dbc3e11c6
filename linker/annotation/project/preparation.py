"""Preparation of a project's session: read the posts, and score them with the chosen model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from linker.annotation.project.project_folder import Project
from linker.annotation.session.session import Session
from linker.annotation.worker import InterruptedWorkError, Worker
from linker.common.errors import DataError, LinkerError


@dataclass(frozen=True)
class Progress:
    """State of a preparation.

    Attributes:
        step: what is being done, for people; empty: nothing.
        error: why it failed; empty: it did not.
        notes: how the posts were read, as `rank` prints it.
    """

    step: str = ""
    error: str = ""
    notes: tuple[str, ...] = ()


class Preparations:
    """Prepares projects in a process of its own, one at a time.

    Args:
        ready: called with a project when its session exists.
    """

    def __init__(self, ready: Callable[[Project], object]) -> None:
        self._ready = ready
        self._progress: dict[str, Progress] = {}
        self._guard = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self._worker = Worker()
        self._closed = False

    def progress(self, key: str) -> Progress:
        """Return the state of a project's preparation since the server began."""
        return self._progress.get(key, Progress())

    def begin(self, project: Project) -> None:
        """Prepare a project in the background.

        Raises:
            LinkerError: if it is being prepared or ready, or has no posts.
        """
        with self._guard:
            if self._closed or self.progress(project.key).step:
                raise LinkerError("this project is being prepared")
            if project.is_ready:
                raise LinkerError("people can label already")
            if not project.files.paths():
                raise DataError("no posts; drop a file of posts first")
            self._progress[project.key] = Progress("Waiting")
        threading.Thread(target=self._work, args=(project,), name="preparing", daemon=True).start()

    def close(self) -> None:
        """Begin no further preparation; one that runs is given up."""
        with self._guard:
            self._closed = True
        self._worker.stop()

    def _work(self, project: Project) -> None:
        try:
            with self._one_at_a_time:
                step = f"Reading the posts, and scoring them with {project.settings.model}"
                self._progress[project.key] = Progress(step)
                try:
                    notes = self._worker.call(create_session, project.folder)
                finally:
                    self._worker.stop()  # which frees the memory of the model
            if not self._closed:
                self._ready(project)
            done = Progress(notes=tuple(notes))
        except InterruptedWorkError:
            done = Progress(
                error="scoring the posts was interrupted, perhaps for lack of memory; start again"
            )
        except LinkerError as error:
            done = Progress(error=str(error))
        except Exception as error:  # a defect must not leave the page waiting
            done = Progress(error=f"{type(error).__name__}: {error}")
        self._progress[project.key] = done


def create_session(folder: Path) -> list[str]:
    """Create the session of a project, and return how its posts were read.

    Raises:
        LinkerError: if the posts cannot be read; as `Session.create`.
    """
    project = Project.open(folder)
    settings, (posts, notes) = project.settings, project.files.read()
    kept, lines = settings.filter.kept(posts)
    Session.create(
        project.session_folder,
        settings.articles,
        kept,
        settings.model,
        settings.strategy,
        rule={"type": "recall", "target": settings.target},
        guidelines=settings.guidelines,
        overlap=settings.overlap if settings.labels_per_post > 1 else 0.0,
        labels_per_post=max(2, settings.labels_per_post),
        question=settings.question,
        labels=settings.labels,
        blind=settings.blind,
        questions=settings.questions,
    ).close()
    return [*notes, *lines]
