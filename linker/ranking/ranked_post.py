"""Ranked posts, and rankings that are read in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from linker.data.files.line_errors import counted
from linker.data.labels.post_labels import name_of_query
from linker.data.types import Article, Post

if TYPE_CHECKING:
    from linker.calibration.thresholds import Thresholds
    from linker.models.features.content_words import Span
    from linker.models.features.table import PostTable
    from linker.models.score_scale import ScoreScale
    from linker.ranking.explanation import Explainer, Explanation

#: Posts of a long ranking that are in memory at a time.
AT_ONCE = 4_096


class RankedPost(NamedTuple):
    """A post and its place in a ranking.

    Attributes:
        rank: 1 for the best post.
        score: 0 to 100, higher is better; `Ranking.meaning` explains it. For several articles, the mean of the model's
            raw scores on this scale.
        post: the post.
        explanation: the words that contributed to the score, if explanations were asked for.
        copies: number of near-duplicates that this post represents; 0 where they are listed one by one.
        probability: probability that the post is relevant, 0 to 1; None without labels or a calibration.
        article_id: id of the article, in a ranking for each of several articles; None elsewhere.
    """

    rank: int
    score: float
    post: Post
    explanation: Explanation | None = None
    copies: int = 0
    probability: float | None = None
    article_id: str | None = None

    @property
    def others(self) -> str:
        """The number of near-duplicates as text, such as `1 near-duplicate`."""
        return counted(self.copies, "near-duplicate")

    @property
    def segments(self) -> list[tuple[str, bool]]:
        """The post's text in segments: (text, whether its words contributed to the score)."""
        return segments(self.post.text, self.explanation.post_spans if self.explanation else ())


def segments(text: str, spans: Sequence[Span]) -> list[tuple[str, bool]]:
    """Split a text into (segment, whether it is in a span), in order; touching and overlapping spans are merged."""
    parts: list[tuple[str, bool]] = []
    end = 0
    for start, stop in sorted(spans):
        start, inside = max(start, end), bool(parts) and start <= end
        if stop <= start:
            continue
        if inside and parts[-1][1]:
            parts[-1] = (parts[-1][0] + text[start:stop], True)
        else:
            parts += [(text[end:start], False)] * (start > end) + [(text[start:stop], True)]
        end = stop
    return [*parts, (text[end:], False)] if end < len(text) or not parts else parts


class UserScores:
    """Map from raw scores to what users see: scores from 0 to 100 and probabilities.

    This is the only place where scores of rankings are mapped.

    Args:
        scale: the map of scores.
        thresholds: the source of probabilities; None: there are none.
    """

    def __init__(self, scale: ScoreScale, thresholds: Thresholds | None = None) -> None:
        self._scale, self._thresholds = scale, thresholds

    def __call__(self, raw: np.ndarray) -> Iterator[tuple[float, float | None]]:
        """Return the score and the probability of each post.

        Args:
            raw: float32, one per post.
        """
        scores = self._scale(raw).tolist()
        if self._thresholds is None or not scores:
            return zip(scores, [None] * len(scores))
        return zip(scores, map(float, self._thresholds.of_raw(raw)))


class RankedPosts(Sequence[RankedPost]):
    """Ranked posts, best first, that are read from their table when they are accessed, 4,096 at a time.

    Args:
        rows, scores, copies: the posts' rows, best first, their raw scores, and the near-duplicates of each.
        user_scores: the map from raw scores to those of ranked posts.
        first: rank of the first post.
        explain: explains the scores of posts; None: no explanations.
        article_id: that of the ranked posts.
    """

    def __init__(
        self,
        table: PostTable,
        rows: np.ndarray,
        scores: np.ndarray,
        copies: np.ndarray,
        user_scores: UserScores,
        first: int = 1,
        explain: Explainer | None = None,
        article_id: str | None = None,
    ) -> None:
        self._table, self._rows, self._scores, self._copies = table, rows, scores, copies
        self._user_scores, self._first, self._explain, self._article = user_scores, first, explain, article_id

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> RankedPost: ...

    @overload
    def __getitem__(self, index: slice) -> list[RankedPost]: ...

    def __getitem__(self, index: int | slice) -> RankedPost | list[RankedPost]:
        """Return a ranked post, or a list of them for a slice."""
        if not isinstance(index, slice):
            place = range(len(self))[index]
            return self[place : place + 1][0]
        rows, copies = self._rows[index], self._copies[index].tolist()
        posts = self._table.posts(rows)
        explanations = self._explain(rows, posts) if self._explain else None
        ranks = range(self._first, self._first + len(self))[index]
        return [
            RankedPost(rank, score, post, explanation, more, probability, self._article)
            for rank, (score, probability), post, explanation, more in zip(
                ranks, self._user_scores(self._scores[index]), posts, explanations or repeat(None), copies
            )
        ]

    def __iter__(self) -> Iterator[RankedPost]:
        for start in range(0, len(self), AT_ONCE):
            yield from self[start : start + AT_ONCE]


class QueryResult(Sequence[RankedPost]):
    """Ranked posts, best first, and what ranked them: all that formats need; see `linker.ranking.results.Ranking`."""

    articles: Sequence[Article]
    model: str
    thresholds: Thresholds | None
    scale: ScoreScale

    @property
    def has_probabilities(self) -> bool:
        """Return whether the posts have probabilities: all of them, or none."""
        return any(ranked.probability is not None for ranked in self[:1])

    @property
    def meaning(self) -> str:
        """Return a sentence that explains the scores, and the probabilities if there are any."""
        if self.thresholds is None:
            return self.scale.sentence
        return f"{self.scale.sentence}; probability: estimated share of relevant posts among those with the score"

    @property
    def query(self) -> str:
        """Return the query id for TREC files: the article's id; for several, the first `+` the number of others."""
        return name_of_query(self.articles) if self.articles else "query"
