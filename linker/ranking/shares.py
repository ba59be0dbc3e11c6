"""Shares of a score: how much text similarity, shared words and dates moved it away from the average post's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from linker.data.types import Article
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.ensemble import EnsembleModel
from linker.models.model import Model
from linker.ranking.contributions import SharesTerms

TEXT, WORDS, DATE = "text_similarity", "shared_words", "date"
_COMPARED = 10_000

Shares = dict[str, int]
"""Part of the score → percent; absolute values add up to 100, negative ones lowered the score."""
ScoresOf = Callable[[Model], np.ndarray]
"""From a part of a model to its scores of single articles: articles × all posts."""


def parts_of(
    model: Model, articles: Sequence[Article], scores: np.ndarray, scores_of: ScoresOf
) -> dict[str, np.ndarray]:
    """Divide the scores of all posts into parts that add up to them, but for a constant.

    Lexical parts and dates are scored again, which is cheap; the rest is text similarity, so nothing is encoded.

    Args:
        model: the model.
        articles: the query.
        scores: its raw scores, the mean over the articles: float, one per post.
        scores_of: scores of the model's parts.

    Returns:
        `text_similarity`, `shared_words` and `date`, those that the model considers: float64, one per post.
    """
    scores = scores.astype(np.float64)
    if isinstance(model, ArticleSoftmaxModel):
        # Where no article has a date, no share is that of dates.
        timed = model.time is not None and any(article.published is not None for article in articles)
        dates = None if model.time is None or not timed else _mean(scores_of(model.time))
        shown = scores if dates is None else scores - dates
        odds = shown if dates is None else model.uncompressed(shown)
        least = model.null_score / model.temperature
        inner = parts_of(model.model, articles, (odds + least) * model.temperature, scores_of)
        # Compression lowers all parts of the text alike.
        ratio = np.divide(shown + least, odds + least, out=np.ones_like(odds), where=odds != shown)
        parts = {name: part / model.temperature * ratio for name, part in inner.items()}
        return parts if dates is None else {**parts, DATE: dates}
    if isinstance(model, EnsembleModel):
        lexical = [isinstance(part, SharesTerms) for part in model.submodels()]
        if not all(lexical):
            if not any(lexical):
                return {TEXT: scores}
            known = [scores_of(part) if words else None for part, words in zip(model.submodels(), lexical)]
            shape = next(part.shape for part in known if part is not None)
            words = _mean(
                model.fuse_independently(
                    [np.zeros(shape, np.float32) if part is None else part for part in known], articles
                )
            )
            return {TEXT: scores - words, WORDS: words}
    return {WORDS if isinstance(model, (SharesTerms, EnsembleModel)) else TEXT: scores}


def compared(posts: int) -> np.ndarray:
    """Return the posts whose mean others are compared with, up to 10,000 that are evenly spaced: int64, indices."""
    return np.arange(0, posts, max(1, -(-posts // _COMPARED)))


def shares(parts: Mapping[str, np.ndarray], chosen: Sequence[int], others: np.ndarray) -> list[Shares]:
    """Return the shares of the parts in the difference between each chosen post and the mean of others.

    Args:
        parts: from `parts_of`.
        chosen: indices of the posts.
        others: indices of the others, from `compared`.
    """
    means = {name: part[others].mean() for name, part in parts.items()}
    found = []
    for at in chosen:
        moved = {name: float(part[at] - means[name]) for name, part in parts.items()}
        if sum(map(abs, moved.values())) < 1e-9:  # all posts are alike, or there is only one
            moved = {name: float(part[at]) for name, part in parts.items()}
        found.append(percent(moved))
    return found


def percent(moved: Mapping[str, float]) -> Shares:
    """Return whole percentages, signed, whose absolute values add up to 100, by the largest remainders."""
    total = sum(map(abs, moved.values()))
    if not total:
        return dict.fromkeys(moved, 0)
    exact = {name: 100 * abs(value) / total for name, value in moved.items()}
    whole = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (whole[name] - exact[name], name))
    for name in by_remainder[: 100 - sum(whole.values())]:
        whole[name] += 1
    return {name: -value if moved[name] < 0 else value for name, value in whole.items()}


def _mean(scores: np.ndarray) -> np.ndarray:
    return np.asarray(scores.mean(axis=0, dtype=np.float64))
