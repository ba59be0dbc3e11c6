"""A crawl from a file of links to a folder of articles."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

from linker.articles.crawl.archive import CrawlArchive
from linker.articles.crawl.crawler import Crawler
from linker.articles.crawl.options import CrawlOptions
from linker.articles.crawl.results import CrawlReport, write_results
from linker.articles.crawl.store import CrawlStore
from linker.common.errors import DataError, LinkerError
from linker.common.files import check_output_folder, unbroken
from linker.data.files.streams import open_bytes, shown_name

DATABASE = "crawl.db"
WARC = "responses.warc.gz"
#: The files of an output folder; SQLite keeps two beside its database.
FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", WARC, "articles.jsonl", "states.csv")
_MOST_FAULTS = 5


def crawl(links: str, out: str | Path, options: CrawlOptions, warc: bool = False) -> CrawlReport:
    """Fetch the articles that links lead to, and write them with a state for every address into a folder.

    An interrupted or killed crawl resumes where it stopped: pages with a final state are not asked for again.

    Args:
        links: a file with one address per line or JSON Lines with `url`, or `-`.
        out: the folder; one of an earlier crawl is continued.
        options: settings.
        warc: keep the raw responses in a WARC file; once begun, it is continued anyway.

    Raises:
        LinkerError: if the folder cannot be written, is in use, or has other files.
        DataError: if the links cannot be read.
    """
    out = Path(out)
    check_output_folder(out, FILES)
    urls = read_links(links)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LinkerError(f"{out}: cannot be written ({error.strerror})") from error
    with ExitStack() as stack:
        store = stack.enter_context(CrawlStore.open(out / DATABASE))
        archive = None
        if warc or (out / WARC).exists():
            archive = stack.enter_context(CrawlArchive(out / WARC, store.archived()))
        report = CrawlReport(len(urls), store.add_links(urls))
        crawler = Crawler(store, options, archive)
        try:
            crawler.run()
        finally:
            report.requests = crawler.requests
            with unbroken():
                write_results(store, out, report)
    return report


def read_links(source: str) -> list[str]:
    """Return the addresses in a file, in order: one per line, as it is or as `url` of a JSON object.

    Args:
        source: a file, perhaps compressed, or `-`.

    Raises:
        DataError: if lines are bad, or there is none.
    """
    name, links, faults = shown_name(source), [], []
    with open_bytes(source) as file:
        for number, line in enumerate(file, start=1):
            text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip()
            try:
                if text:
                    links.append(_address(text))
            except ValueError as error:
                faults.append(f"{name}, line {number}: {error}")
                if len(faults) == _MOST_FAULTS:
                    break
    if not links and not faults:
        faults = [f"{name}: no link in this file"]
    if faults:
        raise DataError("\n".join([*faults, "give one address per line, or JSON Lines with the field `url`"]))
    return links


def _address(text: str) -> str:
    if text.startswith("{"):
        try:
            text = json.loads(text).get("url")
        except (ValueError, RecursionError) as error:
            raise ValueError(f"broken JSON ({error})") from error
        if not isinstance(text, str) or not text.strip():
            raise ValueError("no text in the field `url`")
        return " ".join(text.split())
    if len(text.split()) > 1:
        raise ValueError(f"{text[:60]!r} is not one address")
    return text
