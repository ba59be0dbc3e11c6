"""A ranking as JSON lines, or as one JSON list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from linker.ranking.formats.records import json_text, record
from linker.ranking.ranked import RankedPost


def write_json_lines(file: IO[str], ranking: Iterable[RankedPost]) -> None:
    """Write an object a line."""
    file.writelines(json_text(record(ranked)) + "\n" for ranked in ranking)


def write_json(file: IO[str], ranking: Iterable[RankedPost]) -> None:
    """Write a list with an object a line."""
    before = "[\n"
    for ranked in ranking:
        file.write(before + json_text(record(ranked)))
        before = ",\n"
    file.write("\n]\n" if before == ",\n" else "[]\n")
