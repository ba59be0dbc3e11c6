"""`Ranking`: the result of `Ranker.rank`, as a sequence, a table and a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from linker.common.errors import LinkerError
from linker.data.types import Article, Post
from linker.models.score_scale import UNSCALED, ScoreScale
from linker.ranking.data_frames import Frame, library
from linker.ranking.display import as_text, heading
from linker.ranking.formats.html import as_table
from linker.ranking.formats.records import FIRST_COLUMNS, record
from linker.ranking.inputs import check_path
from linker.ranking.output import ENDINGS, write_rankings
from linker.ranking.ranked_post import QueryResult, RankedPost

if TYPE_CHECKING:
    import pandas
    import polars

    from linker.calibration.thresholds import Threshold, Thresholds

_FIRST = (*FIRST_COLUMNS, "copies")
_WORDS = ("article_words", "post_words")


class Ranking(QueryResult):
    """Ranked posts, best first: a sequence that notebooks show as a table.

    It can be indexed, sliced, iterated over and compared like a list; a slice is a Ranking with the same ranks.

    Args:
        posts: the ranked posts.
        articles: the query.
        model: the model's name.
        frame: data frame that the posts were read from.
        ids: the ids of its rows, in order.
        thresholds: estimates for every threshold, if there were labels or a calibration.
        threshold: the estimates for the threshold that was applied, if there were labels or a calibration.
        scale: the map of raw scores to the scores of the posts.
    """

    def __init__(
        self,
        posts: Sequence[RankedPost],
        articles: Sequence[Article] = (),
        model: str = "model",
        frame: Frame | None = None,
        ids: Sequence[str] = (),
        thresholds: Thresholds | None = None,
        threshold: Threshold | None = None,
        scale: ScoreScale = UNSCALED,
    ) -> None:
        self._posts, self.articles, self.model = posts, articles, model
        self._frame, self._ids = frame, ids
        self.thresholds, self.threshold, self.scale = thresholds, threshold, scale

    def __len__(self) -> int:
        return len(self._posts)

    @overload
    def __getitem__(self, index: int) -> RankedPost: ...

    @overload
    def __getitem__(self, index: slice) -> Ranking: ...

    def __getitem__(self, index: int | slice) -> RankedPost | Ranking:
        if not isinstance(index, slice):
            return self._posts[index]
        part = copy(self)
        part._posts = self._posts[index]
        part.__dict__.pop("_places", None)  # those of all posts
        return part

    def __iter__(self) -> Iterator[RankedPost]:
        return iter(self._posts)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, (Ranking, list)) else NotImplemented

    def __repr__(self) -> str:
        return as_text(self, self.articles, self.model, self.meaning)

    def _repr_html_(self) -> str:
        return as_table(self, heading(self, self.articles, self.model))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict of JSON values per post.

        The keys are `rank`, `score`, `id`, `text` and `copies`; where they are known `created_at` (ISO 8601),
        `article_ids`, `split` and `probability`; with explanations `article_words` and `post_words`, as [word, weight]
        pairs; and the post's other fields. Of those, one whose name is taken gets `post_` before it.
        """
        return [record(ranked) for ranked in self]

    def to_pandas(self) -> pandas.DataFrame:
        """Return the ranking as a pandas DataFrame, one row per post.

        Posts that came in a data frame give its own rows, with all columns as they were (and, from pandas, the index),
        and `rank`, `score` and `copies` before them. Other posts give the columns of
        `to_dicts`, with `created_at` as times.

        Raises:
            LinkerError: if pandas is not installed.
        """
        pandas = library("pandas")
        if self._frame is None:
            rows = self._rows()
            return pandas.DataFrame(rows, columns=_names(rows))
        frame = self._frame.to_pandas(self._places)
        added = self._added()
        frame = frame.rename(columns=_renamed(map(str, frame.columns), added))
        for place, (name, values) in enumerate(added.items()):
            frame.insert(place, name, values)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Return the ranking as a polars DataFrame, one row per post.

        Its columns are those of `to_pandas`, but words are structs with `word` and `weight`.

        Raises:
            LinkerError: if polars is not installed.
        """
        polars = library("polars")
        if self._frame is None:
            rows = self._rows()
            columns = {name: [row.get(name) for row in rows] for name in _names(rows)}
            return polars.DataFrame(_with_structs(columns), strict=False)
        frame = self._frame.to_polars(self._places)
        added = self._added()
        frame = frame.rename(_renamed(frame.columns, added))
        return polars.DataFrame(_with_structs(added), strict=False).hstack(frame)

    def save(self, path: str | Path) -> None:
        """Write the ranking to a file, atomically, in the format of its ending.

        Args:
            path: the file: `.csv`, `.tsv`, `.xlsx`, `.parquet`, `.jsonl`, `.json`, `.html` (a page to read and search),
                `.txt` (a table to read), or `.trec` or `.run` (a TREC run).

        Raises:
            LinkerError: if the ending is unknown, the file cannot be written, or the format cannot contain the posts.
        """
        check_path(path, "path")
        format_ = ENDINGS.get(Path(path).suffix.lower())
        if format_ is None:
            raise LinkerError(f"{path}: unknown ending; use one of {', '.join(ENDINGS)}")
        write_rankings([self], Path(path), format_)

    @cached_property
    def _places(self) -> list[int]:
        """Return the row number of each post in the data frame."""
        at = {id_: place for place, id_ in enumerate(self._ids)}
        return [at[ranked.post.id] for ranked in self]

    def _rows(self) -> list[dict[str, Any]]:
        """Return `to_dicts` with times."""
        rows = self.to_dicts()
        for row, ranked in zip(rows, self):
            if ranked.post.created_at is not None:
                row["created_at"] = ranked.post.created_at
        return rows

    def _added(self) -> dict[str, list[Any]]:
        """Return the columns that the data frame did not have."""
        rows = [record(ranked._replace(post=Post(ranked.post.id, ""))) for ranked in self]
        return {name: [row.get(name) for row in rows] for name in _names(rows) if name not in ("id", "text")}


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys([*_FIRST, *(name for row in rows for name in row)]))


def _renamed(names: Any, taken: Mapping[str, Any]) -> dict[str, str]:
    return {name: f"post_{name}" for name in names if name in taken}


def _with_structs(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the columns with (word, weight) pairs as structs, since polars has no lists of mixed types."""
    return {
        name: [words and [{"word": word, "weight": weight} for word, weight in words] for words in values]
        if name in _WORDS
        else values
        for name, values in columns.items()
    }
