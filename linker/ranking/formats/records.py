"""Ranked posts as JSON records, and rankings as tables whose columns are known before the first row."""

import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from linker.ranking.ranked_post import RankedPost

#: With these columns begins every table that linker writes, and only such tables are read with guarded cells.
FIRST_COLUMNS = ("rank", "score", "id", "text")


# Ids with these would be read as two ids, or as the beginning of a JSON list.
_NO_ITEM = re.compile(r"\||^\s*\[")


def record(ranked: RankedPost) -> dict[str, Any]:
    """Return a ranked post as JSON values: rank, score, id, text, other known fields, and its extra fields.

    `source` is where the post was read, file and line. An extra field whose name is taken gets `post_` before it.
    `copies` is the number of near-duplicates that the post represents. `article_id` is present in rankings for each
    of several articles, `probability` if it is known,
    `article_words` and `post_words` (as [word, weight] pairs) and `points` (part of the score → points) if
    explanations were requested.
    """
    post, explanation = ranked.post, ranked.explanation
    values: dict[str, Any] = {"rank": ranked.rank, "score": ranked.score, "id": post.id, "text": post.text}
    if ranked.article_id is not None:
        values["article_id"] = ranked.article_id
    values["copies"] = ranked.copies
    if ranked.probability is not None:
        values["probability"] = float(f"{ranked.probability:.6g}")
    if post.created_at is not None:
        values["created_at"] = post.created_at.isoformat()
    if post.article_ids:
        values["article_ids"] = list(post.article_ids)
    if post.split is not None:
        values["split"] = post.split
    if post.source:
        values["source"] = post.source
    if explanation is not None:
        values["article_words"] = [_pair(pair) for pair in explanation.article_words]
        values["post_words"] = [_pair(pair) for pair in explanation.post_words]
        values["points"] = dict(map(_pair, explanation.points.items()))
    for name, value in post.extra.items():
        values[f"post_{name}" if name in values else name] = value
    return values


def _pair(pair: tuple[str, float]) -> list[Any]:
    return [pair[0], float(f"{pair[1]:.6g}")]


def json_text(value: Any) -> str:
    """Return a value as one line of JSON; dates and the like as text."""
    return json.dumps(value, ensure_ascii=False, default=str)


class Records:
    """Records on disk that can be iterated over several times.

    Attributes:
        columns: the kinds of values (`bool`, `int`, `float`, `str`, `list` or `dict`) in every column, in the order
            in which the columns turned up.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self.columns: dict[str, set[type]] = {name: set() for name in FIRST_COLUMNS}
        self.count = 0

    def add(self, values: dict[str, Any]) -> None:
        """Append a record."""
        line = json.dumps(values, default=str)
        for name, value in json.loads(line).items():
            kinds = self.columns.setdefault(name, set())
            if value is not None:
                kinds.add(type(value))
        self._file.write(line + "\n")
        self.count += 1

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._file.seek(0)
        for line in self._file:
            yield json.loads(line)


@contextmanager
def collected(ranking: Iterable[RankedPost]) -> Iterator[Records]:
    """Return all posts of a ranking as records in a temporary file: the last one may add a column."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogatepass") as file:
        records = Records(file)
        for ranked in ranking:
            records.add(record(ranked))
        yield records


def flat(name: str, value: Any) -> Any:
    """Return a value for a cell with text or a number: ids as `a|b`, other lists and objects as text to read."""
    if name == "article_ids" and isinstance(value, list):
        return json_text(value) if any(map(_NO_ITEM.search, map(str, value))) else "|".join(map(str, value))
    return _readable(value) if isinstance(value, (list, dict)) else value


def _readable(value: Any, inner: bool = False) -> str:
    """Return `otter 0.31, river 0.2` of pairs, `likes: 3, tags: a b` of objects, and `a, b` of lists."""
    between = " " if inner else ", "
    if isinstance(value, dict):
        return between.join(f"{name}: {_readable(one, True)}" for name, one in value.items())
    return between.join(_readable(one, True) for one in value) if isinstance(value, list) else str(value)


def moment(value: Any) -> datetime | None:
    """Return a time as `record` writes it; None if a field of that name contains something else."""
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
