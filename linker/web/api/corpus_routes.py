"""Routes of a served corpus: search, export, and their description by OpenAPI."""

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Header
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import FileResponse, Response

from linker.data.io.dates import parse_date
from linker.ranking.request import RankRequest
from linker.web.api.corpus_search import CorpusSearch, ExportFormat
from linker.web.api.ranking_queue import RankingQueue
from linker.web.api.rankings import read_article
from linker.web.api.views import AsciiJsonResponse, download

MOST_POSTS, MOST_EXPORTED = 200, 100_000
_ARTICLE = 1 << 20
_TYPES: dict[ExportFormat, str] = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
    "trec": "text/plain; charset=utf-8",
}
_SIGNED = Annotated[
    str,
    Header(
        alias="X-Linker",
        min_length=1,
        description="Any text, such as 1: requests that pages of other sites send lack it.",
    ),
]


def _moment(value: object) -> datetime | None:
    """Return the time in a string of a JSON document.

    Raises:
        ValueError: if the value is neither a date nor None.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f'{str(value)[:60]!r} is not a string; write dates like "2015-05-26T16:52:48Z"')
    return parse_date(value)


_Moment = Annotated[datetime | None, BeforeValidator(_moment)]


class Search(BaseModel):
    """An article, and which posts of the corpus to rank for it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    article: str = Field(
        min_length=1,
        max_length=_ARTICLE,
        description="Its text, or the address of its page. A first line followed by a blank line is the title.",
    )
    published: str = Field(
        "",
        max_length=40,
        description="When the article was published, such as 2024-05-01; empty: by the page.",
    )
    since: _Moment = Field(None, description="Only posts at or after this time; UTC without a time zone.")
    until: _Moment = Field(None, description="Only posts before this time; UTC without a time zone.")
    languages: list[str] = Field(
        default_factory=list, max_length=100, description="Only posts in these languages, such as en."
    )
    threshold: float | None = Field(None, ge=0, le=100, description="Only posts with at least this score.")
    copies: bool = Field(
        False, description="List near-duplicates one by one instead of the best of each group."
    )
    ignore_dates: bool = Field(
        False, description="Rank by text alone, without the dates of article and posts."
    )

    def request(self, top: int, offset: int = 0, explain: bool = False) -> RankRequest:
        """Return the options of the ranking."""
        return RankRequest(
            top=top,
            offset=offset,
            threshold=self.threshold,
            explain=explain,
            since=self.since,
            until=self.until,
            lang=self.languages,
            copies=self.copies,
            ignore_dates=self.ignore_dates,
        )


class SearchPage(Search):
    """A search, and the page of its results to return."""

    top: int = Field(20, ge=1, le=MOST_POSTS, description="Number of posts to return.")
    offset: int = Field(0, ge=0, le=MOST_EXPORTED, description="Number of the best posts to skip.")
    explain: bool = Field(False, description="Add the words and the parts of the score that decided.")


class Export(Search):
    """A search, and the file to write its results to."""

    top: int = Field(1_000, ge=1, le=MOST_EXPORTED, description="Number of posts to write.")
    format: ExportFormat = Field("csv", description="Format of the file.")


class Problem(BaseModel):
    """What is wrong and what to do."""

    error: str


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The article cannot be read, or a condition does not fit."},
    401: {"description": "The token is missing or wrong."},
    403: {"description": "The header X-Linker is missing, or a page of another site sent the request."},
    413: {"description": "The request is larger than 4 MiB."},
    422: {"model": Problem, "description": "A field is missing, unknown or out of range."},
    503: {"model": Problem, "description": "Too many searches of all clients wait."},
}


def corpus_routes(corpus: CorpusSearch, queue: RankingQueue) -> APIRouter:
    """Return the routes of a corpus, whose searches `queue` runs. The OpenAPI document describes them."""
    router = APIRouter(prefix="/api/corpus")

    @router.get("", summary="Describe the corpus")
    async def about() -> Response:
        return AsciiJsonResponse(await queue.run(corpus.about))

    @router.post("/search", responses=_PROBLEMS, summary="Rank posts for an article")
    async def search(body: SearchPage, signed: _SIGNED) -> Response:
        def work() -> dict[str, Any]:
            request = body.request(body.top, body.offset, body.explain)
            return corpus.search(read_article(body.article, body.published), request)

        return AsciiJsonResponse(await queue.run(work))

    @router.post(
        "/export",
        response_class=FileResponse,
        responses={**_PROBLEMS, 200: {"content": {kind: {} for kind in _TYPES.values()}}},
        summary="Write a ranking to a file",
    )
    async def export(body: Export, signed: _SIGNED) -> Response:
        def write(path: Path) -> Path:
            article = read_article(body.article, body.published)
            return corpus.export(article, body.request(body.top), path, body.format)

        name = f"posts.{body.format}"
        return await queue.run(partial(download, name, write, _TYPES[body.format]))

    return router
