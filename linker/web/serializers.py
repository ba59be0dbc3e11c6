"""JSON views of suggestions, posts, articles and progress."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from linker.annotation.formats.label_format import LabeledPost
from linker.annotation.session.assignment import Suggestion
from linker.annotation.session.status import Status
from linker.data.types import Article, Post
from linker.ranking.results import Ranking
from linker.ranking.words import Span

_CURVE_POINTS = 240

Part = tuple[str, int]


class AsciiJsonResponse(Response):
    """JSON in ASCII: lone surrogates, which some posts contain, cannot be encoded in UTF-8."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")


def highlight_segments(text: str, marks: Sequence[Span]) -> list[Part]:
    """Split a text into (segment, marked), since browsers count characters differently from Python."""
    found: list[Part] = []
    end = 0
    for start, stop in sorted(marks):
        if start < end:
            continue
        if start > end:
            found.append((text[end:start], 0))
        found.append((text[start:stop], 1))
        end = stop
    if end < len(text) or not found:
        found.append((text[end:], 0))
    return found


def post_view(post: Post, marks: Sequence[Span] = ()) -> dict[str, Any]:
    """Return the view of a post."""
    return {
        "id": post.id,
        "parts": highlight_segments(post.text, marks),
        "created": post.created_at.isoformat() if post.created_at else None,
        "lang": post.language,
    }


def suggestion_view(suggestion: Suggestion) -> dict[str, Any]:
    """Return the view of a suggestion."""
    return {
        **post_view(suggestion.post, suggestion.marks),
        "copies": suggestion.copies,
        "score": suggestion.score,
        "position": suggestion.position,
        "random": suggestion.at_random,
        "note": suggestion.note,
        "words": suggestion.article_words,
    }


def labeled_view(post: LabeledPost, names: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    """Return the view of a post with its labels, as (annotator, value, name)."""
    return {**post_view(post.post), "score": post.score, "labels": names, "note": post.note or ""}


def article_view(article: Article) -> dict[str, Any]:
    """Return the view of a seed article."""
    return {
        "title": article.title,
        "text": article.text,
        "url": article.url,
        "published": article.published.isoformat() if article.published else None,
    }


def ranking_view(ranking: Ranking, article: Article, total: int) -> dict[str, Any]:
    """Return the view of a ranking of `total` posts for an article."""
    explained = ranking[0].explanation if ranking else None
    return {
        "article": article_view(article),
        "words": explained.article_words if explained else [],
        "model": ranking.model,
        "total": total,
        "meaning": ranking.meaning,
        "posts": [
            {
                **post_view(one.post, one.explanation.post_spans if one.explanation else ()),
                "rank": one.rank,
                "score": one.score,
                "shares": one.explanation.decided_by if one.explanation else "",
            }
            for one in ranking
        ],
    }


def status_view(status: Status) -> dict[str, Any]:
    """Return the view of a session's progress; a long recall curve is reduced to the points that a plot can show."""
    curve = status.curve
    step = max(1, -(-len(curve) // _CURVE_POINTS))
    points = [(n, curve[n - 1]) for n in range(step, len(curve) + 1, step)]
    if curve and (not points or points[-1][0] != len(curve)):
        points.append((len(curve), curve[-1]))
    view = {**asdict(status), "curve": points}
    view["estimate"]["sentence"] = status.estimate.sentence
    return view
