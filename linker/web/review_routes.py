"""Routes that review and move labels: agreement, adjudication, export, import. Only for the owner."""

from __future__ import annotations

import math
import re
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, Response

from linker.annotation.formats import read, write
from linker.annotation.formats.label_format import LabelFormat
from linker.annotation.session.events import Event
from linker.annotation.session.review import Dispute
from linker.common.errors import DataError, LinkerError
from linker.data.labels.values import LabelValue
from linker.web.serializers import AsciiJsonResponse, post_view
from linker.web.served_sessions import ServedSessions
from linker.web.session_api import SessionApi

_ENDINGS = {
    "csv": ".csv",
    "asreview": ".csv",
    "xlsx": ".xlsx",
    "jsonl": ".jsonl",
    "doccano": ".jsonl",
    "prodigy": ".jsonl",
}
_MOST_SHOWN = 200


class ResolveBody(BaseModel):
    """An adjudicated label."""

    annotator: str = Field(max_length=200)
    post: str
    value: LabelValue
    choice: str | None = None
    id: str = Field(min_length=8, max_length=64)


def review_routes(sessions: ServedSessions) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/api/sessions/{key}", default_response_class=AsciiJsonResponse)

    @router.get("/agreement")
    def agreement(key: str) -> AsciiJsonResponse:
        return AsciiJsonResponse(agreement_view(sessions.get(key)))

    @router.post("/resolve")
    def resolve(key: str, body: ResolveBody) -> AsciiJsonResponse:
        api = sessions.get(key)
        api.session.act(
            Event("resolve", body.annotator, body.post, body.value, id=body.id, choice=body.choice)
        )
        return AsciiJsonResponse(agreement_view(api))

    @router.get("/export")
    def export(key: str, format: str = "csv", resolved: bool = False) -> Response:
        api = sessions.get(key)
        written = LabelFormat.by_name(format)
        records = api.session.labeled(resolved or written.one_per_post, written.marks_machines)
        folder = tempfile.TemporaryDirectory(prefix="linker-export-")
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", key) + ("-resolved" if resolved else "-labels")
        path = Path(folder.name) / f"{stem}{_ENDINGS.get(format, '.json')}"
        try:
            files = write(path, format, records, api.guidelines)
            file = path if len(files) == 1 else _zipped(files, path.with_suffix(".zip"))
        except BaseException:
            folder.cleanup()
            raise
        return FileResponse(
            file,
            media_type="application/octet-stream",
            filename=file.name,
            background=BackgroundTask(folder.cleanup),
        )

    @router.post("/import")
    async def import_(
        key: str,
        request: Request,
        name: Annotated[str, Query(min_length=1, max_length=1000)],
        format: str = "",
        annotator: Annotated[str, Query(max_length=200)] = "",
        machine: bool = False,
    ) -> AsciiJsonResponse:
        api = await run_in_threadpool(sessions.get, key)
        with tempfile.TemporaryDirectory(prefix="linker-import-") as folder:
            path = Path(folder) / "labels"
            with path.open("wb") as file:
                try:
                    async for block in request.stream():
                        await run_in_threadpool(file.write, block)
                except ClientDisconnect as error:
                    raise LinkerError("the upload was cut off; import the file again") from error
            return AsciiJsonResponse(
                await run_in_threadpool(_import, api, path, name, format, annotator.strip(), machine)
            )

    return router


def _import(
    api: SessionApi, path: Path, name: str, format_: str, annotator: str, machine: bool
) -> dict[str, int | str]:
    shown = re.split(r"[\\/]", name)[-1][:200]
    try:
        found = read(path, format_ or None, api.session.label_set.meanings)
    except DataError as error:
        raise DataError(str(error).replace(str(path), shown)) from error
    return {
        "read": len(found.labels),
        "new": api.session.import_labels(found.labels, annotator or None, shown, machine),
        "summary": found.summary.replace(found.shown, shown),
    }


def _zipped(files: list[Path], target: Path) -> Path:
    from zipfile import ZIP_DEFLATED, ZipFile

    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.name)
    return target


def agreement_view(api: SessionApi) -> dict[str, Any]:
    """Return the agreement of people, that of machines with people, and the posts to adjudicate.

    A post appears among the disagreements when everybody who is to label it has done so. Those on which only the names
    of the labels differ are listed apart, as `by_name`.
    """
    session = api.session
    review, name = session.review(), session.label_set.name_of
    # Reading these influences nobody who is still to label them.
    disputes, by_name = (
        [one for one in some if not one.waiting] for some in (review.disputes, review.by_name)
    )

    def view(one: Dispute) -> dict[str, Any]:
        labels = [
            (who, label.value, name(label.value or "skip", label.choice), note)
            for who, label, note in one.labels
        ]
        decided = one.adjudicated and {"value": one.adjudicated.value, "choice": one.adjudicated.choice}
        shown = {**post_view(one.post), **api.context.view(one.post)}
        return {**shown, "labels": labels, "resolved": decided, "holds": one.holds}

    return {
        "posts": review.posts,
        "alpha": _number(review.alpha),
        "names": session.label_set.named and {"alpha": _number(review.alpha_of_names), "level": review.level},
        "kappas": [{"people": list(pair), "kappa": _number(kappa)} for pair, kappa in review.kappas.items()],
        "machines": [
            {**asdict(one), "kappa": _number(one.kappa), "alpha_of_names": _number(one.alpha_of_names)}
            for one in review.machines
        ],
        "total": len(disputes),
        "disagreements": [view(one) for one in disputes[:_MOST_SHOWN]],
        "total_by_name": len(by_name),
        "by_name": [view(one) for one in by_name[:_MOST_SHOWN]],
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
