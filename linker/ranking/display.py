"""Text and HTML representations of a ranking for Python and notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from rich.cells import cell_len, set_cell_size

from linker.data.types import Article
from linker.ranking.output import printable
from linker.ranking.ranked_post import RankedPost

_TEXT_ROWS, _TEXT_WIDTH = 5, 100
_HTML_ROWS = 20
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
        end = f" (+{ranked.copies:,} like it)" if ranked.copies else ""
        lines.append(start + _cut(ranked.post.text, _TEXT_WIDTH - cell_len(start) - cell_len(end)) + end)
    if more := len(ranking) - len(shown):
        lines.append(f"… {more:,} more")
    if shown:
        lines.append(meaning)
    return "\n".join(lines)


def as_html(ranking: Sequence[RankedPost], articles: Sequence[Article], model: str, meaning: str) -> str:
    """Return a table of the first 20 posts for notebooks, with explained words in <mark>.

    Untrusted text is escaped.
    """
    shown = ranking[:_HTML_ROWS]
    probable = any(ranked.probability is not None for ranked in shown)
    names = ["rank", "score", *(["probability"] if probable else []), "id", "post"]
    head = "".join(f'<th style="text-align: left">{name}</th>' for name in names)
    rows = "".join(f"<tr>{''.join(_cells(ranked, probable))}</tr>" for ranked in shown)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if shown else ""
    more = len(ranking) - len(shown)
    note = f"<p>The first {len(shown)} of {len(ranking):,} posts.</p>" if more else ""
    note += f"<p>{escape(meaning)}</p>" if shown else ""
    return f"<div><p>{escape(heading(ranking, articles, model))}</p>{table}{note}</div>"


def heading(ranking: Sequence[RankedPost], articles: Sequence[Article], model: str) -> str:
    """Return a line with the number of posts, the articles and the model."""
    count = f"{len(ranking):,} post{'' if len(ranking) == 1 else 's'}"
    names = [_cut(article.title or article.text or article.id, _TITLE) for article in articles]
    what = f' for "{names[0]}"' if names else ""
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"Ranking of {count}{what}{more} by {printable(model)}"


def _cells(ranked: RankedPost, probable: bool) -> Iterator[str]:
    numbers = [str(ranked.rank), f"{ranked.score:.1f}"]
    if probable:
        numbers.append("" if ranked.probability is None else f"{ranked.probability:.2f}")
    for number in numbers:
        yield f'<td style="text-align: right">{number}</td>'
    yield f'<td style="text-align: left">{escape(printable(ranked.post.id))}</td>'
    spans = ranked.explanation.post_spans if ranked.explanation else []
    copies = f" <em>(+{ranked.copies:,} like it)</em>" if ranked.copies else ""
    if ranked.explanation and ranked.explanation.decided_by:
        copies += f"<br><em>{escape(ranked.explanation.decided_by)}</em>"
    text = marked_html(ranked.post.text, spans)
    yield f'<td dir="auto" style="text-align: start; white-space: normal">{text}{copies}</td>'


def marked_html(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return untrusted text as HTML, on one line, with marked spans."""
    parts, end = [], 0
    for start, stop in sorted(spans):
        # Spans may touch or overlap.
        start = max(start, end)
        if stop > start:
            parts += [
                escape(printable(text[end:start])),
                f"<mark>{escape(printable(text[start:stop]))}</mark>",
            ]
            end = stop
    return "".join([*parts, escape(printable(text[end:]))])


def _cut(text: str, width: int) -> str:
    """Return the text as one line of at most `width` columns."""
    line = " ".join(printable(text).split())
    return line if cell_len(line) <= width else set_cell_size(line, width - 1).rstrip() + "…"
