"""Archives of tweet objects: files of JSON Lines, compressed or not, and folders of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO

from linker.common.errors import DataError
from linker.contrib.twitter4sse.tweets import Tweet, tweets_in
from linker.data.files.streams import open_bytes

MAX_LINE = 16 << 20


def lines_of(archive: str) -> Iterator[bytes | None]:
    """Yield the lines of a file, None for one longer than 16 MiB.

    Raises:
        DataError: if it cannot be read, is damaged, truncated or a tar file.
    """
    with open_bytes(archive) as stream:
        for number, line in enumerate(read_lines(stream)):
            if number == 0 and line is not None and line[257:262] == b"ustar":
                raise DataError(f"{archive}: is a tar file; unpack it, and give its folder")
            yield line


def read_lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """Yield the lines of a stream, None for a line longer than 16 MiB, which is never in memory as a whole."""
    while line := stream.readline(MAX_LINE):
        if len(line) < MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def parse_line(line: bytes | None) -> list[Tweet] | str:
    """Return the tweets of a line, at least one, or the reason why it has none."""
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
    except (ValueError, RecursionError):  # Also for a number of more than 4,300 digits.
        return "broken JSON"
    if not isinstance(value, dict):
        return "not a JSON object"
    return tweets_in(value) or ("notice of a deletion" if "delete" in value else "no tweet in it")
