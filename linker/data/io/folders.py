"""Find the tables of posts or articles in folders, by their content, and name the other files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from linker.common.errors import DataError, LinkerError
from linker.data.files.line_errors import BadLines, InputFile
from linker.data.files.paths import ENDINGS_SHOWN, files_of, posts_of_x
from linker.data.files.streams import STANDARD_INPUT, is_address, shown_name
from linker.data.files.tables import format_of_name
from linker.data.io.column_detection import columns_of, open_records
from linker.data.io.columns import Columns, MissingColumnsError, PostColumns
from linker.data.io.platform_rows import recognized

_SHOWN = 50
#: Names of files that describe posts, or are written beside them.
_BESIDE = re.compile(
    r"(^|[/_.-])(readme|licen[cs]e|changelog|citation|codebook|data[_ -]?dictionary)([_.-][^/]*)?$"
    r"|\.(md|rst|ipynb|py|r)$"
    r"|(^|/)_success$",
    re.IGNORECASE,
)
_ARTICLES = re.compile(r"(^|[/_.-])(articles?|artikel)([_.-][^/]*)?$", re.IGNORECASE)
#: Why a file with a text on every line may be left out.
PLAIN_TEXT = "plain text"


def files_with_records(paths: str | Sequence[str], columns: Columns, bad_lines: BadLines) -> list[str]:
    """Return the files that some inputs name; of folders, those that hold records of the kind that is read.

    A file that is given more than once, also by a link, is read once. The other files of a folder are named with the
    reason, in one line on standard error.

    Args:
        paths: file or files, see `linker.data.files.paths.input_files`.
        columns: names of the columns in the files, of posts or of articles.
        bad_lines: where the line is reported.

    Raises:
        DataError: if a folder has no file with records, or an input is not found.
    """
    files: dict[str, str] = {}
    again = []
    for path in [paths] if isinstance(paths, str) else paths:
        for file in _files(path, columns, bad_lines):
            real = file if is_address(file) or file == STANDARD_INPUT else os.path.realpath(file)
            if files.setdefault(real, file) is not file:
                again.append(shown_name(file))
    if again:
        bad_lines.info(f"{_some(again)}: given more than once, read once")
    return list(files.values())


def _files(path: str, columns: Columns, bad_lines: BadLines) -> list[str]:
    """The files of an input; of a folder, those with records, else those with a text on every line."""
    all_files, is_folder = files_of(path)
    if not is_folder or posts_of_x(all_files):
        return all_files
    reasons = {file: why_left_out(file, columns) for file in all_files}
    # In a folder with other files a text file is more likely a note.
    wanted = None if None in reasons.values() else PLAIN_TEXT
    files = [file for file, reason in reasons.items() if reason == wanted]
    start = path.rstrip("/") + "/"
    left_out = [
        f"{shown_name(file).removeprefix(start)} ({reason})"
        for file, reason in reasons.items()
        if reason != wanted
    ]
    if not files:
        raise DataError(
            f"{shown_name(path)}: the folder has no data file; it has {_some(left_out)}; expected {ENDINGS_SHOWN}"
        )
    if left_out:
        read = f"{len(files):,} of {len(all_files):,} files read"
        bad_lines.info(f"{shown_name(path)}: {read}; left out: {_some(left_out)}")
    return files


def _some(listed: list[str]) -> str:
    more = f" and {len(listed) - _SHOWN:,} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def why_left_out(path: str, columns: Columns) -> str | None:
    """Return why a file holds no records of the kind that columns are of, in a few words; None if it does."""
    of_posts = isinstance(columns, PostColumns)
    if _BESIDE.search(path):
        return "by its name no data"
    if of_posts and _ARTICLES.search(path):
        return "by its name articles"
    try:
        with open_records(InputFile(path), columns) as table:
            if table.format == "txt":
                return PLAIN_TEXT if of_posts else "no table"
            formats, table = recognized(table, columns)
            if formats is not None:
                return None
            detected = columns_of(columns, table)
            if detected.present[:3] == ["rank", "score", "id"]:
                return "a ranking by linker"
            detected.columns.check(detected.present, "", detected.likely)
            return "no rows" if next(detected.rows, None) is None else None
    except MissingColumnsError as error:
        return f"no column {', '.join(error.remedy)}"
    except LinkerError as error:
        if format_of_name(path):
            return str(error).removeprefix(f"{shown_name(path)}: ")[:80]
        return f"not a table of {'posts' if of_posts else 'articles'}"
