"""Endpoints of projects: create, prepare, share, review and finish them."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import zip_longest
from typing import Any

from linker.annotation.formats.label_format import LabelFormat
from linker.annotation.project.preparation import Preparations, needs_scores
from linker.annotation.project.project import ARTICLES, Project, ProjectsFolder, file_names
from linker.annotation.project.settings import MODELS, USUAL_LABELS, ProjectSettings, people_of
from linker.annotation.project.training_set import write_training_set
from linker.annotation.session.session import Session
from linker.common.errors import Faults, LinkerError
from linker.common.files import real_path
from linker.data.files.tables import ENDINGS
from linker.data.types import Article
from linker.models.pretrained import BEST
from linker.web.ranking_api import read_article
from linker.web.security import MAX_UPLOAD
from linker.web.served_sessions import NoSessionError, ServedSessions
from linker.web.session_api import SessionApi
from linker.web.visitors import PersonTokens, Visitor

_MOST_ARTICLES = 20
_RECIPE = "configs/minilm/finetune.jsonnet"


class ProjectsApi(ServedSessions):
    """Serves the projects of a folder, and their sessions.

    Args:
        folder: the folder of projects.
        reachable: whether other machines can reach the server, so that links to it work there.
    """

    def __init__(self, folder: ProjectsFolder, reachable: bool = False) -> None:
        super().__init__()
        self._folder = folder
        self._reachable = reachable
        self._tokens = PersonTokens(folder.root)
        self._projects: dict[str, Project] = {}
        self._people: dict[str, Visitor] = {}
        self._guard = threading.RLock()
        self._preparations = Preparations(self._ready)
        for key in folder.project_keys():
            try:
                project = self._project(key)
                self._know(project)
                if project.is_ready and needs_scores(project):
                    self._preparations.begin(project)  # a server before this one was stopped meanwhile
            except LinkerError:
                pass  # the list shows what is wrong

    def close(self) -> None:
        """Close all sessions."""
        self._preparations.close()
        with self._guard:
            for api in self._by_key.values():
                api.session.close()
            self._by_key.clear()

    # Sessions

    def get(self, key: str) -> SessionApi:
        """Return the session of a project; it is opened when it is asked for first."""
        with self._guard:
            if key not in self._by_key:
                project = self._project(key)
                if not project.is_ready:
                    raise NoSessionError(f"the project {key!r} has no posts to label yet")
                self._by_key[key] = SessionApi(Session.open(project.session_folder), key, project.settings)
            return self._by_key[key]

    def summaries(self) -> list[dict[str, Any]]:
        """Return key, title and number of posts of each project that people can label in."""
        return [self.get(project.key).summary() for project in self._ready_projects()]

    def sources(self) -> list[dict[str, Any]]:
        """Return key, title, number of posts and model of each project, for rankings."""
        return [
            {
                "key": project.key,
                "title": project.settings.title,
                "posts": len(self.get(project.key).session.posts),
                "model": project.settings.model,
            }
            for project in self._ready_projects()
        ]

    def _ready_projects(self) -> list[Project]:
        found = []
        for key in self._folder.project_keys():
            try:
                if (project := self._project(key)).is_ready:
                    self.get(key)
                    found.append(project)
            except LinkerError:
                pass  # the list of projects shows what is wrong
        return found

    def _ready(self, project: Project) -> None:
        """Serve the session of a project, or its new scores."""
        with self._guard:
            self._by_key.pop(project.key, None)  # not closed: a request in progress may still use it
            self.get(project.key)

    # People

    def visitor(self, token: str) -> Visitor | None:
        """Return the annotator of a token; None if it is unknown."""
        return self._people.get(token)

    def _know(self, project: Project) -> None:
        with self._guard:
            others = {token: one for token, one in self._people.items() if one.project != project.key}
            self._people = others | {
                self._tokens.token(project.key, person.id): Visitor(person.name, project.key)
                for person in project.settings.people
            }

    # Projects

    def overview(self) -> dict[str, Any]:
        """Return all projects with their progress, and what a new one can be made of."""
        return {
            "folder": str(self._folder.root),
            "projects": [self._summary(key) for key in self._folder.project_keys()],
            "models": list(MODELS),
            "labels": list(USUAL_LABELS),
            "endings": list(ENDINGS),
            "upload_bytes": MAX_UPLOAD,
            "question": ProjectSettings.question,
        }

    def create(
        self, articles: list[str], people: list[str], published: Sequence[str] = (), **values: Any
    ) -> dict[str, Any]:
        """Create a project; its posts are uploaded afterwards.

        Args:
            articles: texts, or addresses of pages of the public internet.
            people: names.
            published: when the articles were published, in their order; empty: by the page.
            **values: other settings of the project.

        Raises:
            LinkerError: with all that is wrong; then nothing is created.
        """
        faults = Faults()
        found: list[Article] = []
        with faults:
            if len(articles) > _MOST_ARTICLES:
                raise LinkerError(f"articles: {len(articles)}; at most {_MOST_ARTICLES}")
        pairs = zip_longest(articles[:_MOST_ARTICLES], published[: len(articles)], fillvalue="")
        for number, (given, moment) in enumerate(pairs, 1):
            with faults:
                if given.strip():
                    article = read_article(given, moment)
                    same_id = article.id if article.url else f"article-{number}"
                    found.append(replace(article, id=same_id))
        # Settings are checked with a stand-in, so that all faults are reported at once.
        stand_in = tuple(found) or (Article("none", "none"),) if faults.messages else tuple(found)
        with faults:
            settings = ProjectSettings(articles=stand_in, people=people_of(people), **values)
            settings.check()
        faults.raise_if_any()
        project = self._folder.create(settings)
        with self._guard:
            self._projects[project.key] = project
        self._know(project)
        return self.details(project.key)

    def details(self, key: str) -> dict[str, Any]:
        """Return a project with its settings, people and state."""
        project = self._project(key)
        settings = project.settings
        return {
            **self._summary(key),
            "articles": [
                {"title": one.title or one.text[:80], "url": one.url, "words": len(one.text.split())}
                for one in settings.articles
            ],
            "question": settings.question,
            "guidelines": settings.guidelines,
            "model": settings.model,
            "labels": list(settings.labels),
            "labels_per_post": settings.labels_per_post,
            "overlap": settings.overlap,
            "target": settings.target,
            "people": [
                {"name": person.name, "token": self._tokens.token(key, person.id)}
                for person in settings.people
            ],
            "files": file_names(project.uploads()),
            "folder": str(project.folder),
            "reachable": self._reachable,
            "formats": LabelFormat.available(),
            "commands": self._commands(project),
        }

    def change(self, key: str, people: list[str] | None, **values: Any) -> dict[str, Any]:
        """Change title, question, guidelines or people of a project.

        Raises:
            LinkerError: if they are invalid; then nothing changes.
        """
        with self._guard:
            project = self._project(key)
            if people is not None:
                values["people"] = people_of(people, project.settings.people)
            project.change(**values)
            self._know(project)
            if key in self._by_key:
                self._by_key[key].project = project.settings
        return self.details(key)

    def write_training_set(self) -> dict[str, Any]:
        """Write the labels of all projects as a training set, and return the command that trains on it."""
        served = [(project, self.get(project.key).session) for project in self._ready_projects()]
        found = write_training_set(self._folder.root, served)
        return {
            "projects": found.projects,
            "posts": found.posts,
            "relevant": found.relevant,
            "command": shlex.join(["linker", "train", _RECIPE, "--data", str(real_path(found.folder))]),
        }

    def project(self, key: str) -> Project:
        """Return a project."""
        return self._project(key)

    def begin(self, key: str) -> dict[str, Any]:
        """Begin to prepare a project's session from its uploads."""
        self._preparations.begin(self._project(key))
        return self._summary(key)

    def _project(self, key: str) -> Project:
        with self._guard:
            if key not in self._projects:
                try:
                    self._projects[key] = self._folder.open(key)
                except LinkerError as error:
                    raise NoSessionError(str(error)) from error
            return self._projects[key]

    def _summary(self, key: str) -> dict[str, Any]:
        try:
            project = self._project(key)
            progress = self._preparations.progress(key)
            entry: dict[str, Any] = {
                "key": key,
                "title": project.settings.title,
                "created": project.settings.created,
                "step": progress.step,
                "error": progress.error,
                "notes": self._preparations.notes(key),
            }
            if not project.is_ready:
                return {**entry, "state": "preparing" if progress.step else "draft"}
            session = self.get(key).session
            status = session.status()
        except LinkerError as error:
            return {"key": key, "title": key, "state": "broken", "error": str(error)}
        finished = status.decision.stop and not status.waiting
        if copies := len(session.posts) - status.posts:
            entry["notes"] = [
                *entry["notes"],
                f"{copies:,} near-duplicate{'s' * (copies > 1)} of other posts: labeled with them",
            ]
        return {
            **entry,
            "state": "finished" if finished else "labeling",
            "posts": status.posts,
            "labeled": status.labeled,
            "relevant": status.relevant,
            "waiting": status.waiting,
            "disputed": status.disputed,
            "decision": {"stop": status.decision.stop, "reason": status.decision.reason},
            "estimate": {**asdict(status.estimate), "sentence": status.estimate.sentence},
        }

    def _commands(self, project: Project) -> dict[str, str]:
        """Return the commands that use the labels, as they are typed where the server was started."""
        posts = [f"--posts {shlex.quote(str(path))}" for path in project.uploads()]
        articles = f"--article {shlex.quote(str(project.folder / ARTICLES))}"
        session = shlex.quote(str(project.session_folder))
        model = [] if project.settings.model == BEST else [f"--model {project.settings.model}"]
        return {
            "export": f"linker annotate export {session} --resolved --out labels.csv",
            "rank": " ".join(
                [
                    "linker rank",
                    articles,
                    *posts,
                    *model,
                    "--labels labels.csv --threshold recall=0.9 --out relevant.csv",
                ]
            ),
        }
