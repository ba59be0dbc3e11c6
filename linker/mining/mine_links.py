"""A training set from posts that link to articles, in one pass over the posts and one over their links."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from linker.common.console import progress_bar, track
from linker.common.errors import DataError, LinkerError
from linker.common.files import check_output_folder, real_path, unbroken, write_json
from linker.common.locks import only_writer
from linker.data.files.line_errors import BadLines, OnError
from linker.data.files.paths import input_files
from linker.data.io.columns import PostColumns
from linker.data.io.records import empty_input_error, stream_posts
from linker.data.types import Post
from linker.mining.held_out import HeldOut, drop_held_out
from linker.mining.known_articles import add_known_articles, article_files, follow_redirects, use_cards
from linker.mining.linked_post import SHORTENED, linked
from linker.mining.options import MiningOptions
from linker.mining.report import Report
from linker.mining.selection import NO_TEXT, select_pairs, set_windows
from linker.mining.store import LinkStore
from linker.mining.training_set import summary, write_missing, write_training_set


class NoPairsError(DataError):
    """No post became a pair.

    Attributes:
        report: what happened to them.
    """

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


# Streams deliver some posts twice.
_NUMBERED = "SELECT number, row_number() OVER (PARTITION BY id ORDER BY number) AS n FROM post"
_REPEATED = f"SELECT number FROM ({_NUMBERED}) WHERE n > 1"
# Posts between two updates of the bar.
_SHOWN = 1_000
#: The files of an output folder.
FILES = ("articles.jsonl", "posts.jsonl", "report.json")


def mine_links(
    posts: Sequence[str],
    out: str | Path,
    articles: Sequence[str] = (),
    options: MiningOptions | None = None,
    columns: PostColumns | None = None,
    on_error: OnError = "strict",
    not_in: Sequence[str] = (),
    missing: Path | None = None,
) -> Report:
    """Write a folder with the articles that posts link to, the cleaned posts, and a report.

    The folder is what `linker train --data` takes. Its bytes depend on the inputs and options alone. It is written
    completely or not at all; a temporary folder beside it holds a database of the linked posts meanwhile.

    Args:
        posts: files, folders, patterns, addresses, `-`.
        out: the folder; one from an earlier run is replaced.
        articles: files and folders with texts of articles.
        options: settings.
        columns: names of the columns of the posts.
        on_error: "strict" refuses bad lines, "skip" sets them aside.
        not_in: files of articles, such as those of a development set, that are left out of the training set.
        missing: file for the links whose articles are not among `articles`, with the number of their posts, written
            even if no pair is left; None: not written.

    Raises:
        LinkerError: if the folder cannot be written, has other files, or is being written.
        NoPairsError: if no pair is left.
        DataError: if inputs cannot be read or have bad lines, or all articles are of one story.
    """
    out, options = Path(out), options or MiningOptions()
    check_folder(out, posts)
    files = article_files(articles)
    held_out = HeldOut.read(not_in)
    with only_writer(out), _working_folder(out) as work, LinkStore.open(work / "posts.db") as store:
        report = _read(posts, columns or PostColumns(), store, options, on_error)
        steps: tuple[Callable[[], None], ...] = (
            partial(store.drop, "met again", _REPEATED),
            partial(follow_redirects, store, articles, options),
            store.resolve_threads,
            partial(store.drop_bots, options),
            partial(_add_articles, store, files, on_error, report),
            partial(use_cards, store),
            partial(drop_held_out, store, held_out),
            partial(set_windows, store, options.days),
        )
        for step in track(steps, "sorting links", len(steps)):
            step()
        if missing is not None:
            write_missing(store, missing)
        report.fates[SHORTENED] += store.fates.pop(SHORTENED)
        report.later = store.fates
        select_pairs(store, options, report.later)
        made = work / "set"
        made.mkdir()
        if not store.count("pair"):
            raise NoPairsError(_nothing(report), report)
        write_training_set(store, made, options.dev)
        report.result = summary(store)
        settings = {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in vars(options).items()
        }
        write_json(made / "report.json", {"settings": settings, **report.sections(), **report.result})
        _publish(made, out)
    return report


def check_folder(out: Path, posts: Sequence[str] = ()) -> None:
    """Check that a folder is new, empty, or the output of an earlier run, and that no later run reads it as posts.

    Raises:
        LinkerError: if it is a file, has other files, or is inside a folder of posts.
    """
    for folder in map(Path, posts):
        if folder.is_dir() and real_path(out).is_relative_to(real_path(folder)):
            raise LinkerError(f"{out}: inside {folder}, among the posts; write it to another folder")
    check_output_folder(out, FILES)


def _read(
    posts: Sequence[str], columns: PostColumns, store: LinkStore, options: MiningOptions, on_error: OnError
) -> Report:
    report = Report()
    with BadLines(on_error) as bad_lines:
        for post in _with_progress(stream_posts(list(posts), columns, bad_lines), posts, bad_lines):
            report.posts += 1
            link = linked(post, options)
            if isinstance(link, str):
                report.fates[link] += 1
            else:
                store.add(post, link)
        report.bad_lines = bad_lines.total
        report.left_out = bad_lines.left_out
    store.flush()
    if not report.posts:
        raise empty_input_error(list(posts), "post")
    return report


def _add_articles(store: LinkStore, files: Sequence[Path], on_error: OnError, report: Report) -> None:
    with BadLines(on_error) as bad_lines:
        report.files = add_known_articles(store, files, bad_lines)


def _with_progress(read: Iterable[Post], posts: Sequence[str], bad_lines: BadLines) -> Iterator[Post]:
    """Yield posts; the bar shows the part of their files that was read, in MiB."""
    sizes = [os.path.getsize(file) if os.path.isfile(file) else None for file in input_files(posts)]
    total = None if None in sizes else sum(filter(None, sizes)) / 2**20
    with progress_bar() as progress:
        bar = progress.add_task("reading posts (MiB)", total=total)
        for number, post in enumerate(read):
            if number % _SHOWN == 0:
                progress.update(bar, completed=bad_lines.bytes_read / 2**20)
            yield post


def _nothing(report: Report) -> str:
    linked = report.sections()["linked posts"]
    reasons = ", ".join(
        f"{count:,} {fate}" for fate, count in linked.items() if fate not in ("found", "pairs")
    )
    remedy = "the options of `linker mine links` set these limits"
    if linked.get(NO_TEXT):
        remedy = "give the articles with --articles"
    return (
        f"no pair of article and post is left: of {report.posts:,} posts {linked['found']:,} link to one article "
        f"({reasons or 'no links'}); {remedy}"
    )


@contextmanager
def _working_folder(out: Path) -> Iterator[Path]:
    """A folder beside the output, deleted at the end whatever happens."""
    try:
        out.absolute().parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=out.absolute().parent, prefix=f".{out.name}."))
    except OSError as error:
        raise LinkerError(f"{out}: cannot be written ({error.strerror})") from error
    before = os.environ.get("SQLITE_TMPDIR")
    # Sorting needs as much room as the database; /tmp may be small, or in memory.
    os.environ["SQLITE_TMPDIR"] = str(folder)
    try:
        yield folder
    finally:
        if before is None:
            del os.environ["SQLITE_TMPDIR"]
        else:
            os.environ["SQLITE_TMPDIR"] = before
        shutil.rmtree(folder, ignore_errors=True)


def _publish(made: Path, out: Path) -> None:
    """Put the finished files in place of those of an earlier run."""
    with unbroken():
        if not out.exists():
            os.rename(made, out)
            return
        for name in FILES:
            os.replace(made / name, out / name)
