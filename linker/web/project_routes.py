"""Routes of projects; the middleware lets only the owner use them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from linker.common.errors import LinkerError
from linker.web.projects_api import ProjectsApi
from linker.web.serializers import AsciiJsonResponse

_Text = Annotated[str, Field(max_length=1 << 20)]


class LabelBody(BaseModel):
    """A label of a label set."""

    name: str
    value: Literal["relevant", "not", "skip"]


class ProjectBody(BaseModel):
    """A new project."""

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
    target: float = 0.95


class ChangeBody(BaseModel):
    """Settings that may change while people label; what is missing stays."""

    title: str | None = None
    question: str | None = None
    guidelines: str | None = None
    people: list[str] | None = Field(None, max_length=200)


def project_routes(projects: ProjectsApi) -> APIRouter:
    """Return the routes of projects."""
    router = APIRouter(prefix="/api/projects", default_response_class=AsciiJsonResponse)

    @router.post("/_training")  # no project has this key
    def training_set() -> AsciiJsonResponse:
        return AsciiJsonResponse(projects.write_training_set())

    @router.get("")
    def overview() -> AsciiJsonResponse:
        return AsciiJsonResponse(projects.overview())

    @router.post("")
    def create(body: ProjectBody) -> AsciiJsonResponse:
        values = body.model_dump(exclude={"articles", "published", "people", "labels"})
        labels = tuple(one.model_dump() for one in body.labels)
        return AsciiJsonResponse(
            projects.create(body.articles, body.people, body.published, labels=labels, **values)
        )

    @router.get("/{key}")
    def details(key: str) -> AsciiJsonResponse:
        return AsciiJsonResponse(projects.details(key))

    @router.post("/{key}")
    def change(key: str, body: ChangeBody) -> AsciiJsonResponse:
        values = body.model_dump(exclude={"people"}, exclude_none=True)
        return AsciiJsonResponse(projects.change(key, body.people, **values))

    @router.post("/{key}/files")
    async def upload(
        key: str, request: Request, name: Annotated[str, Query(min_length=1, max_length=1000)]
    ) -> AsciiJsonResponse:
        project = projects.project(key)
        try:
            with project.upload(name) as file:
                async for block in request.stream():
                    await run_in_threadpool(file.write, block)
        except ClientDisconnect as error:
            raise LinkerError(f"{name[:100]}: the upload was cut off; drop the file again") from error
        return AsciiJsonResponse(await run_in_threadpool(projects.details, key))

    @router.post("/{key}/start")
    def start(key: str) -> AsciiJsonResponse:
        return AsciiJsonResponse(projects.begin(key))

    return router
