"""The articles of a command line: their option, loading them, and a line about each."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linker.cli import status
from linker.common.errors import DataError, Faults, StubError

if TYPE_CHECKING:
    from linker.data.types import Article


# As `linker.articles.loading` has it, whose import takes longer than the process to start.
_PAGE = re.compile(r"^https?://|\.(x?html?|pdf)$", re.IGNORECASE)
_LINES = 10
_PUBLISHED = "--published"
_LONGEST_TITLE = 120


@dataclass
class ArticleSources:
    """The articles of a command line."""

    article: Annotated[
        list[str], typer.Option(metavar="SOURCE", help="Article: address, file, folder, quoted text or -.")
    ]
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            metavar="",
            help="Accept a page with too little text (paywall, error page).",
            hidden=True,  # the message that refuses a page names it
        ),
    ] = False
    published: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="When the article was published, if it does not say so."),
    ] = None

    def begin(self) -> None:
        """Show the first status and start the process that reads pages, if any, before slow imports."""
        count = len(self.article)
        verb = "fetching" if "://" in self.article[0] else "reading"
        status.say(f"{verb} the article ..." if count == 1 else f"reading {count} articles ...")
        if any(_PAGE.search(source) for source in self.article):
            from linker.articles import extraction_process

            extraction_process.start()

    def load(self, faults: Faults | None = None) -> list[Article]:
        """Load the articles and print a line about each to standard error: title, words, date, source.

        Args:
            faults: faults that were collected before; reported together with those of the articles.

        Raises:
            LinkerError: if there are faults.
        """
        from linker.articles.loading import load_articles, read_folder, source_kind
        from linker.articles.publication import dated, publication_date

        faults = faults or Faults()
        lines, read, moment = [], [], None
        with faults:
            moment = None if self.published is None else publication_date(self.published, _PUBLISHED)
        for source in dict.fromkeys(self.article):
            with faults:
                try:
                    if (kind := source_kind(source)) == "folder":
                        articles, problems = read_folder(Path(source), self.force)
                        skipped = f", {len(problems)} could not be read" if problems else ""
                        plural = "s"[: len(articles) != 1]
                        lines.append(f"{source}: {len(articles):,} article{plural} in this folder{skipped}")
                        lines += [f"skipped: {problem}" for problem in problems]
                    else:
                        articles = load_articles(source, self.force)
                except StubError as error:
                    raise DataError(f"{error}; or add --force to use it as it is") from error
                if moment is not None:
                    articles, notes = dated(articles, moment, _PUBLISHED)
                    lines += notes
                lines += [_line(article, kind, source) for article in articles[:_LINES]]
                if len(articles) > _LINES:
                    lines.append(f"and {len(articles) - _LINES:,} more articles from {source}")
                read += articles
        faults.raise_if_any()
        for line in lines:
            print(line, file=sys.stderr)
        return _with_distinct_ids(read)


def _line(article: Article, kind: str, source: str) -> str:
    """Describe an article in one line without control characters."""
    from linker.articles.page import word_count

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


def _with_distinct_ids(articles: list[Article]) -> list[Article]:
    """Return the articles with distinct ids: the second one of an id becomes `id-2`."""
    seen: dict[str, int] = {}
    out = []
    for article in articles:
        seen[article.id] = count = seen.get(article.id, 0) + 1
        out.append(article if count == 1 else replace(article, id=f"{article.id}-{count}"))
    return out
