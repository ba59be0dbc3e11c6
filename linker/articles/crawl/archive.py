"""Raw responses of a crawl in a WARC file, from which a later crawl takes them instead of asking again."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from linker.articles.crawl.visit import Outcome
from linker.articles.page import RequestError
from linker.articles.request import MAX_BYTES, Response, unpacked_body
from linker.articles.warc import warcio_for
from linker.common.errors import DataError

_TYPE = "application/json"


class CrawlArchive(AbstractContextManager["CrawlArchive"]):
    """A WARC file that grows with the crawl. Redirects and errors have no body, nor have pages of sites that opt out.

    What a page got without a response (too slow, refused, ...) is in a record of type `metadata`.

    Args:
        path: the file, `.warc.gz`; made if missing.
        length: number of bytes that the database of the crawl knows of, the rest is cut off; None: the database is
            missing, so the responses in the file are used again.

    Raises:
        LinkerError: if the package warcio is missing.
        DataError: if the file is not a WARC file.
    """

    def __init__(self, path: Path, length: int | None) -> None:
        warcio_for(path)
        from warcio.warcwriter import WARCWriter

        self._path = path
        self._offsets: dict[str, int] = {}
        self._failures: dict[str, dict[str, Any]] = {}
        if length is None:
            length = self._index() if path.exists() else 0
        self._file: IO[bytes] = open(path, "ab")  # noqa: SIM115  (closed by __exit__)
        # A record and the state of its page are there together or not at all.
        os.truncate(path, min(length, path.stat().st_size))
        self._file.seek(0, os.SEEK_END)
        self._writer = WARCWriter(self._file, gzip=True)

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def has(self, url: str) -> bool:
        """Return whether the file had what came of a request for `url` when it was opened."""
        return url in self._offsets or url in self._failures

    def response(self, url: str) -> Response:
        """Return the response to a request for `url`.

        Raises:
            RequestError: if there was none.
        """
        if url in self._failures:
            raise RequestError(self._failures[url]["state"], self._failures[url]["detail"])
        from warcio.archiveiterator import ArchiveIterator

        with open(self._path, "rb") as file:
            file.seek(self._offsets[url])
            record = next(iter(ArchiveIterator(file)))
            headers = tuple((str(name), str(value)) for name, value in record.http_headers.headers)
            raw = record.raw_stream.read()
            response = Response(url, int(record.http_headers.get_statuscode()), headers, raw)
        body = b"".join(unpacked_body(response, iter([raw]), MAX_BYTES)) if raw else b""
        return Response(url, response.status, headers, raw, body)

    def add(self, outcome: Outcome) -> int:
        """Write the responses of a visit, and return the length of the file."""
        from warcio.statusandheaders import StatusAndHeaders

        for response in outcome.responses:
            if self.has(response.url):
                continue
            # The body in the record is not chunked any more.
            headers = [header for header in response.headers if header[0].lower() != "transfer-encoding"]
            status = StatusAndHeaders(str(response.status), headers, protocol="HTTP/1.1")
            self._write(response.url, "response", response.raw, http_headers=status)
        if not self.has(outcome.url) and (
            outcome.state == "opt-out" or outcome.url not in {response.url for response in outcome.responses}
        ):
            failure = {"state": outcome.state, "detail": outcome.detail}
            self._write(outcome.url, "metadata", json.dumps(failure).encode(), warc_content_type=_TYPE)
        self._file.flush()
        return self._file.tell()

    def _write(self, url: str, kind: str, content: bytes, **options: Any) -> None:
        record = self._writer.create_warc_record(url, kind, payload=BytesIO(content), **options)
        self._writer.write_record(record)

    def _index(self) -> int:
        """Find the records of the file, and return the length of those that are complete."""
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed

        complete = 0
        with open(self._path, "rb") as file:
            records = ArchiveIterator(file)
            try:
                for record in records:
                    if record.format != "warc":
                        raise DataError(f"{self._path}: not a WARC file; move it away")
                    url = record.rec_headers.get_header("WARC-Target-URI") or ""
                    content = record.raw_stream.read()
                    # Asking for the offset skips what was not read.
                    offset = records.get_record_offset()
                    if 0 <= record.payload_length != len(content):
                        break
                    complete = offset + records.get_record_length()
                    if record.rec_type == "metadata":
                        self._failures[url] = json.loads(content)
                    elif record.rec_type == "response" and record.http_headers is not None:
                        self._offsets[url] = offset
            except (ArchiveLoadFailed, EOFError, OSError, ValueError) as error:
                if not complete:
                    raise DataError(f"{self._path}: not a WARC file ({error}); move it away") from error
        return complete
