"""The projects of a folder: their sessions, preparations and people."""

import threading
from pathlib import Path

from linker.annotation.project.post_files import PostFiles, TemporaryFiles
from linker.annotation.project.preparation import Preparations
from linker.annotation.project.project_folder import SETTINGS, Project, ProjectsFolder
from linker.annotation.session.session import Session
from linker.common.errors import LinkerError
from linker.web.api.sessions import NoSessionError, ServedSession, Sessions
from linker.web.server.visitors import PersonTokens, Visitor


class Projects(Sessions):
    """Serves the sessions of a folder of projects, each opened when it is asked for first.

    Args:
        folder: the folder of projects.
        reachable: whether other machines can reach the server, so that links to it work there.

    Attributes:
        guard: held while projects or their sessions change.
        preparations: prepares their sessions.
        tokens: tokens of their people.
    """

    def __init__(self, folder: ProjectsFolder, reachable: bool = False) -> None:
        super().__init__()
        self.files = TemporaryFiles(folder.root)
        self.folder = folder
        self.reachable = reachable
        self.tokens = PersonTokens(folder.root)
        self.guard = threading.RLock()
        self.preparations = Preparations(self._prepared)
        self._projects: dict[str, Project] = {}
        self._people: dict[str, Visitor] = {}
        for key in folder.project_keys():
            try:
                self.update(self.project(key))
            except LinkerError:
                pass  # the list shows what is wrong

    def close(self) -> None:
        """Close all sessions."""
        self.preparations.close()
        with self.guard:
            for served in self._by_key.values():
                served.session.close()
            self._by_key.clear()

    def _prepared(self, project: Project, added: PostFiles | None) -> None:
        """Serve a session that is ready; requests for it wait while it gets further posts."""
        with self.guard:
            served = self.get(project.key)
            if added is None:
                return
            try:
                with Session.open(project.extended_folder) as extended:
                    served.session.extend(extended)
            finally:
                self._by_key.pop(project.key).session.close()
            added.move_to(project.files)

    def project(self, key: str) -> Project:
        """Return a project.

        Raises:
            NoSessionError: if there is none of this key, or it is damaged.
        """
        with self.guard:
            if key not in self._projects:
                try:
                    self._projects[key] = self.folder.open(key)
                except LinkerError as error:
                    raise NoSessionError(str(error)) from error
            return self._projects[key]

    def update(self, project: Project) -> None:
        """Serve a project that is new, or whose people or texts have changed."""
        with self.guard:
            self._projects[project.key] = project
            others = {
                token: person for token, person in self._people.items() if person.project != project.key
            }
            self._people = others | {
                self.tokens.token(project.key, person.id): Visitor(person.name, project.key)
                for person in project.settings.people
            }
            if project.key in self._by_key:
                self._by_key[project.key].project = project.settings

    def remove(self, key: str) -> Path:
        """Close a project, also a damaged one, and return where its folder was moved; links of its people are void.

        Raises:
            LinkerError: if its posts are being read, or it cannot be moved.
        """
        with self.guard:
            if self.preparations.progress(key).step:
                raise LinkerError("the posts are being read; remove the project afterwards")
            if key in self._by_key:
                self._by_key.pop(key).session.close()
            self._projects.pop(key, None)
            self._people = {token: one for token, one in self._people.items() if one.project != key}
            return self.folder.remove(key)

    def visitor(self, token: str) -> Visitor | None:
        """Return the annotator of a token; None if it is unknown."""
        return self._people.get(token)

    def get(self, key: str) -> ServedSession:
        """Return the session of a project.

        Raises:
            NoSessionError: if there is none.
            LinkerError: if it cannot be read.
        """
        with self.guard:
            if key not in self._by_key:
                project = self.project(key)
                if not project.is_ready:
                    raise NoSessionError(f"the project {key!r} has no posts to label yet")
                self._by_key[key] = ServedSession(Session.open(project.session_folder), key, project.settings)
            return self._by_key[key]

    def version(self, key: str | None = None) -> str:
        """Return what changes with a project: labels, and after the point all else; without a key, with any project."""
        if key is None:
            return str(hash(tuple((one, self.version(one)) for one in self.folder.project_keys())))
        try:
            project = self.project(key)
            events = super().version(key) if project.is_ready else ""
            changed = (project.folder / SETTINGS).stat().st_mtime_ns
        except (LinkerError, OSError):
            return "broken"
        return f"{events}.{hash((changed, self.preparations.progress(key)))}"

    def all(self) -> list[ServedSession]:
        """Return the sessions that people can label in; the list of projects shows what is wrong with others."""
        served = []
        for key in self.folder.project_keys():
            try:
                served.append(self.get(key))
            except LinkerError:
                continue
        return served
