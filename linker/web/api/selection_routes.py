"""The posts of a session above a threshold that is learned from its labels. Only for the owner."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from linker.annotation.formats import write
from linker.web.api.ranking_process import RankingProcess
from linker.web.api.ranking_queue import RankingQueue
from linker.web.api.sessions import ServedSession, Sessions
from linker.web.api.views import AsciiJsonResponse, download


class Selection(BaseModel):
    """Which posts are kept.

    Attributes:
        by: what the threshold reaches: a recall by the estimate, a recall with 95 % confidence, or a precision; `all`:
            there is none.
        share: the recall or precision.
    """

    by: Literal["recall", "confident recall", "precision", "all"] = "recall"
    share: float = Field(0.9, gt=0, le=1)

    @property
    def options(self) -> dict[str, Any]:
        """Options of `RankRequest`."""
        if self.by == "all":
            return {}
        return {self.by.rpartition(" ")[2]: self.share, "confident": self.by == "confident recall"}


def selection_routes(sessions: Sessions, process: RankingProcess, queue: RankingQueue) -> APIRouter:
    """Return the routes: what a threshold keeps, and the file with these posts."""
    router = APIRouter(prefix="/api/sessions/{key}/selection", include_in_schema=False)

    def select(served: ServedSession, selection: Selection, out: Path | None = None) -> dict[str, Any]:
        session = served.session
        with TemporaryDirectory(prefix="linker-labels-") as folder:
            labels = Path(folder, "labels.jsonl")
            write(labels, "jsonl", session.labeled(resolved=True))
            return process.select(
                session.settings.model,
                session.articles,
                f"session:{served.key}",
                session.posts,
                {"labels": str(labels), **selection.options},
                out,
            )

    @router.get("")
    async def kept(key: str, selection: Annotated[Selection, Query()]) -> AsciiJsonResponse:
        return AsciiJsonResponse(await queue.run(partial(select, sessions.get(key), selection)))

    @router.get("/{format}")
    async def file(
        key: str, format: Literal["xlsx", "csv"], selection: Annotated[Selection, Query()]
    ) -> Response:
        served = sessions.get(key)

        def write_selection(path: Path) -> Path:
            select(served, selection, path)
            return path

        name = f"{key}-ranking.{format}" if selection.by == "all" else f"{key}-relevant.{format}"
        return await queue.run(partial(download, name, write_selection, "application/octet-stream"))

    return router
