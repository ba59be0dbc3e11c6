"""Articles as command lines name them: their option, reading them, and a line on each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linker.common.errors import DataError, Faults, StubError

if TYPE_CHECKING:
    from linker.data.types import Article

Articles = Annotated[
    list[str],
    typer.Option(
        "--article",
        metavar="SOURCE",
        help="Article: address, file (HTML, PDF, text, JSON), folder, quoted text, or - for standard input; several "
        "(stories/*.html) are one query.",
        show_default=False,
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        metavar="",
        help="Accept a page with too little text (paywall, error page).",
    ),
]

_LINES = 10
_LONGEST_TITLE = 120


def read_articles(sources: list[str], force: bool = False, faults: Faults | None = None) -> list[Article]:
    """Read the articles and print a line on each to standard error: title, words, date, source.

    Args:
        sources: addresses, paths, texts and `-`.
        force: also take pages with too little text to be the article.
        faults: what was found wrong before; reported together with what is wrong here.

    Raises:
        LinkerError: something is wrong.
    """
    from linker.articles.loading import load_articles, read_folder
    from linker.articles.sources import kind_of

    faults = faults or Faults()
    lines, read = [], []
    for source in dict.fromkeys(sources):
        with faults, _naming_force():
            if (kind := kind_of(source)) == "folder":
                found, problems = read_folder(Path(source), force)
                skipped = f", {len(problems)} could not be read" if problems else ""
                lines += [f"{source}: {len(found):,} article{'s'[: len(found) != 1]} in this folder{skipped}"]
                lines += [f"skipped: {problem}" for problem in problems]
            else:
                found = load_articles(source, force)
            lines += [_line(one, kind, source) for one in found[:_LINES]]
            if len(found) > _LINES:
                lines.append(f"and {len(found) - _LINES:,} more articles from {source}")
            read += found
    faults.raise_if_any()
    for line in lines:
        print(line, file=sys.stderr)
    return _with_own_ids(read)


def _line(article: Article, kind: str, source: str) -> str:
    """Title or beginning, words, date and source; nothing in it moves the cursor of a terminal."""
    from linker.articles.incomplete_pages import word_count

    title = " ".join((article.title or article.text).split())
    title = f"{title[:_LONGEST_TITLE]}..." if len(title) > _LONGEST_TITLE else title
    date = f"{article.published:%Y-%m-%d}" if article.published else "no date"
    if article.id.startswith(("http://", "https://")):
        source = article.id
    elif kind == "folder":
        path = Path(source, article.id)
        source = str(path) if path.is_file() else f"{source}: {article.id}"  # one of several in a file
    elif kind != "file":
        source = "text on the command line" if kind == "text" else kind
    line = f'article: "{title}", {word_count(article.full_text):,} words, {date}, {source}'
    return "".join(character if character.isprintable() else "?" for character in line)


def _with_own_ids(articles: list[Article]) -> list[Article]:
    """The articles, a second one of the same id renamed to `id-2`."""
    seen: dict[str, int] = {}
    out = []
    for one in articles:
        seen[one.id] = count = seen.get(one.id, 0) + 1
        out.append(one if count == 1 else replace(one, id=f"{one.id}-{count}"))
    return out


@contextmanager
def _naming_force() -> Iterator[None]:
    """Name the option that insists on an article in the message on one that holds too little."""
    try:
        yield
    except StubError as error:
        raise DataError(f"{error}; or add --force to use it as it is") from error
