"""Preparation of a project's session: read the posts, and score them with the chosen model."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from linker.annotation.project.post_files import Choices, PostFiles
from linker.annotation.project.project_folder import Project
from linker.annotation.session.session import Session
from linker.annotation.worker import InterruptedWorkError, Worker
from linker.common.errors import DataError, LinkerError
from linker.data.types import Post


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
        ready: called with a project when its session exists, or the one with further posts, and the files of these.
    """

    def __init__(self, ready: Callable[[Project, PostFiles | None], object]) -> None:
        self._ready = ready
        self._progress: dict[str, Progress] = {}
        self._guard = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self._worker = Worker()
        self._closed = False

    def progress(self, key: str) -> Progress:
        """Return the state of a project's preparation since the server began."""
        return self._progress.get(key, Progress())

    def begin(self, project: Project, added: PostFiles | None = None) -> None:
        """Prepare a project in the background; with `added`, one that is ready, with further posts.

        Raises:
            LinkerError: if it is being prepared, is ready or, with `added`, is not, or there are no posts.
        """
        with self._guard:
            if self._closed or self.progress(project.key).step:
                raise LinkerError("this project is being prepared")
            if project.is_ready != (added is not None):
                state = "can label already" if project.is_ready else "cannot label yet"
                raise LinkerError(f"people {state}; reload the page")
            if not (added or project.files).paths():
                raise DataError("no posts; drop a file of posts first")
            self._progress[project.key] = Progress("Waiting")
        threading.Thread(target=self._work, args=(project, added), name="preparing", daemon=True).start()

    def close(self) -> None:
        """Begin no further preparation; one that runs is given up."""
        with self._guard:
            self._closed = True
        self._worker.stop()

    def _work(self, project: Project, added: PostFiles | None) -> None:
        try:
            with self._one_at_a_time:
                step = f"Reading the posts, and scoring them with {project.settings.model}"
                self._progress[project.key] = Progress(step)
                try:
                    notes = self._worker.call(
                        create_session, project.folder, added and (added.folder, added.choices)
                    )
                finally:
                    self._worker.stop()  # which frees the memory of the model
            if not self._closed:
                self._ready(project, added)
            done = Progress(notes=tuple(notes))
        except InterruptedWorkError:
            done = Progress(
                error="scoring the posts was interrupted, perhaps for lack of memory; start again"
            )
        except LinkerError as error:
            done = Progress(error=str(error))
        except Exception as error:  # a defect must not leave the page waiting
            done = Progress(error=f"{type(error).__name__}: {error}")
        shutil.rmtree(project.extended_folder, ignore_errors=True)
        self._progress[project.key] = done


def create_session(folder: Path, added: tuple[Path, Choices] | None = None) -> list[str]:
    """Create the session of a project, and return how its posts were read.

    Args:
        folder: the project.
        added: the folder of files of further posts, and how these are read: the session with them is created beside
            that of the project, for its `extend`.

    Raises:
        LinkerError: if the posts cannot be read, or none is new; as `Session.create`.
    """
    project = Project.open(folder)
    settings, files = project.settings, PostFiles(*added, project.change) if added else project.files
    posts, notes = files.read()
    kept, lines = settings.filter.kept(posts)
    notes += lines
    if added:
        return _extend(project, kept, notes)
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
    return notes


def _extend(project: Project, posts: Sequence[Post], notes: list[str]) -> list[str]:
    from linker.annotation.session.create import start  # imports what only this needs

    shutil.rmtree(project.extended_folder, ignore_errors=True)  # of a server that was killed
    with Session.open(project.session_folder) as session:
        texts = {post.id: post.text for post in session.posts}
        new = [post for post in posts if post.id not in texts]
        if known := len(posts) - len(new):
            others = sum(texts.get(post.id, post.text) != post.text for post in posts)
            note = f"{known:,} of {len(posts):,} posts left out: their ids are in the project already"
            notes = [*notes, f"{note}, {others:,} of them with another text" if others else note]
        if not new:
            raise DataError(f"no new post: {'; '.join(notes)}")
        same, former = session.settings, (session.pool, session.posts)
        start(project.extended_folder, session.articles, new, same, same.strategy, same.rule, former)
    return notes
