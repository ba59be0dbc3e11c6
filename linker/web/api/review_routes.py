"""Routes that review and move labels: agreement, adjudication, export, import. Only for the owner."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from zipfile import ZIP_DEFLATED, ZipFile

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from linker.annotation.formats import read, write
from linker.annotation.formats.label_format import LabelFormat
from linker.annotation.session.agreement import finite
from linker.annotation.session.events import Event, name_key
from linker.annotation.session.review import Dispute
from linker.common.errors import DataError
from linker.data.labels.values import LabelValue
from linker.web.api.file_routes import Name, received
from linker.web.api.sessions import ServedSession, Sessions
from linker.web.api.views import AsciiJsonResponse, download, post_view

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
    answers: dict[str, str | int] | None = None
    id: str = Field(min_length=8, max_length=64)


def review_routes(sessions: Sessions) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/api/sessions/{key}", include_in_schema=False)

    @router.get("/agreement")
    def agreement(key: str, annotator: Annotated[str, Query(max_length=200)] = "") -> AsciiJsonResponse:
        return AsciiJsonResponse(agreement_view(sessions.get(key), annotator))

    @router.post("/resolve")
    def resolve(key: str, body: ResolveBody) -> AsciiJsonResponse:
        served = sessions.get(key)
        event = Event(
            "resolve",
            body.annotator,
            body.post,
            body.value,
            id=body.id,
            choice=body.choice,
            answers=body.answers,
        )
        served.session.act(event)
        return AsciiJsonResponse(agreement_view(served, body.annotator))

    @router.get("/export")
    def export(
        key: str,
        format: str = "csv",
        resolved: bool = False,
        annotator: Annotated[str, Query(max_length=200)] = "",
    ) -> Response:
        served, form = sessions.get(key), LabelFormat.by_name(format)
        records = served.session.labeled(resolved or form.one_per_post, form.marks_machines)
        if annotator.strip():  # who reads the file sees the labels of others
            others = [
                one for one in records if one.value and name_key(one.annotator or "") != name_key(annotator)
            ]
            served.session.reveal(annotator, [record.post.id for record in others])
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", key) + ("-resolved" if resolved else "-labels")

        def write_labels(path: Path) -> Path:
            files = write(path, format, records, served.guidelines, served.session.codebook.questions)
            if len(files) == 1:
                return path
            zipped = path.with_suffix(".zip")
            with ZipFile(zipped, "w", ZIP_DEFLATED) as archive:
                for file in files:
                    archive.write(file, file.name)
            return zipped

        return download(f"{stem}{_ENDINGS.get(format, '.json')}", write_labels, "application/octet-stream")

    @router.post("/import")
    async def import_(
        key: str,
        request: Request,
        name: Name,
        format: str = "",
        annotator: Annotated[str, Query(max_length=200)] = "",
        machine: bool = False,
    ) -> AsciiJsonResponse:
        session = (await run_in_threadpool(sessions.get, key)).session
        title = re.split(r"[\\/]", name)[-1][:200]

        def import_labels(path: Path) -> dict[str, int | str]:
            try:
                labels = read(path, format or None, session.label_set.meanings)
            except DataError as error:
                raise DataError(str(error).replace(str(path), title)) from error
            imported = session.import_labels(labels.labels, annotator.strip() or None, title, machine)
            summary = labels.summary.replace(labels.shown, title)
            left_out = f"Left out: {imported.left_out}." if imported.left_out else ""
            return {
                "read": len(labels.labels),
                "new": imported.new,
                "summary": f"{summary} {left_out}".strip(),
            }

        async with received(request, "labels") as path:
            return AsciiJsonResponse(await run_in_threadpool(import_labels, path))

    return router


def agreement_view(served: ServedSession, annotator: str) -> dict[str, Any]:
    """Return the agreement of people, that of machines with people, and the posts to adjudicate.

    A post appears among the disagreements when everybody who is to label it has done so. Labels that `annotator` gives
    them from now on are not independent; who gives no name sees their number alone.
    """
    session = served.session
    review, name_of = session.review(), session.label_set.name_of

    def view(dispute: Dispute) -> dict[str, Any]:
        decided = dispute.adjudicated
        return {
            **post_view(dispute.post),
            **served.context.view(dispute.post),
            "labels": [
                (who, label.value, name_of(label.value or "skip", label.choice), note)
                for who, label, note in dispute.labels
            ],
            "answers": {who: label.answers or {} for who, label, _ in dispute.labels},
            "resolved": decided and {"value": decided.value, "choice": decided.choice},
            "decided": (decided and decided.answers) or {},
            "holds": dispute.holds,
        }

    def listed(disputes: list[Dispute]) -> dict[str, Any]:
        # Reading these influences nobody who is still to label them.
        closed = [dispute for dispute in disputes if not dispute.waiting]
        shown = closed[:_MOST_SHOWN] if annotator.strip() else []
        if shown:
            session.reveal(annotator, [dispute.post.id for dispute in shown])
        undecided = sum(dispute.adjudicated is None for dispute in closed)
        return {"total": len(closed), "undecided": undecided, "disagreements": list(map(view, shown))}

    return {
        **review.agreement.as_json(),
        "revised": review.revised,
        "kappas": [{"people": list(pair), "kappa": finite(kappa)} for pair, kappa in review.kappas.items()],
        "machines": [{**asdict(machine), "kappa": finite(machine.kappa)} for machine in review.machines],
        **listed(review.disputes),
        "questions": [
            {"key": key, **found.as_json(), **listed(those)} for key, (found, those) in review.answers.items()
        ],
    }
