"""Find the tables of posts or articles in folders, by their content, and name the other files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import islice

from linker.common.errors import DataError, LinkerError
from linker.data.files.line_errors import BadLines, InputFile
from linker.data.files.paths import ENDINGS_SHOWN, hidden_below, input_files, is_folder, posts_of_x
from linker.data.files.streams import STANDARD_INPUT, is_address, open_bytes, shown_name
from linker.data.files.tables import format_of_name, other_kind
from linker.data.io.column_detection import columns_of, open_records
from linker.data.io.columns import ArticleColumns, Columns, MissingColumnsError, PostColumns
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
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
#: Columns at the beginning of linker's rankings.
_RANKING = ["rank", "score", "id", "text"]
#: Why a file with a text on every line may be left out.
PLAIN_TEXT = "plain text"


def files_with_records(paths: Sequence[str], columns: Columns, bad_lines: BadLines) -> list[str]:
    """Return the files that some inputs name; of folders, those that hold records of the kind that is read.

    A file that is given more than once, also by a link, is read once. The other files of a folder are named with the
    reason, in one line on standard error.

    Args:
        paths: see `linker.data.files.paths.input_files`.
        columns: names of the columns in the files, of posts or of articles.
        bad_lines: where the line is reported.

    Raises:
        DataError: if a folder has no file with records, or an input is not found.
    """
    files: dict[str, str] = {}
    again = []
    for file in (file for path in paths for file in _files(path, columns, bad_lines)):
        real = file if is_address(file) or file == STANDARD_INPUT else os.path.realpath(file)
        if files.setdefault(real, file) is not file:
            again.append(shown_name(file))
    if again:
        bad_lines.info(f"{_some(again)}: given more than once, read once")
    return list(files.values())


def _files(path: str, columns: Columns, bad_lines: BadLines) -> list[str]:
    all_files = input_files([path])
    if not is_folder(path) or posts_of_x(all_files):
        return all_files
    reasons = {file: _by_name(file, columns) or why_left_out(file, columns) for file in all_files}
    files = [file for file in all_files if reasons[file] is None]
    # In a folder with other files a text file is more likely a note.
    texts = [file for file in all_files if reasons[file] == PLAIN_TEXT]
    if files:
        reasons |= dict.fromkeys(texts, "plain text beside tables")
    files = files or texts
    start = path.rstrip("/") + "/"
    left_out = [file for file in all_files if file not in files]
    listed = [f"{shown_name(file).removeprefix(start)} ({reasons[file]})" for file in left_out]
    if hidden := hidden_below(path):
        listed.append(f"{hidden:,} hidden file{'s' * (hidden > 1)}")
    if not files:
        held = f"; it has {_some(listed)}" if listed else ""
        raise DataError(f"{shown_name(path)}: the folder has no data file{held}; expected {ENDINGS_SHOWN}")
    if listed:
        read = f"{len(files):,} of {len(all_files):,} files read"
        bad_lines.info(f"{shown_name(path)}: {read}; left out: {_some(listed)}")
    return files


def _by_name(path: str, columns: Columns) -> str | None:
    if _BESIDE.search(path):
        return "by its name no data"
    return "by its name articles" if isinstance(columns, PostColumns) and _ARTICLES.search(path) else None


def _some(listed: list[str]) -> str:
    more = f" and {len(listed) - _SHOWN:,} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def why_left_out(path: str, columns: Columns) -> str | None:
    """Return why a file holds no records of the kind that columns are of, in a few words; None if it does."""
    try:
        with open_bytes(path, as_table=True) as stream:
            head = stream.read(4096)
        if not head.strip():
            return "empty"
        return other_kind(head) or _no_records(path, columns, is_text=not _NOT_TEXT.search(head))
    except MissingColumnsError as error:
        return f"no column {', '.join(error.remedy)}" if error.remedy else "no table of posts"
    except LinkerError as error:
        if format_of_name(path):
            return str(error).removeprefix(f"{shown_name(path)}: ")[:80]
        return f"not a table of {'articles' if isinstance(columns, ArticleColumns) else 'posts'}"


def _no_records(path: str, columns: Columns, is_text: bool) -> str | None:
    with open_records(InputFile(path), columns) as table:
        if table.format == "txt":
            return PLAIN_TEXT if isinstance(columns, PostColumns) and is_text else "no table"
        formats, table = recognized(table, columns)
        if formats is not None:
            return None
        detected = columns_of(columns, table)
        rows = list(islice(detected.rows, 1))
        if isinstance(columns, PostColumns) and detected.present[: len(_RANKING)] == _RANKING:
            return "a ranking by linker"
        detected.columns.check(detected.present, "", detected.likely)
        return None if rows else "no rows" if table.columns else "no table of posts"
