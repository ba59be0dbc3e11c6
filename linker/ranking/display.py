"""A ranking as text for Python."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from linker.data.types import Article
from linker.ranking.explanation import printable
from linker.ranking.ranked_post import RankedPost

_TEXT_ROWS, _TEXT_WIDTH = 5, 100
_TITLE = 60


def as_text(ranking: Sequence[RankedPost], articles: Sequence[Article], model: str, meaning: str) -> str:
    """Return a line about the ranking, lines of at most 100 columns with its first five posts, and what scores mean."""
    lines = [heading(ranking, articles, model)]
    shown = ranking[:_TEXT_ROWS]
    width = max((cell_len(_cut(ranked.post.id, 20)) for ranked in shown), default=0)
    if shown:
        lines.append(f"rank  score  {set_cell_size('id', max(width, 2))}  post")
    for ranked in shown:
        name = set_cell_size(_cut(ranked.post.id, 20), max(width, 2))
        start = f"{ranked.rank:>4}  {ranked.score:5.1f}  {name}  "
        end = f" (+{ranked.others})" if ranked.copies else ""
        lines.append(start + _cut(ranked.post.text, _TEXT_WIDTH - cell_len(start) - cell_len(end)) + end)
    if more := len(ranking) - len(shown):
        lines.append(f"… {more:,} more")
    if shown:
        lines.append(meaning)
    return "\n".join(lines)


def heading(ranking: Sequence[RankedPost], articles: Sequence[Article], model: str) -> str:
    """Return a line with the number of posts, the articles and the model."""
    count = f"{len(ranking):,} post{'' if len(ranking) == 1 else 's'}"
    names = [_cut(article.title or article.text or article.id, _TITLE) for article in articles]
    what = f' for "{names[0]}"' if names else ""
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"Ranking of {count}{what}{more} by {printable(model)}"


def _cut(text: str, width: int) -> str:
    """Return the text as one line of at most `width` columns."""
    line = " ".join(printable(text).split())
    return line if cell_len(line) <= width else set_cell_size(line, width - 1).rstrip() + "…"
