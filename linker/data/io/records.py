"""Read articles and posts from files."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol, TypeVar

from linker.common.errors import DataError
from linker.data.files.line_errors import DUPLICATES, BadLines, InputFile, LineError, OnError
from linker.data.files.rows import Row, Table
from linker.data.files.streams import shown_name
from linker.data.html_text import plain_text
from linker.data.identity import ContentIds, content_id_of
from linker.data.io.column_detection import columns_of, open_records
from linker.data.io.columns import ArticleColumns, Columns, PostColumns
from linker.data.io.fields import (
    Values,
    date_of,
    first_of,
    id_of,
    label_of,
    labels_of,
    required_text,
    seems_rounded,
)
from linker.data.io.input_files import files_with_records
from linker.data.io.platform_rows import deleted_by, deleted_in, post_rows, recognized
from linker.data.languages import language_code
from linker.data.spooled_posts import SpooledPosts
from linker.data.types import Article, Post, stated_language


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


Record = TypeVar("Record", bound=_Identified)
#: Makes a record of a row, by its file's columns, of where it was read, and of what numbers exact repeats; raises
#: LineError.
Parse = Callable[[Values, Columns, str, ContentIds | None], Record]
FileRow = tuple[InputFile, Columns, Row]
Posts = TypeVar("Posts", bound=Sequence[Post])
_HASH = 2**64 - 1


def read_articles(
    paths: str | Sequence[str],
    columns: ArticleColumns | None = None,
    on_error: OnError = "strict",
    most: int | None = None,
) -> list[Article]:
    """Read all articles of some files (`-`: standard input), in order.

    Args:
        paths: JSON lines, JSON, CSV, TSV, Parquet or Excel files, plain or compressed; also folders, patterns and
            addresses, see `linker.data.io.input_files.input_files`.
        columns: names of the columns in the files.
        on_error: "strict" refuses files with bad lines, "skip" sets these lines aside.
        most: number of articles after which reading ends; None: all are read.

    Raises:
        DataError: if a file cannot be read, has bad lines (in strict mode; up to 20 are listed), or contains no
            article.
    """
    with BadLines(on_error) as bad_lines:
        found = iter_records(paths, columns or ArticleColumns(), bad_lines, article_from_row)
        articles = list(islice(found, most))
    if not articles:
        raise empty_input_error(paths, "article")
    return articles


def read_posts(
    paths: str | Sequence[str], columns: PostColumns | None = None, on_error: OnError = "strict"
) -> list[Post]:
    """Read all posts of some files (`-`: standard input), in order; they need no article ids.

    Files may also be plain text (.txt), one post per line. Posts without ids get ids made from their content, see
    `linker.data.identity`. Of posts with the same id, the first is kept and the others are counted. For the arguments
    and errors see `read_articles`.
    """
    return _all_posts(list, paths, columns, on_error)


def spool_posts(
    paths: str | Sequence[str], columns: PostColumns | None = None, on_error: OnError = "strict"
) -> SpooledPosts:
    """Read posts as `read_posts` does, into a temporary file: a million posts take little memory."""
    return _all_posts(SpooledPosts, paths, columns, on_error)


def _all_posts(
    keep: Callable[[Iterator[Post]], Posts],
    paths: str | Sequence[str],
    columns: PostColumns | None,
    on_error: OnError,
) -> Posts:
    with BadLines(on_error) as bad_lines:
        posts = keep(iter_posts(paths, columns or PostColumns(), bad_lines))
    if not posts:
        raise empty_input_error(paths, "post")
    return posts


def articles_of_json(text: str, name: str, article_id: str) -> list[Article]:
    """Return the articles of JSON (an object or a list of them) or JSON Lines.

    Args:
        text: the JSON; its objects have `title` and `text`.
        name: of the file, for messages.
        article_id: id of a single article without an id; of several, `article_id:1` and so on.

    Raises:
        DataError: if it is not such JSON, or has no article.
    """
    rows: list[tuple[str, Any]] = []
    try:
        whole = json.loads(text)
        rows = [(name, row) for row in (whole if isinstance(whole, list) else [whole])]
    except (ValueError, RecursionError):
        for number, line in enumerate(text.split("\n"), 1):
            where = f"{name}, line {number}"
            try:
                rows += [(where, json.loads(line))] if line.strip() else []
            except (ValueError, RecursionError) as error:
                raise DataError(f"{where}: broken JSON ({error})") from error
    if not rows:
        raise DataError(f"{name}: no article in this file")
    articles = []
    for number, (where, row) in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise DataError(f"{where}: an article is a JSON object with the fields title and text")
        row = {"id": f"{article_id}:{number}" if len(rows) > 1 else article_id, **row}
        try:
            articles.append(article_from_row(row, ArticleColumns(), name))
        except LineError as error:
            raise DataError(f"{where}: {error}") from error
    return articles


def iter_posts(
    paths: str | Sequence[str],
    columns: PostColumns,
    bad_lines: BadLines,
    known: set[str] | None = None,
    each: Callable[[Post], Post] | None = None,
) -> Iterator[Post]:
    """Yield the posts of some files, each id once.

    Args:
        paths: see `read_articles`.
        columns: names of the columns in the files.
        bad_lines: where bad lines are reported.
        known: ids of the articles; a line with any other article id is bad. None: not checked.
        each: takes the post of every row, also repeated ones, and returns the post to use.
    """

    def parse(values: Values, columns: Columns, source: str, ids: ContentIds | None) -> Post:
        post = post_from_row(values, columns, source, ids)
        post = each(post) if each else post
        unknown = [] if known is None else [i for i in post.article_ids if i not in known]
        if unknown:
            raise LineError("unknown article id", ", ".join(unknown))
        return post

    return iter_records(paths, columns, bad_lines, parse)


def posts_by_file(files: Mapping[str, PostColumns], bad_lines: BadLines) -> Iterator[Post]:
    """Yield the posts of some files, each with columns of its own, as `iter_posts` does."""
    deleted = set[bytes]().union(*(deleted_in([path], columns) for path, columns in files.items()))
    rows = (row for path, columns in files.items() for row in _rows([path], columns, bad_lines, deleted))
    return _records(rows, post_from_row)


def stream_posts(paths: str | Sequence[str], columns: PostColumns, bad_lines: BadLines) -> Iterator[Post]:
    """Yield the posts of some files in constant memory; repeated ids, and repeats without ids, are not detected.

    Args:
        paths: see `read_articles`.
        columns: names of the columns in the files.
        bad_lines: where bad lines are reported.
    """
    files = files_with_records(paths, columns, bad_lines)
    yield from posts_of_files(files, columns, bad_lines, deleted_in(files, columns))


def posts_of_files(
    files: Sequence[str], columns: PostColumns, bad_lines: BadLines, deleted: set[bytes]
) -> Iterator[Post]:
    """Yield the posts of some files as `stream_posts` does.

    Args:
        files: some of the files that `input_files` returns.
        columns: names of the columns in the files.
        bad_lines: where bad lines are reported.
        deleted: what all the files delete, see `deleted_in`.
    """
    return _records(_rows(files, columns, bad_lines, deleted), post_from_row, once=False)


def posts_of_records(shown: str, records: Sequence[Values], columns: PostColumns) -> list[Post] | None:
    """Return the posts of a platform's records, each id once; None if they are recognized as those of none.

    Raises:
        DataError: if a record is neither a post nor known to be none; up to 20 are listed.
    """
    with BadLines() as bad_lines:
        file = bad_lines.file(shown)
        rows = (Row(number, dict(record), "") for number, record in enumerate(records, 1))
        formats, table = recognized(Table("json", None, rows), columns)
        if formats is None:
            return None
        file.lines = len(records)
        rows_of_posts = post_rows(file, table, formats, columns, deleted_by(formats, records))
        file_rows = ((file, flat, row) for flat, row in rows_of_posts)
        return list(_records(file_rows, lambda values, flat, source, ids: post_from_row(values, flat)))


def iter_records(
    paths: str | Sequence[str], columns: Columns, bad_lines: BadLines, parse: Parse[Record]
) -> Iterator[Record]:
    """Yield the records that `parse` makes of the rows, each id once.

    Of posts with the same id, as in two crawls, the first is kept and the others are counted. Any other repeated id,
    and a post with a link that the first one does not have, makes a line bad.

    Args:
        paths: see `read_articles`.
        columns: names of the columns in the files.
        bad_lines: where bad lines are reported.
        parse: see `Parse`.
    """
    files = files_with_records(paths, columns, bad_lines)
    yield from _records(_rows(files, columns, bad_lines, deleted_in(files, columns)), parse)


def _records(rows: Iterable[FileRow], parse: Parse[Record], once: bool = True) -> Iterator[Record]:
    """Yield the records that `parse` makes of rows; with `once`, each id once."""
    # Of the first record with an id its file, line and hash of the text in a number: a million ids take 170 MB.
    first: dict[str, int] = {}
    links: dict[str, tuple[str, ...]] = {}
    names: dict[str, int] = {}
    ids = ContentIds(first) if once else None
    for file, columns, row in rows:
        shown = file.shown
        try:
            record = parse(row.values, columns, f"{file.name}:{row.line}", ids)
            if once:
                place = names.setdefault(shown, len(names)) << 64 | row.line
                new = place << 64 | hash(getattr(record, "text", None)) & _HASH
                if (before := first.setdefault(record.id, new)) is not new:
                    # A link to another article must not be lost.
                    if isinstance(record, Post) and {*record.article_ids} <= {*links.get(record.id, ())}:
                        file.left_out[DUPLICATES] += 1
                        file.other_texts += (new ^ before) & _HASH != 0
                        continue
                    name = [*names][before >> 128]
                    earlier = f"{name}, " * (name != shown) + f"line {before >> 64 & _HASH}"
                    raise LineError("duplicate id", f"{record.id} (first in {earlier})")
                if isinstance(record, Post) and record.article_ids:
                    links[record.id] = record.article_ids
        except LineError as error:
            file.bad(row.line, error, row.raw)
            continue
        file.posts += 1
        if len(record.id) > 16 and record.id.isdecimal():
            file.count_id("long", record.id)
            if seems_rounded(record.id):
                file.count_id("rounded", record.id)
        for name in columns.names("id"):
            if (written := row.values.get(name)) is not None and str(written).strip() != record.id:
                file.count_id("restored", f"{written} is {record.id}")
        yield record


def _rows(
    files: Iterable[str], columns: Columns, bad_lines: BadLines, deleted: set[bytes]
) -> Iterator[FileRow]:
    """Yield the rows of some files, each with its file and columns; of a platform's records, its posts."""
    for path in files:
        file = bad_lines.file(path)
        shown = file.shown
        with open_records(file, columns) as table:
            formats, table = recognized(table, columns)
            file.reading["format"] = table.format if formats is None else formats.title
            if formats is not None:
                assert isinstance(columns, PostColumns)
                for flat, row in post_rows(file, table, formats, columns, deleted):
                    yield file, flat, row
                continue
            detected = columns_of(columns.plain_text(shown) if table.format == "txt" else columns, table)
            names = {ours: detected.columns.names(ours) for ours in columns.ours()}
            file.reading |= {"columns": detected.present, "names": names, "order": detected.order}
            if table.columns is not None:
                detected.check(shown)
            bad_lines.note(shown, [*table.notes, *detected.notes])
            present: dict[str, None] = {}
            for row in detected.rows:
                if table.columns is None and not row.values.keys() <= present.keys():
                    present.update(dict.fromkeys(row.values))
                yield file, detected.columns, row
            if present:
                detected.columns.check(list(present), shown, detected.likely)
            styles = detected.columns.date_styles.items()
            bad_lines.note(
                shown,
                [note for ours, style in styles for note in style.notes(detected.columns.names(ours)[0])],
            )
            kind = "post" if isinstance(columns, PostColumns) else "record"
            file.report([file.account(kind)] if file.left_out or file.reasons or not file.posts else [])


