"""A ranking as CSV, JSON lines, a TREC run, or a table to read."""

from __future__ import annotations

import csv
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any, Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from linker.errors import LinkerError
from linker.files import atomic_write
from linker.ranking.explanation import Explanation
from linker.ranking.ranked import RankedPost

Format = Literal["table", "csv", "jsonl", "trec"]

# Posts come from strangers: none of their escape sequences, line breaks, changes of direction gets through.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MARKED = "bold underline"
_WIDTH = 110
"""Columns of a table that does not go to a terminal."""


def write_ranking(
    path: Path | None, ranking: Sequence[RankedPost], format_: Format, *, query: str, tag: str
) -> None:
    """Write a ranking to a file, whole or not at all, or to standard output.

    Args:
        path: the file; None: standard output.
        format_: `table`, `csv`, `jsonl` or `trec`.
        query: the article's id in a TREC run.
        tag: the run's name there.

    Raises:
        LinkerError: the file cannot be written, or ids that a TREC run cannot hold.
    """
    with atomic_write(path) if path else nullcontext(sys.stdout) as file:
        if format_ == "table":
            print_table(file, ranking)
        elif format_ == "trec":
            _write_trec(file, ranking, query, tag)
        elif format_ == "csv":
            _write_csv(file, ranking)
        else:
            file.writelines(map(_json_line, ranking))


def record(ranked: RankedPost) -> dict[str, Any]:
    """A ranked post as JSON values: rank, score, id, text, what else is known of it, and its extra fields.

    An extra field whose name is taken gets `post_` before it. `copies` is the number of near-duplicates that
    the post stands for. `probability` is there where it is known, `article_words` and `post_words` if explanations were
    asked for, as [word, weight] pairs.
    """
    post, explanation = ranked.post, ranked.explanation
    values: dict[str, Any] = {"rank": ranked.rank, "score": ranked.score, "id": post.id, "text": post.text}
    values["copies"] = ranked.copies
    if ranked.probability is not None:
        values["probability"] = float(f"{ranked.probability:.6g}")
    if post.created_at is not None:
        values["created_at"] = post.created_at.isoformat()
    if post.article_ids:
        values["article_ids"] = list(post.article_ids)
    if post.split is not None:
        values["split"] = post.split
    if explanation is not None:
        values["article_words"] = [_pair(pair) for pair in explanation.article_words]
        values["post_words"] = [_pair(pair) for pair in explanation.post_words]
    for name, value in post.extra.items():
        values[f"post_{name}" if name in values else name] = value
    return values


def _pair(pair: tuple[str, float]) -> list[Any]:
    return [pair[0], float(f"{pair[1]:.6g}")]


def _json_line(ranked: RankedPost) -> str:
    return json.dumps(record(ranked), ensure_ascii=False, default=str) + "\n"


def _write_csv(file: IO[str], ranking: Iterable[RankedPost]) -> None:
    """Only the last post tells the last column; so the posts go into a temporary file before."""
    columns = dict.fromkeys(["rank", "score", "id", "text", "copies"])
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogatepass") as lines:
        for ranked in ranking:
            values = record(ranked)
            columns.update(dict.fromkeys(values))
            lines.write(json.dumps(values, default=str) + "\n")
        lines.seek(0)
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        for line in lines:
            writer.writerow({name: _cell(value) for name, value in json.loads(line).items()})


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (list, dict)) else value


def _write_trec(file: IO[str], ranking: Iterable[RankedPost], query: str, tag: str) -> None:
    query = "_".join(query.split())
    for ranked in ranking:
        if re.search(r"\s", ranked.post.id):
            raise LinkerError(
                f"post id {ranked.post.id!r} holds white space, which separates the columns of a TREC run; "
                "rename it, or choose --format jsonl"
            )
        file.write(f"{query} Q0 {ranked.post.id} {ranked.rank} {ranked.score:.9g} {tag}\n")


def print_table(file: IO[str], ranking: Sequence[RankedPost]) -> None:
    """Print rank, score and post, long posts wrapped.

    Words that carried a score are bold and underlined on terminals and *starred* elsewhere.
    """
    console = Console(file=file, highlight=False)
    if not console.is_terminal:
        console = Console(file=file, highlight=False, width=_WIDTH)
    if ranking and ranking[0].explanation is not None:
        console.print(_article_words(ranking[0].explanation), soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("score", justify="right")
    probable = bool(ranking) and ranking[0].probability is not None
    if probable:
        table.add_column("probability", justify="right")
    table.add_column("post", overflow="fold")
    for ranked in ranking:
        spans = ranked.explanation.post_spans if ranked.explanation else []
        post = marked_text(ranked.post.text, spans, console.is_terminal)
        if ranked.copies:
            post.append(f" (+{ranked.copies:,} like it)", "dim")
        numbers = [str(ranked.rank), f"{ranked.score:.4f}"]
        table.add_row(*numbers, *([f"{ranked.probability:.2f}"] if probable else []), post)
    with console.capture() as capture:
        console.print(table)
    # Without the spaces that fill the cells.
    file.writelines(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _article_words(explanation: Explanation) -> Text:
    """The words of the article that posts are searched for; the same for all posts."""
    text = Text("words of the article that count most: ")
    words = (f"{word} {weight:.3f}" for word, weight in explanation.article_words)
    return text.append(printable(", ".join(words)) or "none")


def marked_text(text: str, spans: Sequence[tuple[int, int]], terminal: bool) -> Text:
    """Somebody's text as one line, its marked spans stylised, or starred where there are no styles."""
    shown, end = Text(), 0
    for start, stop in _merged(spans):
        shown.append(printable(text[end:start]))
        word = printable(text[start:stop])
        shown.append(word if terminal else f"*{word}*", _MARKED)
        end = stop
    return shown.append(printable(text[end:]))


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, touching ones made one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def printable(text: str) -> str:
    """A text of a stranger as one line that cannot steer the terminal."""
    return _CONTROL.sub(" ", text)
