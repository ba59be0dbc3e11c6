"""A page that shows which words of an article a model's attention looks at."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from linker.common.errors import LinkerError, ModelError
from linker.common.files import atomic_write, check_writable
from linker.data.types import Article
from linker.models.model import Model
from linker.ranking.explanation import WeighsTokens
from linker.ranking.words import align

_HEAVIEST = 20
# What could break the page, or turn the direction of what comes after it.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


@dataclass(frozen=True)
class Word:
    """A token that the model read, its weight, and where it stands in the text; -1 where it does not as it is."""

    word: str
    weight: float
    start: int
    end: int


@dataclass(frozen=True)
class Words:
    """What the page shows.

    Attributes:
        model: its name.
        title: of the article, may be empty.
        text: what the model reads, title first.
        words: the tokens that it read, in order.
        limit: how many tokens it reads at most.
    """

    model: str
    title: str
    text: str
    words: list[Word]
    limit: int

    @property
    def attended(self) -> list[Word]:
        """Those with a weight above 0."""
        return [word for word in self.words if word.weight > 0]


def check_page(path: Path, inputs: Sequence[str | Path] = ()) -> None:
    """Find out before any work whether the page can be written.

    Raises:
        LinkerError: the name does not end in .html, or the file cannot be written.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise LinkerError(f"{path}: this is a page; give a name that ends in .html")
    check_writable(path, inputs)


def words(model: Model, article: Article, name: str = "the model") -> Words:
    """The weight that the article's vector gives each of its words: the mean over the attention heads.

    Raises:
        ModelError: the model cannot tell.
    """
    weighted = None
    if isinstance(model, WeighsTokens):
        weighted = model.token_weights([article.full_text], model.max_article_tokens)
    if weighted is None:
        raise ModelError(
            f"{name}: cannot tell how much it looks at each word; models with the encoder star_transformer can, "
            "such as `linker train configs/ast.jsonnet` makes"
        )
    assert isinstance(model, WeighsTokens)
    places = align(article.full_text, [token for token, _ in weighted[0]])
    found = [
        Word(token, float(f"{weight:.6g}"), *(place or (-1, -1)))
        for (token, weight), place in zip(weighted[0], places)
    ]
    return Words(name, article.title, article.full_text, found, model.max_article_tokens)


def write_page(numbers: Words, path: Path) -> None:
    """Write the page whole or not at all.

    Raises:
        LinkerError: the file cannot be written.
    """
    content = page(numbers)
    with atomic_write(path) as file:
        file.write(content)


def page(numbers: Words) -> str:
    """A page that needs nothing but itself: no script, no font, no address."""
    title = _escaped(numbers.title or "Article without a title")
    attended, read = len(numbers.attended), len(numbers.words)
    share = 100 * attended / max(read, 1)
    cut = (
        f" It reads {numbers.limit:,} words at most; what comes after them is in italics."
        if _end_of_reading(numbers) < len(numbers.text)
        else ""
    )
    return _PAGE.format(
        style=_STYLE,
        title=title,
        summary=(
            f"{attended:,} of {read:,} words ({share:.0f} %) have a weight above 0 in the vector "
            f"that <b>{_escaped(numbers.model)}</b> makes of this article. They are marked, the stronger the heavier; "
            f"all others count for nothing in that last look.{cut}"
        ),
        body="\n".join(_paragraphs(numbers)),
        rows="\n".join(_rows(numbers)),
    )


def _paragraphs(numbers: Words) -> Iterator[str]:
    heaviest = max((word.weight for word in numbers.words), default=0.0)
    marks, position = [], 0
    for word in sorted((one for one in numbers.words if one.start >= 0), key=lambda one: one.start):
        if word.start >= position:  # parts of a hashtag stand within the whole one
            marks.append(word)
            position = word.end
    end = _end_of_reading(numbers)
    for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*", numbers.text):
        inside = [word for word in marks if match.start() <= word.start < match.end()]
        is_title = bool(numbers.title) and match.start() < len(numbers.title)
        tag = "h2" if is_title else "p"
        yield f"<{tag}>{_marked(numbers.text, match.start(), match.end(), inside, heaviest, end)}</{tag}>"


def _marked(text: str, start: int, stop: int, marks: Sequence[Word], heaviest: float, end: int) -> str:
    parts, position = [], start
    for word in marks:
        parts.append(_escaped(text[position : word.start]))
        shown = _escaped(text[word.start : word.end])
        if word.weight > 0:
            strength = round(10 + 90 * word.weight / heaviest)
            shown = f'<mark style="--w:{strength}%" title="{word.weight:.4f}">{shown}</mark>'
        parts.append(shown)
        position = word.end
    if position < stop:
        unread = max(position, min(stop, end))
        parts.append(_escaped(text[position:unread]))
        if unread < stop:
            parts.append(f"<i>{_escaped(text[unread:stop])}</i>")
    return "".join(parts)


def _end_of_reading(numbers: Words) -> int:
    """Where in the text the model stopped to read: its end, if nothing was cut off."""
    if len(numbers.words) < numbers.limit:
        return len(numbers.text)
    end = max((word.end for word in numbers.words), default=0)
    return end if re.search(r"\w", numbers.text[end:]) else len(numbers.text)


def _rows(numbers: Words) -> Iterator[str]:
    totals: defaultdict[str, list[float]] = defaultdict(list)
    for word in numbers.attended:
        totals[word.word].append(word.weight)
    ranked = sorted(totals.items(), key=lambda item: (-sum(item[1]), item[0]))[:_HEAVIEST]
    for token, weights in ranked:
        yield (
            f"<tr><th scope=row dir=auto>{_escaped(token)}</th><td>{sum(weights):.4f}</td>"
            f"<td>{len(weights):,}</td></tr>"
        )


def _escaped(text: str) -> str:
    return html.escape(_CONTROL.sub(" ", text))


_STYLE = """
:root { color-scheme: light dark; --ground: #fff; --text: #1a1a1a; --quiet: #5e5e5e; --mark: #ffc04d; --line: #b45309; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #161616; --text: #f2f2f2; --quiet: #a8a8a8; --mark: #8a5200; --line: #f5b041; }
}
body { background: var(--ground); color: var(--text); font: 1.06rem/1.65 Georgia, serif; margin: 0 auto;
  max-width: 42rem; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1, .about, table, caption { font-family: system-ui, sans-serif; line-height: 1.45; }
h1 { font-size: 1.1rem; } h2 { font-size: 1.5rem; line-height: 1.35; }
.about { font-size: .95rem; border-left: .25rem solid var(--line); padding-left: .8rem; }
article { color: var(--quiet); }
mark { color: var(--text); background: color-mix(in srgb, var(--mark) var(--w), transparent); padding: 0 .08em;
  border-bottom: 2px solid color-mix(in srgb, var(--line) var(--w), transparent); border-radius: 2px; }
table { border-collapse: collapse; font-size: .95rem; }
caption { text-align: left; font-weight: 600; padding: .6rem 0; }
th, td { text-align: right; padding: .15rem .9rem .15rem 0; } th[scope=row], th:first-child { text-align: left; }
th[scope=row] { font-weight: 400; }
""".strip()

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Attention: {title}</title>
<style>
{style}
</style>
</head>
<body>
<header>
<h1>Which words of the article count</h1>
<p class="about">{summary}</p>
</header>
<main>
<article dir="auto">
{body}
</article>
<table>
<caption>The heaviest words</caption>
<thead><tr><th scope="col">word</th><th scope="col">weight in all</th><th scope="col">places</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</main>
</body>
</html>
"""
