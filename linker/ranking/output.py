"""Write rankings in any format, or print them as a table."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import chain, count
from pathlib import Path
from typing import IO, Literal, get_args

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from linker.common.errors import LinkerError
from linker.common.files import atomic_write
from linker.evaluation.trec import RunRow, run_lines
from linker.ranking.display import heading
from linker.ranking.explanation import printable
from linker.ranking.formats.html import TOP as PAGE_TOP
from linker.ranking.formats.html import write_page
from linker.ranking.formats.text import write_csv, write_json, write_json_lines, write_tsv
from linker.ranking.ranked_post import QueryResult

Format = Literal["table", "csv", "tsv", "xlsx", "jsonl", "json", "parquet", "html", "trec"]
#: Formats by the ending of the file name.
ENDINGS: dict[str, Format] = {
    ".csv": "csv", ".tsv": "tsv", ".xlsx": "xlsx", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".parquet": "parquet", ".html": "html", ".htm": "html", ".trec": "trec", ".run": "trec", ".txt": "table",
}  # fmt: skip
#: Default number of posts in formats for reading.
USUAL_TOP: dict[Format, int] = {"table": 20, "html": PAGE_TOP}
_BINARY = ("xlsx", "parquet")

_MARKED = "bold underline"
# Without it Excel does not recognize UTF-8.
_BOM = "\ufeff"
_WIDTH = 110
"""Width of tables that are not printed to a terminal."""
_LONGEST = 5_000
"""Characters of a post in a table; wrapping takes time quadratic in them."""


def format_of(path: Path | None, asked: Format | None) -> Format:
    """Return the format: as given, else by the file's ending, else a table.

    Raises:
        LinkerError: if the ending is unknown, or a workbook or Parquet file would go to a terminal.
    """
    if asked is None and path is not None and (path.is_file() or not path.exists()):
        found = ENDINGS.get(path.suffix.lower())
        if found is None:
            raise LinkerError(
                f"--out {path}: the ending chooses the format and must be one of {', '.join(ENDINGS)}; "
                f"rename it, or add --format ({', '.join(get_args(Format))})"
            )
        return found
    if asked in _BINARY and path is None and sys.stdout.isatty():
        raise LinkerError(f"--format {asked}: is not for terminals; give --out FILE.{asked}")
    return asked or "table"


def write_rankings(
    rankings: Iterable[QueryResult], path: Path | None, format_: Format, headed: bool = False
) -> None:
    """Write rankings, such as those for each of several articles, to one file, atomically, or standard output (None).

    Each is read once. `headed`: with a line about the article above each table.

    Raises:
        LinkerError: the file cannot be written, or the format cannot hold the rankings.
    """
    posts = chain.from_iterable(rankings)
    if format_ in _BINARY:
        from linker.ranking.formats.binary import write_parquet, write_spreadsheet

        with atomic_write(path, "wb") if path else nullcontext(sys.stdout.buffer) as file:
            (write_spreadsheet if format_ == "xlsx" else write_parquet)(file, posts)
        return
    with atomic_write(path) if path else nullcontext(sys.stdout) as file:
        if format_ == "html":
            write_page(file, list(rankings))
        elif format_ in ("table", "trec"):
            for ranking in rankings:
                if format_ == "trec":
                    query = "_".join(ranking.query.split())
                    file.writelines(run_lines(query, _rows_of_run(ranking), ranking.model))
                    continue
                if headed:
                    file.write(f"\n{heading(ranking, ranking.articles, ranking.model)}\n")
                print_table(file, ranking)
        elif format_ in ("csv", "tsv"):
            if path is not None and format_ == "csv":
                file.write(_BOM)
            (write_csv if format_ == "csv" else write_tsv)(file, posts)
        else:
            (write_json if format_ == "json" else write_json_lines)(file, posts)


def write_each(rankings: Iterable[QueryResult], folder: Path, format_: Format) -> None:
    """Write rankings to one file each, named by the article's id without characters that names of files cannot have."""
    ending, taken = next(ending for ending, name in ENDINGS.items() if name == format_), set[str]()
    for ranking in rankings:
        safe = re.sub(r"[^\w.-]+", "-", ranking.query).strip("-.")[:80] or "article"
        names = chain([safe], (f"{safe}-{number}" for number in count(2)))
        name = next(name for name in names if name.casefold() not in taken)
        taken.add(name.casefold())
        write_rankings([ranking], folder / f"{name}{ending}", format_)


def _rows_of_run(ranking: QueryResult) -> Iterator[RunRow]:
    """Yield the posts for a TREC run.

    Raises:
        LinkerError: an id with white space.
    """
    id_before = ""
    for ranked in ranking:
        if re.search(r"\s", ranked.post.id):
            raise LinkerError(
                f"post id {ranked.post.id!r} holds white space, which separates the columns of a TREC run; "
                "rename it, or choose --format jsonl"
            )
        # Tools order posts with equal scores by descending ids.
        yield ranked.rank, ranked.post.id, ranked.post.id < id_before, ranked.score
        id_before = ranked.post.id


def print_table(file: IO[str], ranking: QueryResult) -> None:
    """Print a table of rank, score and post, and below it what scores mean; long posts are wrapped, very long ones cut.

    Words that contributed to a score are bold and underlined on terminals and *starred* elsewhere.
    """
    console = Console(file=file, highlight=False)
    if not console.is_terminal:
        console = Console(file=file, highlight=False, width=_WIDTH)
    if ranking and ranking[0].explanation is not None:
        line = f"words of the article by TF-IDF: {ranking[0].explanation.article_line}"
        console.print(Text(line), soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("score", justify="right")
    if ranking.has_probabilities:
        table.add_column("probability", justify="right")
    table.add_column("post", overflow="fold")
    for ranked in ranking:
        text = marked_text(ranked.segments, console.is_terminal)
        if len(text) > _LONGEST:
            text, more = text[:_LONGEST], len(text) - _LONGEST
            text.append(f" … ({more:,} more characters)", "dim")
        if ranked.copies:
            text.append(f" (+{ranked.others})", "dim")
        if ranked.explanation and ranked.explanation.points:
            text.append(f"\n{ranked.explanation.decided_by}", "dim")
        numbers = [str(ranked.rank), f"{ranked.score:.1f}"]
        numbers += [f"{ranked.probability:.2f}"] if ranking.has_probabilities else []
        table.add_row(*numbers, text)
    with console.capture() as capture:
        console.print(table)
    # Without the spaces that pad the cells.
    file.writelines(f"{line.rstrip()}\n" for line in capture.get().splitlines())
    if ranking and ranking.meaning:
        file.write(f"{ranking.meaning}\n")


def marked_text(text: Sequence[tuple[str, bool]], terminal: bool) -> Text:
    """Return an untrusted text, in segments that are marked or not, as one line: styled, or *starred* elsewhere."""
    shown = Text()
    for segment, marked in text:
        line = printable(segment)
        shown.append(f"*{line}*" if marked and not terminal else line, _MARKED if marked else None)
    return shown
