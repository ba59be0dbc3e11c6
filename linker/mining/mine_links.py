"""A training set from posts that link to articles, in one pass over the posts and one over their links."""

import os
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from linker.common.console import track
from linker.common.errors import DataError, LinkerError
from linker.common.files import check_output_folder, check_writable, real_path, unbroken, write_json
from linker.common.locks import only_writer
from linker.data.files.line_errors import BadLines, OnError
from linker.data.io.columns import PostColumns
from linker.data.io.input_files import check_inputs
from linker.data.io.records import empty_input_error, stream_posts
from linker.data.links.link_key import host_of
from linker.mining.known_articles import (
    add_known_articles,
    article_files,
    drop_held_out,
    read_held_out,
    use_cards,
)
from linker.mining.linked_post import FATES, SHORTENED, linked
from linker.mining.links import LinkedArticle, Links
from linker.mining.options import MiningOptions
from linker.mining.selection import NO_TEXT, Pair, select_pairs
from linker.mining.training_set import write_missing, write_training_set

_SITES = 20
#: The files of an output folder.
FILES = ("articles.jsonl", "posts.jsonl", "report.json")


Report: TypeAlias = "dict[str, dict[str, int]]"
"""Counts by section: first the total, then its parts in the order of the filters, which add up to it."""


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
    completely or not at all. Posts with a link are kept in memory.

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

    Returns:
        The report, which the folder has as `report.json`.

    Raises:
        LinkerError: if the folder cannot be written, has other files, is among the posts, or is being written.
        DataError: if inputs cannot be read or have bad lines, no pair is left, or all articles are of one story.
    """
    out, options = Path(out), options or MiningOptions()
    _check(posts, out, not_in, missing)
    files, held_out = article_files(articles), read_held_out(not_in)
    with only_writer(out), TemporaryDirectory(prefix=f".{out.name}.", dir=out.absolute().parent) as work:
        links = Links()
        total, fates = _read(posts, columns or PostColumns(), links, options, on_error)
        links.drop_repeated()
        with BadLines(on_error) as bad_lines:
            of_files = add_known_articles(links, files, options, bad_lines)
        links.follow_redirects()
        links.resolve_threads()
        links.drop_bots(options)
        use_cards(links)
        drop_held_out(links, held_out)
        if missing is not None:
            write_missing(links, missing)
        fates[SHORTENED] += links.fates.pop(SHORTENED)
        pairs = select_pairs(links, options)
        report = _filters(total, fates, links.fates, len(pairs))
        if of_files:
            report["articles given"] = {"read": of_files.total(), **dict(sorted(of_files.items()))}
        made = Path(work, "set")
        made.mkdir()
        write_training_set(pairs, made, options.dev)
        report |= _result(pairs)
        write_json(made / "report.json", {"settings": vars(options), **report})
        with unbroken():
            if not out.exists():
                os.rename(made, out)
            else:  # of an earlier run
                for name in FILES:
                    os.replace(made / name, out / name)
    return report


def _check(posts: Sequence[str], out: Path, not_in: Sequence[str], missing: Path | None) -> None:
    """Check that inputs exist and outputs can be written, and that no later run reads the output as posts."""
    for folder in map(Path, posts):
        if folder.is_dir() and real_path(out).is_relative_to(real_path(folder)):
            raise LinkerError(f"{out}: inside {folder}, among the posts; write it to another folder")
    check_output_folder(out, FILES)
    check_inputs([*posts, *not_in])
    if missing is not None:
        check_writable(missing, posts)


def _read(
    posts: Sequence[str], columns: PostColumns, links: Links, options: MiningOptions, on_error: OnError
) -> tuple[int, Counter[str]]:
    """Add posts with a link to the links; return the number of posts, and of those without by reason."""
    total, fates = 0, Counter[str]()
    with BadLines(on_error) as bad_lines:
        for post in track(stream_posts(list(posts), columns, bad_lines), "reading posts"):
            total += 1
            link = linked(post, options)
            if isinstance(link, str):
                fates[link] += 1
            else:
                links.add(post, link)
    if not total:
        raise empty_input_error(list(posts), "post")
    return total, fates


def _filters(total: int, fates: Counter[str], dropped: Counter[str], pairs: int) -> Report:
    """The sections of the report on posts without a link to one article, and on those with one.

    Raises:
        DataError: if no pair is left.
    """
    reasons = {fate: fates[fate] for fate in FATES if fates[fate]}
    later = {fate: count for fate, count in dropped.items() if count}
    if not pairs:
        listed = ", ".join(f"{count:,} {fate}" for fate, count in (reasons | later).items())
        remedy = "the options of `linker mine links` set these limits"
        if NO_TEXT in later:
            remedy = "give the articles with --articles"
        raise DataError(f"no pair of article and post is left of {total:,} posts: {listed}; {remedy}")
    found = total - fates.total()
    return {
        "posts": {"read": total, **reasons, "linked to one article": found},
        "linked posts": {"found": found, **later, "pairs": pairs},
    }


def _result(pairs: Sequence[Pair]) -> Report:
    """The sections on the training set, the last one on the 20 sites with most pairs."""
    articles = {pair.article for pair in pairs}
    sites = Counter(host_of(pair.article.key) for pair in pairs)
    most = dict(sorted(sites.items(), key=lambda item: (-item[1], item[0]))[:_SITES])
    others = {"other sites": len(pairs) - sum(most.values())} if len(sites) > _SITES else {}
    cards = sum(article.source == "card" for article in articles)
    return {
        "articles": _of_parts(articles),
        "texts of articles": {"in all": len(articles), "given": len(articles) - cards, "link cards": cards},
        "pairs": _of_parts([pair.article for pair in pairs]),
        "pairs by site": {"in all": len(pairs), **most, **others},
    }


def _of_parts(articles: Collection[LinkedArticle]) -> dict[str, int]:
    dev = sum(article.split == "dev" for article in articles)
    return {"in all": len(articles), "train": len(articles) - dev, "dev": dev}