def article_from_row(
    values: Values, columns: Columns, source: str = "", ids: ContentIds | None = None
) -> Article:
    """Make an article of a row; the last two arguments are as those of `post_from_row`, and `ids` is not used.

    Raises:
        LineError: if a value is missing or of the wrong type.
    """
    return Article(
        id=id_of(values, columns),
        **required_text(values, columns),
        url=label_of(values, columns, "url"),
        story=label_of(values, columns, "story"),
        split=label_of(values, columns, "split"),
        published=date_of(values, columns, "published"),
        source=source,
        language=language_code(stated_language(values) or ""),
    )


def post_from_row(values: Values, columns: Columns, source: str = "", ids: ContentIds | None = None) -> Post:
    """Make a post of a row; if the file has no column of ids, its id is made from its content.

    Args:
        values: the row, by column of the file.
        columns: names of the columns in the file.
        source: where the row was read, see `Post`.
        ids: numbers exact repeats; None: they get the same id.

    Raises:
        LineError: if a value is missing or of the wrong type.
    """
    article_id = label_of(values, columns, "article_id")
    article_ids = [*([article_id] if article_id else []), *labels_of(values, columns, "article_ids")]
    taken = columns.all_names()
    extra = {name: value for name, value in values.items() if name not in taken}
    if columns.names("lang") not in ([], ["lang"]):
        language = first_of(values, columns, "lang")
        for name in columns.names("lang"):
            if "." in name:  # a copy of a nested value
                extra.pop(name, None)
        if language is not None:
            extra.setdefault("lang", language)
    text = required_text(values, columns)["text"]
    if not (isinstance(columns, PostColumns) and columns.plain):
        text = plain_text(text)
    if not text:
        raise LineError("empty text", "only HTML tags")
    post = Post(
        id=id_of(values, columns) if columns.names("id") else "",
        text=text,
        article_ids=tuple(dict.fromkeys(article_ids)),
        created_at=date_of(values, columns, "created_at"),
        split=label_of(values, columns, "split"),
        extra=extra,
        source=source,
    )
    return post if post.id else identified(post, ids)


def identified(post: Post, ids: ContentIds | None = None) -> Post:
    """Return a post with an id made from its content; exact repeats are numbered if there are `ids`."""
    made = content_id_of(post)
    return replace(post, id=made if ids is None else ids.numbered(made))


def shown_names(paths: str | Sequence[str]) -> str:
    """Return the names of inputs for messages."""
    return ", ".join(map(shown_name, [paths] if isinstance(paths, str) else paths))


def empty_input_error(paths: str | Sequence[str], kind: str) -> DataError:
    """Make the error for files without a single record of a kind, such as "post"."""
    return DataError(f"{shown_names(paths)}: does not contain a single {kind}")
