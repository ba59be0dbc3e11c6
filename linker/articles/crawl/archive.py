"""Raw responses of a crawl in a WARC file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path

from linker.articles.request import Response
from linker.articles.warc import warcio_for
from linker.common.errors import LinkerError


class CrawlArchive(AbstractContextManager["CrawlArchive"]):
    """A WARC file that grows with the crawl. Redirects and errors have no body, nor have pages of sites that opt out.

    Args:
        path: the file, `.warc.gz`; made if missing.
        length: number of bytes that the database of the crawl knows of, the rest is cut off.

    Raises:
        LinkerError: if the package warcio is missing, or the file is of a crawl whose database is lost.
    """

    def __init__(self, path: Path, length: int) -> None:
        warcio_for(path)
        from warcio.warcwriter import WARCWriter

        if not length and path.exists() and path.stat().st_size:
            raise LinkerError(
                f"{path}: the database of its crawl is missing; move this file away to start again"
            )
        self._file = open(path, "ab")  # noqa: SIM115  (closed by __exit__)
        # A record and the state of its page are there together or not at all.
        os.truncate(path, min(length, path.stat().st_size))
        self._file.seek(0, os.SEEK_END)
        self._writer = WARCWriter(self._file, gzip=True)

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, responses: Iterable[Response]) -> int:
        """Write responses, and return the length of the file."""
        from warcio.statusandheaders import StatusAndHeaders

        for response in responses:
            # The body in the record is not chunked any more.
            headers = [header for header in response.headers if header[0].lower() != "transfer-encoding"]
            status = StatusAndHeaders(str(response.status), headers, protocol="HTTP/1.1")
            payload = BytesIO(response.raw)
            record = self._writer.create_warc_record(response.url, "response", payload, http_headers=status)
            self._writer.write_record(record)
        self._file.flush()
        return self._file.tell()
