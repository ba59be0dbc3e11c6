"""JSON views of posts, articles, rankings and progress, and the responses that carry them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from linker.annotation.session.status import Status
from linker.data.types import Article, Post
from linker.models.features.content_words import Span
from linker.ranking.ranked_post import segments
from linker.ranking.results import Ranking

_CURVE_POINTS = 240


class AsciiJsonResponse(Response):
    """JSON in ASCII: lone surrogates, which some posts contain, cannot be encoded in UTF-8."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")


def download(name: str, write: Callable[[Path], Path], media_type: str) -> FileResponse:
    """Return a response with a temporary file.

    Args:
        name: name of the file.
        write: writes to the path that it gets, or beside it, and returns the path of the file.
        media_type: the content type.
    """
    folder = TemporaryDirectory(prefix="linker-export-")
    try:
        file = write(Path(folder.name) / name)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(
        file, media_type=media_type, filename=file.name, background=BackgroundTask(folder.cleanup)
    )


def post_view(post: Post, marks: Sequence[Span] = ()) -> dict[str, Any]:
    """Return the view of a post."""
    return {
        "id": post.id,
        "parts": segments(post.text, marks),
        "created": post.created_at.isoformat() if post.created_at else None,
        "lang": post.language,
    }


def article_view(article: Article) -> dict[str, Any]:
    """Return the view of an article."""
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
                **post_view(ranked.post, ranked.explanation.post_spans if ranked.explanation else ()),
                "rank": ranked.rank,
                "score": ranked.score,
                "decided_by": ranked.explanation.decided_by if ranked.explanation else "",
            }
            for ranked in ranking
        ],
    }


def status_view(status: Status) -> dict[str, Any]:
    """Return the view of a session's progress, with advice as `decision`; a plot shows all points of the curve."""
    curve = status.curve
    step = max(1, -(-len(curve) // _CURVE_POINTS))
    points = [(n, curve[n - 1]) for n in range(step, len(curve) + 1, step)]
    if curve and (not points or points[-1][0] != len(curve)):
        points.append((len(curve), curve[-1]))
    view = {**asdict(status), "decision": asdict(status.advice), "curve": points}
    view["estimate"]["sentence"] = status.estimate.sentence
    return view
