"""Addresses to fetch, of a file of links."""

from __future__ import annotations

import json
from collections.abc import Iterator

from linker.common.errors import DataError
from linker.data.io.streams import open_bytes, shown_name

_SHOWN = 5


def read_links(source: str) -> Iterator[str]:
    """Yield the addresses in a file, in order: one per line, as it is or as `url` of a JSON object.

    Args:
        source: a file, perhaps compressed, or `-`.

    Raises:
        DataError: at the end, if lines are bad, or there is none.
    """
    name, faults, count = shown_name(source), [], 0
    with open_bytes(source) as file:
        for number, line in enumerate(file, start=1):
            text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip()
            if not text:
                continue
            count += 1
            try:
                yield _address(text)
            except ValueError as error:
                faults.append(f"{name}, line {number}: {error}")
                if len(faults) == _SHOWN:
                    break
    if faults:
        raise DataError("\n".join([*faults, "give one address per line, or JSON Lines with the field `url`"]))
    if not count:
        raise DataError(f"{name}: no link in this file; give one address per line, or JSON Lines with `url`")


def _address(text: str) -> str:
    if not text.startswith("{"):
        if len(text.split()) > 1:
            raise ValueError(f"{text[:60]!r} is not one address")
        return text
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"broken JSON ({error})") from error
    url = row.get("url")
    if not isinstance(url, str) or not url.strip():
        raise ValueError("no text in the field `url`")
    return " ".join(url.split())
