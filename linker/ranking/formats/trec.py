"""A ranking as a run of trec_eval."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import IO

from linker.errors import LinkerError
from linker.ranking.ranked import RankedPost


def write_trec(file: IO[str], ranking: Iterable[RankedPost], query: str, tag: str) -> None:
    """Write `query Q0 post rank score tag`, a line a post.

    Raises:
        LinkerError: an id with white space.
    """
    query = "_".join(query.split())
    for ranked in ranking:
        if re.search(r"\s", ranked.post.id):
            raise LinkerError(
                f"post id {ranked.post.id!r} holds white space, which separates the columns of a TREC run; "
                "rename it, or choose --format jsonl"
            )
        file.write(f"{query} Q0 {ranked.post.id} {ranked.rank} {ranked.score:.9g} {tag}\n")
