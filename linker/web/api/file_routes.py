"""Routes of files of posts: upload them, see how they are read, choose how, remove them. Only for the owner."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from linker.annotation.project.post_files import PostFiles, safe_name
from linker.common.errors import LinkerError
from linker.common.files import atomic_write
from linker.web.api.views import AsciiJsonResponse

Name = Annotated[str, Query(min_length=1, max_length=1000)]


@asynccontextmanager
async def received(request: Request, name: str, folder: Path | None = None) -> AsyncIterator[Path]:
    """Keep the body of a request in a temporary file with a safe name during the block, in `folder` if it is given.

    Raises:
        LinkerError: if the upload is cut off, or cannot be written.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".upload-", dir=folder) as place:
        path = Path(place) / safe_name(name)
        try:
            with atomic_write(path, "wb") as file:
                async for block in request.stream():
                    await run_in_threadpool(file.write, block)
        except ClientDisconnect as error:
            raise LinkerError(f"{path.name}: the upload was cut off; choose the file again") from error
        yield path


def file_routes(
    prefix: str, files_of: Callable[[str], PostFiles], guard: AbstractContextManager[Any]
) -> APIRouter:
    """Return the routes of files, below `prefix` and the key by which they are found; `guard` is held for changes."""
    router = APIRouter(prefix=f"{prefix}/{{key}}/files", include_in_schema=False)

    @router.get("")
    def listed(key: str) -> AsciiJsonResponse:
        files = files_of(key)
        return AsciiJsonResponse([files.preview(path) for path in files.paths()])

    @router.post("")
    async def upload(key: str, request: Request, name: Name) -> AsciiJsonResponse:
        files = files_of(key)
        async with received(request, name, files.folder) as path:
            return AsciiJsonResponse(await run_in_threadpool(files.add, path))

    @router.post("/{name}")
    def choose(key: str, name: str, choice: dict[str, Any]) -> AsciiJsonResponse:
        with guard:
            path = (files := files_of(key)).choose(name, choice)
        return AsciiJsonResponse(files.preview(path))

    @router.delete("/{name}")
    def remove(key: str, name: str) -> AsciiJsonResponse:
        with guard:
            files_of(key).choose(name, None)
        return AsciiJsonResponse({})

    return router
