"""The files that inputs name: files, folders, patterns, addresses, standard input; in folders, those with records."""

import os
import re
from collections.abc import Sequence
from glob import glob

from linker.common.errors import DataError, LinkerError
from linker.data.files.line_errors import BadLines, InputFile
from linker.data.files.streams import STANDARD_INPUT, files_below, is_address, kind_of, shown_name
from linker.data.files.tables import ENDINGS, format_of_name
from linker.data.io.column_detection import columns_of, open_records
from linker.data.io.columns import Columns, MissingColumnsError, PostColumns
from linker.data.io.platform_rows import recognized

_MAGIC = re.compile(r"[*?[]")
ENDINGS_SHOWN = f"*{', *'.join(ENDINGS)}"
# Files of `--on-error skip`.
_SET_ASIDE = ".errors.jsonl"
# The posts in a person's archive of X.
_OF_X = re.compile(r"(^|/)data/tweets?(-part\d+)?\.js$")
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


def input_files(paths: Sequence[str]) -> list[str]:
    """Return all files that some inputs name, sorted within each input.

    A folder means all files below it, except hidden ones and bad lines that were set aside; of a person's archive of X,
    its posts. Which of them are tables is found by `files_with_records`. A pattern means the files that it
    matches: `*` and `?` within one name, `**/` any number of folders. If a file of exactly that name exists, `*`, `?`
    and `[` have no special meaning.

    Args:
        paths: files, folders, patterns, addresses (`s3://`, `https://`), or `-` for standard input.

    Raises:
        DataError: if a folder or pattern has no file, or a pipe or device among them, or an address is not found.
    """
    return [file for path in paths for file in _files(path)[0]]


def check_inputs(paths: Sequence[str]) -> list[str]:
    """Return `input_files` after a check that local files exist, for a command to fail before any work.

    Raises:
        DataError: if a file is not found, or standard input is named twice.
    """
    if list(paths).count(STANDARD_INPUT) > 1:
        raise DataError("-: standard input is named more than once; give files for the other inputs")
    files = input_files(paths)
    for path in files:
        if path != STANDARD_INPUT and not is_address(path) and not os.path.exists(path):
            raise DataError(f"{shown_name(path)}: file not found; give a file or folder of posts")
    return files


def files_with_records(paths: str | Sequence[str], columns: Columns, bad_lines: BadLines) -> list[str]:
    """Return the files that some inputs name; of folders, those that hold records of the kind that is read.

    A file that is given more than once, also by a link, is read once. The other files of a folder are named with the
    reason, in one line on standard error.

    Args:
        paths: file or files, see `input_files`.
        columns: names of the columns in the files, of posts or of articles.
        bad_lines: where the line is reported.

    Raises:
        DataError: if a folder has no file with records, or an input is not found.
    """
    files: dict[str, str] = {}
    again = []
    for path in [paths] if isinstance(paths, str) else paths:
        for file in _with_records(path, columns, bad_lines):
            real = file if is_address(file) or file == STANDARD_INPUT else os.path.realpath(file)
            if files.setdefault(real, file) is not file:
                again.append(shown_name(file))
    if again:
        bad_lines.info(f"{_some(again)}: given more than once, read once")
    return list(files.values())


def _with_records(path: str, columns: Columns, bad_lines: BadLines) -> list[str]:
    """The files of an input; of a folder, those with records, else those with a text on every line."""
    all_files, is_folder = _files(path)
    if not is_folder or _posts_of_x(all_files):
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


def _posts_of_x(names: Sequence[str]) -> list[str]:
    """Return the names of the files with the posts of a person's archive of X, among those of its files."""
    return [name for name in names if _OF_X.search(name)]


def _kind_of(path: str) -> str | None:
    """Return `file` or `folder`; None if it is not found."""
    if is_address(path):
        return kind_of(path)
    if path != STANDARD_INPUT and os.path.isdir(path):
        return "folder"
    return "file" if path == STANDARD_INPUT or os.path.lexists(path) else None


def _files(path: str) -> tuple[list[str], bool]:
    """Return the files that an input names, see `input_files`, and whether the input is a folder."""
    kind, is_remote = _kind_of(path), is_address(path)
    if kind == "file":
        return [path], False
    if kind == "folder":
        folder = f"{path.rstrip('/')}/"
        below = files_below(folder) if is_remote else _files_below(folder)
        names = _posts_of_x(below) or [
            name for name in below if not _is_hidden(name) and not name.endswith(_SET_ASIDE)
        ]
        if not names:
            raise DataError(f"{shown_name(path)}: the folder has no data file; expected {ENDINGS_SHOWN}")
        return _readable([folder + name for name in sorted(names)]), True
    if magic := _MAGIC.search(path):
        cut = path.rfind("/", 0, magic.start()) + 1
        if is_remote:
            names = files_below(path[:cut], path[cut:])
            names = [path[:cut] + name for name in names if _is_hidden(path[cut:]) or not _is_hidden(name)]
        else:
            names = [name for name in glob(path, recursive=True) if not os.path.isdir(name)]
        if not names:
            raise DataError(f"{shown_name(path)}: the pattern matches no file")
        return _readable(sorted(names)), False
    if is_remote:
        raise DataError(f"{shown_name(path)}: file or folder not found")
    return [path], False


def _readable(files: list[str]) -> list[str]:
    """Return files that were found, not named, after a check that reading them ends.

    Raises:
        DataError: if one is a pipe or a device.
    """
    for path in files:
        if not is_address(path) and os.path.exists(path) and not os.path.isfile(path):
            raise DataError(f"{path}: a pipe or a device among the files; remove it, or name the files")
    return files


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or "/." in name


def _files_below(folder: str) -> list[str]:
    """Names relative to the folder."""

    def refuse(error: OSError) -> None:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror})") from error

    return [
        os.path.relpath(os.path.join(above, name), folder).replace(os.sep, "/")
        for above, _, names in os.walk(folder, onerror=refuse)
        for name in names
    ]
