"""Routes of projects: create, prepare, share and finish them. Only for the owner."""

from __future__ import annotations

import shlex
from dataclasses import asdict, replace
from itertools import zip_longest
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body
from pydantic import BaseModel, Field

from linker.annotation.project.post_files import PostFiles
from linker.annotation.project.project_folder import ARTICLES, Project
from linker.annotation.project.settings import MODELS, USUAL_LABELS, ProjectSettings, people_of
from linker.common.errors import Faults, LinkerError
from linker.data.files.known_columns import words
from linker.data.types import Article
from linker.models.pretrained import BEST
from linker.web.api.file_routes import file_routes
from linker.web.api.projects import Projects
from linker.web.api.rankings import MOST_ARTICLES, read_article
from linker.web.api.views import AsciiJsonResponse, article_view, status_view

_SETTINGS = words(
    "question guidelines model labels labels_per_post overlap target since until languages blind strategy questions"
)
_Text = Annotated[str, Field(max_length=1 << 20)]


class LabelBody(BaseModel):
    """A label of a label set."""

    name: str
    value: Literal["relevant", "not", "skip"]


class ProjectBody(BaseModel):
    """A new project; `articles` are texts or addresses, `published` their dates in the same order, `files` the key of
    temporary files with the posts."""

    title: str
    articles: list[_Text]
    published: list[str] = Field(default_factory=list, max_length=200)
    question: str
    guidelines: str = ""
    model: str
    people: list[str] = Field(default_factory=list, max_length=200)
    labels_per_post: int = 1
    overlap: float = 1.0
    labels: list[LabelBody]
    questions: list[dict[str, Any]] = Field(default_factory=list)
    since: str = ""
    until: str = ""
    languages: list[str] = Field(default_factory=list, max_length=50)
    blind: bool = False
    strategy: Literal["active_learning", "random"] = "active_learning"
    target: float = 0.95
    files: str = ""

    def settings(self) -> ProjectSettings:
        """Return the settings, with the articles as they were read.

        Raises:
            LinkerError: with all that is wrong.
        """
        faults = Faults()
        articles: list[Article] = []
        with faults:
            if len(self.articles) > MOST_ARTICLES:
                raise LinkerError(f"articles: {len(self.articles)}; at most {MOST_ARTICLES}")
        texts = self.articles[:MOST_ARTICLES]
        dates = self.published[: len(texts)]
        for number, (text, published) in enumerate(zip_longest(texts, dates, fillvalue=""), 1):
            with faults:
                if text.strip():
                    article = read_article(text, published)
                    articles.append(article if article.url else replace(article, id=f"article-{number}"))
        # The other settings are checked with a stand-in, so that all faults are reported at once.
        if not articles and faults.messages:
            articles = [Article("none", "none")]
        values = self.model_dump(exclude={"articles", "published", "people", "labels", "languages", "files"})
        with faults:
            settings = ProjectSettings(
                articles=tuple(articles),
                people=people_of(self.people),
                labels=tuple(label.model_dump() for label in self.labels),
                languages=tuple(self.languages),
                **values,
            )
            settings.check()
        faults.raise_if_any()
        return settings


class ChangeBody(BaseModel):
    """Settings that may change while people label; what is missing stays."""

    title: str | None = None
    question: str | None = None
    guidelines: str | None = None
    people: list[str] | None = Field(None, max_length=200)
    blind: bool | None = None
    strategy: Literal["active_learning", "random"] | None = None


