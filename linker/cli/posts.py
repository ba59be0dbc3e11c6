"""Files of posts as a command line names them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from linker.errors import DataError, Faults, LinkerError

if TYPE_CHECKING:
    from linker.data.columns import PostColumns


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


def check_files(
    articles: list[str], posts: list[str], out: Path | None, faults: Faults | None = None
) -> None:
    """Find out before any work whether posts are there and the output can be written; articles are not looked at.

    Args:
        articles: what the output must not overwrite, and what may take standard input.
        posts: files, folders, patterns, addresses, `-`.
        out: the file to write.
        faults: collects what is wrong, to be reported with other faults; None: report it here.

    Raises:
        LinkerError: something is wrong.
    """
    from linker.data.inputs import check_inputs
    from linker.files import check_writable

    found, files = faults or Faults(), []
    if (articles + posts).count("-") > 1:
        with found:
            raise LinkerError("-: standard input can be read once only; give files for the others")
    for one in dict.fromkeys(posts):
        with found:
            files += check_inputs([one])
    if out is not None:
        with found:
            check_writable(out, articles + files)
    if faults is None:
        found.raise_if_any()


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
