"""Training pairs without the tweets of the benchmarks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from linker.data.formats.opening import open_bytes
from linker.errors import DataError
from linker.mining.cleaning import clean, text_hash
from linker.mining.reranking import Reranking

_IDS = ("id", "anchor_id", "parent_id")
_TEXTS = ("text", "anchor_text", "parent_text")


class Seen:
    """The tweets of benchmarks, by their ids and by their cleaned texts."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._texts: set[int] = set()

    def add(self, query: Reranking) -> None:
        """The query, what it is about, and all its candidates."""
        self._ids |= {query.query_id, query.parent_id, *(one.id for one in query.candidates)}
        self._texts |= {text_hash(clean(text)) for text in (query.query, *(c.text for c in query.candidates))}

    def others(self, path: str | Path, counts: Counter[str]) -> Iterator[str]:
        """The lines of a file of pairs that name no such tweet; `counts` takes up what became of all.

        Raises:
            DataError: the file cannot be read, or a line is no pair.
        """
        with open_bytes(str(path)) as file:
            for number, line in enumerate(file, 1):
                try:
                    pair = json.loads(line)
                    ids = {str(pair[name]) for name in _IDS if name in pair}
                    texts = [pair[name] for name in _TEXTS if name in pair]
                    hashes = {text_hash(clean(text)) for text in texts}
                except (ValueError, TypeError, AttributeError) as error:
                    raise DataError(f"{path}, line {number}: not a pair of tweets") from error
                if len(texts) < 2:
                    raise DataError(f"{path}, line {number}: a pair has two texts, here are {len(texts)}")
                counts["made"] += 1
                if ids & self._ids:
                    counts["a tweet of a benchmark"] += 1
                elif hashes & self._texts:
                    counts["a text of a benchmark"] += 1
                else:
                    counts["written"] += 1
                    yield line.decode().rstrip("\r\n") + "\n"
