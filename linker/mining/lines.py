"""Lines of archives, every one with its fate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO

from linker.mining.archives import OpenSource, Source, open_source
from linker.mining.tweets import Tweet, tweets_in

MAX_LINE = 16 << 20


def read_lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of a stream; None stands for one that is longer than 16 MiB, which is never held whole."""
    while line := stream.readline(MAX_LINE):
        if len(line) < MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


class SourceLines:
    """The lines of a source, as `read_lines` gives them; to be iterated once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._opened: OpenSource | None = None

    @property
    def left(self) -> int:
        """Packed bytes that are not read yet."""
        return self._opened.left() if self._opened else self._source.size

    def __iter__(self) -> Iterator[bytes | None]:
        # Only what reading raises means damage, not what is raised while a line is worked on elsewhere.
        with open_source(self._source) as self._opened:
            for stream in self._opened.streams:
                yield from read_lines(stream)


def parse_line(line: bytes | None) -> list[Tweet] | str:
    """The tweets of a line, at least one, or why there are none."""
    if line is None:
        return "longer than 16 MiB"
    try:
        text = line.decode().strip().removeprefix("\ufeff")
    except UnicodeDecodeError:
        return "invalid UTF-8"
    if not text:
        return "blank"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # also a number of more than 4,300 digits
        return "broken JSON"
    if not isinstance(value, dict):
        return "not a JSON object"
    return tweets_in(value) or ("notice of a deletion" if "delete" in value else "no tweet in it")
