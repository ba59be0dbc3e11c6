"""Articles and posts from the rows of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from linker.common.errors import DataError
from linker.data.html_text import plain_text
from linker.data.io.column_detection import columns_of, left_out_notes, sniffed_names
from linker.data.io.columns import ArticleColumns, Columns, PostColumns
from linker.data.io.fields import Values, date_of, first_of, id_of, label_of, labels_of, required_text
from linker.data.io.line_errors import BadLines, InputFile, LineError, OnError
from linker.data.io.paths import input_files
from linker.data.io.rows import Row
from linker.data.io.streams import shown_name
from linker.data.io.tables import open_table
from linker.data.types import Article, Post


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


Record = TypeVar("Record", bound=_Identified)


def read_articles(
    paths: str | Sequence[str],
    columns: ArticleColumns | None = None,
    on_error: OnError = "strict",
    errors_dir: str = ".",
) -> list[Article]:
    """All articles of some files (`-`: standard input), in order.

    Args:
        paths: JSON lines, CSV, TSV or Parquet, plain or packed; also folders, patterns and addresses, see
            `linker.data.io.paths.input_files`.
        columns: what the columns are called there.
        on_error: "strict" refuses files with bad lines, "skip" sets these aside and goes on.
        errors_dir: where "skip" writes `<file>.errors.jsonl`.

    Raises:
        DataError: bad lines in strict mode (up to 20 are shown, all counted), an unreadable file, no article.
    """
    with BadLines(on_error, errors_dir) as bad_lines:
        articles = list(iter_articles(paths, columns or ArticleColumns(), bad_lines))
    if not articles:
        raise empty_input_error(paths, "article")
    return articles


def read_posts(
    paths: str | Sequence[str],
    columns: PostColumns | None = None,
    on_error: OnError = "strict",
    errors_dir: str = ".",
) -> list[Post]:
    """All posts of some files (`-`: standard input), in order; they need no article ids.

    As `read_articles`, and a file may also be plain text (.txt), one post a line, whose ids are the line
    numbers (with several files: `<file>:<line>`).
    """
    with BadLines(on_error, errors_dir) as bad_lines:
        posts = list(iter_posts(paths, columns or PostColumns(), bad_lines))
    if not posts:
        raise empty_input_error(paths, "post")
    return posts


def iter_articles(
    paths: str | Sequence[str], columns: ArticleColumns, bad_lines: BadLines
) -> Iterator[Article]:
    """The good articles of some files; the bad lines are reported when the iterator moves past them."""
    return iter_records(
        paths, columns, bad_lines, lambda row, columns, number: article_from_row(row.values, columns)
    )


def iter_posts(
    paths: str | Sequence[str], columns: PostColumns, bad_lines: BadLines, known: set[str] | None = None
) -> Iterator[Post]:
    """The good posts of some files; a link to an article that is not `known`, if given, makes a line bad."""

    def take(row: Row, columns: Columns, number: str) -> Post:
        post = post_from_row(row.values, columns, number)
        unknown = [] if known is None else [i for i in post.article_ids if i not in known]
        if unknown:
            raise LineError("unknown article id", ", ".join(unknown))
        return post

    return iter_records(paths, columns, bad_lines, take)


def stream_posts(paths: str | Sequence[str], columns: PostColumns, bad_lines: BadLines) -> Iterator[Post]:
    """The good posts of some files in memory that does not grow with them, so an id may come more than once."""
    files, several = _files_of(paths)
    for path in files:
        shown = shown_name(path)
        for file, known_columns, row in iter_rows(path, columns, bad_lines):
            try:
                post = post_from_row(
                    row.values, known_columns, f"{shown}:{row.line}" if several else str(row.line)
                )
            except LineError as error:
                file.bad(row.line, error, row.raw)
            else:
                yield post


def article_from_row(values: Values, columns: Columns) -> Article:
    """The article in a row.

    Raises:
        LineError: what is wrong with it.
    """
    return Article(
        id=id_of(values, columns),
        **required_text(values, columns),
        url=label_of(values, columns, "url"),
        published=date_of(values, columns, "published"),
        story=label_of(values, columns, "story"),
        split=label_of(values, columns, "split"),
    )


def post_from_row(values: Values, columns: Columns, number: str) -> Post:
    """The post in a row; `number` is its id where the file has none.

    Raises:
        LineError: what is wrong with it.
    """
    article_id = label_of(values, columns, "article_id")
    article_ids = [article_id] if article_id else []
    article_ids += labels_of(values, columns, "article_ids")
    taken = columns.all_names()
    extra = {name: value for name, value in values.items() if name not in taken}
    if columns.names("lang") not in ([], ["lang"]):
        language = first_of(values, columns, "lang")
        for name in columns.names("lang"):
            if "." in name:  # put there by its path
                extra.pop(name, None)
        if language is not None:
            extra.setdefault("lang", language)
    text = plain_text(required_text(values, columns)["text"])
    if not text:
        raise LineError("empty text", "HTML without a word")
    return Post(
        id=id_of(values, columns) if columns.names("id") else number,
        text=text,
        article_ids=tuple(dict.fromkeys(article_ids)),
        created_at=date_of(values, columns, "created_at"),
        split=label_of(values, columns, "split"),
        extra=extra,
    )


def iter_rows(path: str, columns: Columns, bad_lines: BadLines) -> Iterator[tuple[InputFile, Columns, Row]]:
    """The rows of one file and the columns to read them by, after a check that these are there.

    Raises:
        DataError: a column that must be there is in no line; or the file cannot be read.
    """
    file = bad_lines.file(path)
    shown = shown_name(path)
    with open_table(file, sniffed_names(columns)) as table:
        if table.format == "txt":
            columns = columns.plain_text(shown)
        found = columns_of(columns, table, path)
        if table.columns is not None:
            found.columns.check(found.present, shown, found.likely)
        bad_lines.note(shown, [*table.notes, *found.notes])
        seen: dict[str, None] = {}
        for row in found.rows:
            if table.columns is None and not row.values.keys() <= seen.keys():
                seen.update(dict.fromkeys(row.values))
            yield file, found.columns, row
        if seen:
            found.columns.check(list(seen), shown, found.likely)
        bad_lines.note(shown, left_out_notes(found.columns))


def as_list(paths: str | Sequence[str]) -> list[str]:
    """One path or several as a list."""
    return [paths] if isinstance(paths, str) else list(paths)


def _files_of(paths: str | Sequence[str]) -> tuple[list[str], bool]:
    """The files that some inputs stand for, and whether ids that are numbers of lines must tell from which."""
    given = as_list(paths)
    files = input_files(given)
    # What stands for other files may come to stand for more of them, and no post's id may change then.
    return files, len(files) > 1 or files != given


def empty_input_error(paths: str | Sequence[str], what: str) -> DataError:
    """The error to raise where files hold nothing usable."""
    return DataError(f"{', '.join(map(shown_name, as_list(paths)))}: not one {what} could be read")


def iter_records(
    paths: str | Sequence[str],
    columns: Columns,
    bad_lines: BadLines,
    take: Callable[[Row, Columns, str], Record],
) -> Iterator[Record]:
    """The records that `take` makes of the rows, each id once."""
    first: dict[str, tuple[str, int]] = {}
    files, several = _files_of(paths)
    for path in files:
        shown = shown_name(path)
        for file, known_columns, row in iter_rows(path, columns, bad_lines):
            try:
                record = take(row, known_columns, f"{shown}:{row.line}" if several else str(row.line))
                if record.id in first:
                    where, line = first[record.id]
                    there = f"line {line}" if where == shown else f"{where}, line {line}"
                    raise LineError("duplicate id", f"{record.id} (first in {there})")
            except LineError as error:
                file.bad(row.line, error, row.raw)
            else:
                first[record.id] = (shown, row.line)
                yield record