def project_routes(projects: Projects) -> APIRouter:
    """Return the routes of projects."""
    router = APIRouter(prefix="/api/projects", include_in_schema=False)

    def details(key: str) -> AsciiJsonResponse:
        return AsciiJsonResponse(details_view(projects, projects.project(key)))

    router.get("/{key}")(details)

    @router.get("/-/version")  # no key of a project
    def version() -> AsciiJsonResponse:
        return AsciiJsonResponse({"version": projects.version()})

    @router.get("")
    def overview() -> AsciiJsonResponse:
        return AsciiJsonResponse(
            {
                "folder": str(projects.folder.root),
                "projects": [summary_view(projects, key) for key in projects.folder.project_keys()],
                "models": list(MODELS),
                "labels": list(USUAL_LABELS),
                "question": ProjectSettings.question,
            }
        )

    @router.post("")
    def create(body: ProjectBody) -> AsciiJsonResponse:
        project = projects.folder.create(body.settings())
        if body.files:
            projects.files.get(body.files).move_to(project.files)
        projects.update(project)
        return details(project.key)

    @router.post("/{key}")
    def change(key: str, body: ChangeBody) -> AsciiJsonResponse:
        with projects.guard:
            project = projects.project(key)
            values = body.model_dump(exclude={"people"}, exclude_none=True)
            if body.people is not None:
                values["people"] = people_of(body.people, project.settings.people)
            project.change(**values)
            projects.update(project)
            if project.is_ready:
                projects.get(key).session.change(project.settings.blind, project.settings.strategy)
        return details(key)

    def files_of(key: str) -> PostFiles:
        if projects.preparations.progress(key).step:
            raise LinkerError("the posts are being read; wait for the end")
        if (project := projects.project(key)).is_ready:
            raise LinkerError("labeling has begun; reload the page to add posts")
        return project.files

    router.include_router(file_routes("", files_of, projects.guard))

    @router.delete("/{key}")
    def remove(key: str) -> AsciiJsonResponse:
        return AsciiJsonResponse({"folder": str(projects.remove(key))})

    @router.post("/{key}/start")
    def start(key: str) -> AsciiJsonResponse:
        with projects.guard:
            projects.preparations.begin(projects.project(key))
        return AsciiJsonResponse(summary_view(projects, key))

    @router.post("/{key}/posts")
    def add(key: str, files: Annotated[str, Body(embed=True)]) -> AsciiJsonResponse:
        with projects.guard:
            projects.preparations.begin(projects.project(key), projects.files.get(files))
        return AsciiJsonResponse(summary_view(projects, key))

    return router


def summary_view(projects: Projects, key: str) -> dict[str, Any]:
    """Return a project with its state and progress: an entry of the list of projects."""
    try:
        project = projects.project(key)
        settings, progress = project.settings, asdict(projects.preparations.progress(key))
        entry = {"key": key, "title": settings.title, "created": settings.created, **progress}
        if not project.is_ready:
            return {**entry, "state": "preparing" if progress["step"] else "draft"}
        served = projects.get(key)
        session, status = served.session, served.figures()
    except LinkerError as error:
        return {"key": key, "title": key, "state": "broken", "error": str(error)}
    if copies := len(session.posts) - status.posts:
        note = f"{copies:,} near-duplicate{'s' * (copies > 1)} of other posts: labeled with them"
        entry["notes"] = [*entry["notes"], note]
    return {**entry, "state": "finished" if status.advice.stop else "labeling", **status_view(status)}


def details_view(projects: Projects, project: Project) -> dict[str, Any]:
    """Return a project with its settings, people, links and state.

    `commands` use the labels, and are typed where the server was started.
    """
    settings, session = project.settings, shlex.quote(str(project.session_folder))
    # An export has all posts, as they were read from whatever files.
    query = f"--article {shlex.quote(str(project.folder / ARTICLES))} --posts labels.csv --labels labels.csv"
    model = "" if settings.model == BEST else f" --model {settings.model}"
    return {
        **summary_view(projects, project.key),
        "articles": list(map(article_view, settings.articles)),
        **{name: getattr(settings, name) for name in _SETTINGS},
        "people": [
            {"name": person.name, "token": projects.tokens.token(project.key, person.id)}
            for person in settings.people
        ],
        "folder": str(project.folder),
        "reachable": projects.reachable,
        "commands": {
            "export": f"linker annotate export {session} --resolved --out labels.csv",
            "rank": f"linker rank {query}{model} --threshold recall=0.9 --out relevant.csv",
        },
    }
