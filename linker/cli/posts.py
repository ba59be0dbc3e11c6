"""What a command line says of files of posts."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from linker.errors import DataError, LinkerError

if TYPE_CHECKING:
    from linker.data.columns import PostColumns
    from linker.data.types import Article


def post_columns(given: list[str] | None) -> PostColumns:
    """`text=body` as the columns of the posts; `id=` says that there is none.

    Raises:
        LinkerError: not of that form.
        ConfigError: there is no such column of ours.
    """
    from linker.config import build
    from linker.data.columns import PostColumns

    names: dict[str, list[str]] = {}
    for text in given or []:
        ours, equals, theirs = text.partition("=")
        if not equals or not ours:
            raise LinkerError(f"--column {text}: expected OURS=THEIRS, such as text=body")
        names.setdefault(ours, []).extend([theirs] if theirs else [])
    config = {ours: theirs[0] if len(theirs) == 1 else theirs or None for ours, theirs in names.items()}
    return build(PostColumns, config)


def check_files(articles: list[str], posts: list[str], out: Path | None) -> None:
    """Are the articles and posts there, and may the output be written? Found out before any work.

    Raises:
        LinkerError: no.
    """
    from linker.data.inputs import check_inputs
    from linker.files import check_writable
    from linker.ranking.articles import check_source

    if (articles + posts).count("-") > 1:
        raise LinkerError("-: standard input can be read once only; give files for the others")
    for source in articles:
        check_source(source)
    files = check_inputs(posts)
    if out is not None:
        check_writable(out, articles + files)


def told_articles(sources: list[str]) -> list[Article]:
    """The articles of some addresses and files, each told on standard error: is it the whole of it?

    Raises:
        LinkerError: one cannot be fetched or read.
    """
    from linker.ranking.articles import load_articles

    articles = [one for source in sources for one in load_articles(source)]
    for one in articles:
        title = one.title or one.text[:60]
        print(f"article: {title!r}, {len(one.full_text.split())} words", file=sys.stderr)
    return articles


@contextmanager
def with_option() -> Iterator[None]:
    """End a complaint about missing columns with the command line that would name them."""
    from linker.data.columns import MissingColumnsError

    try:
        yield
    except MissingColumnsError as error:
        raise DataError(f"{error}\nType: {corrected(sys.argv[1:], error.remedy)}") from error


def corrected(arguments: list[str], remedy: dict[str, str | None]) -> str:
    """A command line of linker that names the columns: our name → theirs, `NAME` to be filled in where it is None."""
    kept: list[str] = []
    given = iter(arguments)
    for argument in given:
        if argument == "--column":
            value = next(given, "")
            if value.partition("=")[0] not in remedy:
                kept += [argument, value]
        elif not argument.startswith("--column=") or argument.split("=")[1] not in remedy:
            kept.append(argument)
    for ours, theirs in remedy.items():
        kept += ["--column", f"{ours}={theirs or 'NAME'}"]
    return shlex.join(["linker", *kept])
