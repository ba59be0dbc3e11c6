"""Preparation of a project's session: read the posts, order them quickly, then score them with the chosen model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from linker.annotation.project.project import Project
from linker.annotation.session.session import Session
from linker.annotation.session.session_file import SessionFile
from linker.annotation.worker import InterruptedWorkError, Worker
from linker.common.errors import DataError, LinkerError
from linker.data.files.line_errors import BadLines
from linker.data.io.columns import PostColumns
from linker.data.io.records import empty_input_error, iter_posts
from linker.data.types import Post

#: Model that needs no encoding. It orders the posts until the chosen model has scored them (decision 112).
QUICK = "bm25"


@dataclass(frozen=True)
class Progress:
    """State of a preparation.

    Attributes:
        step: what is being done, for people; empty: nothing.
        error: why it failed; empty: it did not.
    """

    step: str = ""
    error: str = ""


class Preparations:
    """Prepares projects in one thread each, one at a time.

    Args:
        ready: called with a project when its session exists, and again when its scores have changed.
    """

    def __init__(self, ready: Callable[[Project], None]) -> None:
        self._ready = ready
        self._progress: dict[str, Progress] = {}
        self._notes: dict[str, list[str]] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._guard = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self._worker = Worker()
        self._closed = False

    def progress(self, key: str) -> Progress:
        """Return the state of a project's preparation."""
        return self._progress.get(key, Progress())

    def notes(self, key: str) -> list[str]:
        """Return how the posts of a project were read since the server began, as `rank` prints it."""
        return self._notes.get(key, [])

    def begin(self, project: Project) -> None:
        """Prepare a project in the background, from where an earlier preparation ended.

        Raises:
            LinkerError: if it is being prepared, or has no posts.
        """
        with self._guard:
            thread = self._threads.get(project.key)
            if self._closed or (thread is not None and thread.is_alive()):
                raise LinkerError("this project is being prepared")
            if not project.is_ready and not project.uploads():
                raise DataError("no posts; drop a file of posts first")
            self._progress[project.key] = Progress("Waiting")
            thread = threading.Thread(target=self._work, args=(project,), name="preparing", daemon=True)
            self._threads[project.key] = thread
            thread.start()

    def close(self) -> None:
        """Begin no further preparation; one that runs is given up, and begins again with the next server."""
        with self._guard:
            self._closed = True
        self._worker.stop()

    def _work(self, project: Project) -> None:
        try:
            with self._one_at_a_time:
                if not project.is_ready:
                    self._create(project)
                if needs_scores(project):
                    self._show(project, f"Scoring the posts with {project.settings.model}")
                    self._score(project)
                    self._finish(project)
            self._progress[project.key] = Progress()
        except LinkerError as error:
            self._progress[project.key] = Progress(error=project.shown(str(error)))
        except Exception as error:  # a defect must not leave the page waiting
            self._progress[project.key] = Progress(error=f"{type(error).__name__}: {error}")

    def _create(self, project: Project) -> None:
        self._show(project, "Reading the posts")
        uploads = [str(path) for path in project.uploads()]
        with BadLines(skippable=False) as bad_lines:
            read = list(iter_posts(uploads, PostColumns(), bad_lines))
        self._notes[project.key] = [project.shown(note) for note in bad_lines.notes]
        if not read:
            raise empty_input_error(uploads, "post")
        posts = [replace(post, source=project.shown(post.source)) for post in read]
        self._show(project, f"Ordering {len(posts):,} posts")
        create_session(project, posts)
        self._finish(project)

    def _score(self, project: Project) -> None:
        from linker.annotation.session.create import rescore  # imports what only scoring needs

        if self._closed:
            return
        try:
            self._worker.call(rescore, project.session_folder, project.settings.model)
        except InterruptedWorkError as error:
            raise LinkerError(
                "scoring the posts was interrupted; it begins again with the next start of the server"
            ) from error
        finally:
            self._worker.stop()  # which frees the memory of the model

    def _show(self, project: Project, step: str) -> None:
        self._progress[project.key] = Progress(step)

    def _finish(self, project: Project) -> None:
        if not self._closed:
            self._ready(project)


def create_session(project: Project, posts: list[Post]) -> None:
    """Create the session of a project, with the posts in the order of the quick model.

    Raises:
        LinkerError: as `Session.create`.
    """
    settings = project.settings
    several = settings.labels_per_post > 1
    Session.create(
        project.session_folder,
        settings.articles,
        posts,
        QUICK,
        rule={"type": "recall", "target": settings.target},
        guidelines=settings.guidelines,
        overlap=settings.overlap if several else 0.0,
        labels_per_post=max(2, settings.labels_per_post),
        question=settings.question,
        labels=settings.labels,
    ).close()


def needs_scores(project: Project) -> bool:
    """Return whether the posts are still in the order of the quick model."""
    with SessionFile(project.session_folder) as file:
        return file.settings().model != project.settings.model
