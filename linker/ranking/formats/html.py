"""Write a ranking as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from html import escape
from importlib.resources import files
from typing import IO
from urllib.parse import urlsplit

from linker.data.types import Article
from linker.ranking.post_links import link_of
from linker.ranking.ranked_post import RankedPost

TOP = 1_000
"""Default number of posts."""
_BEGINNING = 700
"""Number of characters of an article to show."""
_LONGEST_FIELD = 60
"""Number of characters of a field of the platform, such as likes, to show at most."""
_ARTICLE_WORDS, _TELLING = 20, 20
"""Number of article words to show, and number of posts to choose them by."""
_HEADS = {"rank": "rank", "score": "score", "probability": "probability", "date": "date (UTC)"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# A post must not change the text direction of what follows.
_DIRECTIONS = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LINK = 'rel="noopener noreferrer nofollow" target="_blank"'


def write_page(
    file: IO[str],
    ranking: Sequence[RankedPost],
    articles: Sequence[Article],
    tag: str,
    meaning: str = "",
) -> None:
    """Write the articles, and the posts as a table that can be sorted and searched, with marked words and links.

    Args:
        file: the page.
        ranking: the posts; gone through twice.
        articles: what they were ranked for.
        tag: the model's name.
        meaning: what scores mean, a sentence.
    """
    style, script = _part("page.css"), _part("page.js")
    title = escape(_clean(articles[0].title or articles[0].text[:80]) if articles else "Posts")
    count = len(ranking)
    probable = any(ranked.probability is not None for ranked in ranking[:1])
    dated = any(ranked.post.created_at is not None for ranked in ranking)
    file.write(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="'
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
    )
    for article in articles:
        file.write(_article(article))
    posts = "1 post" if count == 1 else f"{count:,} posts"
    if count == TOP:
        posts = f"the first {posts}"
    file.write(f'<p class="facts">{posts}, ranked by {escape(tag)} (linker)')
    words = _heaviest(ranking)
    file.write(f"<br>words of the article that count most: {escape(words)}</p>\n" if words else "</p>\n")
    file.write(_tools(dated))
    heads = ["rank", "score", *(["probability"] if probable else []), *(["date"] if dated else [])]
    cells = "".join(
        f'<th scope="col" data-key="{name}"><button>{_HEADS[name]}</button></th>' for name in heads
    )
    file.write(f'<table>\n<thead><tr>{cells}<th scope="col">post</th></tr></thead>\n<tbody>\n')
    for ranked in ranking:
        file.write(_row(ranked, probable, dated))
    file.write("</tbody>\n</table>\n")
    if meaning:
        file.write(f'<p class="facts">{escape(meaning)}</p>\n')
    file.write(f"<script>{script}</script>\n</body>\n</html>\n")


def _part(name: str) -> str:
    return files("linker.ranking.formats").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which the content security policy allows an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _article(article: Article) -> str:
    title = escape(_clean(article.title))
    beginning = _clean(article.text[:_BEGINNING])
    if len(article.text) > _BEGINNING:
        beginning = beginning.rpartition(" ")[0] + " …"
    source = _source(article)
    return (
        '<header class="article" dir="auto">\n'
        + (f"<h1>{title}</h1>\n" if title else "")
        + (f'<div class="source">{source}</div>\n' if source else "")
        + (f"<p>{escape(beginning)}</p>\n" if beginning.strip() else "")
        + "</header>\n"
    )


def _source(article: Article) -> str:
    """Return the address and date of the article."""
    found = []
    if article.url:
        url = urlsplit(article.url) if "://" in article.url else None
        if url is not None and url.scheme in ("http", "https"):
            found.append(f'<a href="{escape(article.url)}" {_LINK}>{escape(url.netloc)}</a>')
        else:
            found.append(escape(_clean(article.url)))
    if article.published is not None:
        found.append(_time(article.published))
    return " · ".join(found)


def _tools(dated: bool) -> str:
    orders = {"rank up": "by rank", "score up": "lowest scores first"}
    if dated:
        orders |= {"date up": "oldest first", "date down": "newest first"}
    options = "".join(f'<option value="{value}">{label}</option>' for value, label in orders.items())
    hidden = "".join(
        f'<option value="{value}" hidden></option>'
        for value in ("rank down", "score down", "probability up", "probability down", "date up", "date down")
        if value not in orders
    )
    return (
        '<div class="tools" hidden>'
        '<input id="find" type="search" placeholder="Show only posts with these words" aria-label="Filter posts">'
        f'<select id="order" aria-label="Order of the posts">{options}{hidden}</select>'
        '<output id="count"></output></div>\n'
    )


def _row(ranked: RankedPost, probable: bool, dated: bool) -> str:
    post = ranked.post
    # An SVG, since the page's policy forbids inline styles.
    bar = (
        '<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{min(max(ranked.score, 0), 100):.1f}" height="6"/></svg>'
    )
    at = post.created_at
    data = f'data-rank="{ranked.rank}" data-score="{ranked.score!r}"'
    cells = [
        f'<td class="number">{ranked.rank}</td>',
        f'<td class="number score">{ranked.score:.1f}{bar}</td>',
    ]
    if probable:
        value = "" if ranked.probability is None else f"{ranked.probability:.2f}"
        data += f' data-probability="{value}"'
        cells.append(f'<td class="number">{value}</td>')
    if dated:
        data += f' data-date="{at.timestamp() if at else ""}"'
        cells.append(f'<td class="when">{_time(at) if at else ""}</td>')
    spans = ranked.explanation.post_spans if ranked.explanation else []
    marked = "".join(_marked(post.text, spans))
    meta = []
    if (link := link_of(post)) is not None:
        meta.append(f'<a href="{escape(link)}" {_LINK}>open post</a>')
    meta.append(escape(_clean(post.id)))
    meta += [
        escape(_clean(f"{name[2:]}: {value}"))
        for name, value in post.extra.items()
        if name.startswith("x_") and len(str(value)) <= _LONGEST_FIELD
    ]
    if ranked.copies:
        meta.append(f"{ranked.copies:,} like it")
    if ranked.explanation and ranked.explanation.shares:
        meta.append(ranked.explanation.decided_by)
    below = f'<div class="meta">{" · ".join(meta)}</div>'
    cells.append(f'<td class="post"><div class="text" dir="auto">{marked}</div>{below}</td>')
    return f"<tr {data}>{''.join(cells)}</tr>\n"


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    end = 0
    for start, stop in sorted(spans):
        if stop <= end:
            continue
        start = max(start, end)
        yield escape(_clean(text[end:start]))
        yield f"<mark>{escape(_clean(text[start:stop]))}</mark>"
        end = stop
    yield escape(_clean(text[end:]))


def _heaviest(ranking: Sequence[RankedPost]) -> str:
    """Return the article words with the highest weight for the first posts, separated by commas."""
    totals: dict[str, float] = {}
    for ranked in ranking[:_TELLING]:
        for word, weight in ranked.explanation.article_words if ranked.explanation else []:
            totals[word] = totals.get(word, 0.0) + weight
    heaviest = sorted(totals.items(), key=lambda item: (-item[1], item[0]))[:_ARTICLE_WORDS]
    return ", ".join(_clean(word) for word, _ in heaviest)


def _time(moment: datetime) -> str:
    utc = moment.astimezone(timezone.utc) if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    shown = f"{utc:%Y-%m-%d}" if (utc.hour, utc.minute, utc.second) == (0, 0, 0) else f"{utc:%Y-%m-%d %H:%M}"
    return f'<time datetime="{utc.isoformat()}">{shown}</time>'


def _clean(text: str) -> str:
    """Return untrusted text without control characters and characters that change its direction."""
    return _DIRECTIONS.sub("", _CONTROL.sub(" ", text))
