"""A crawl from a file of links to a folder of articles."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from linker.articles.crawl.archive import CrawlArchive
from linker.articles.crawl.crawler import Crawler
from linker.articles.crawl.links import read_links
from linker.articles.crawl.options import CrawlOptions
from linker.articles.crawl.results import CrawlReport, write_results
from linker.articles.crawl.store import CrawlStore
from linker.common.errors import LinkerError
from linker.common.files import unbroken

DATABASE = "crawl.db"
WARC = "responses.warc.gz"
#: The files of an output folder; SQLite keeps two beside its database.
FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", WARC, "articles.jsonl", "states.csv")


def crawl(links: str, out: str | Path, options: CrawlOptions, warc: bool = False) -> CrawlReport:
    """Fetch the articles that links lead to, and write them with a state for every address into a folder.

    An interrupted or killed crawl resumes where it stopped: pages with a final state are not asked for
    again. Where the database is missing but the WARC file is there, its responses are used instead of the network.

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
    check_folder(out)
    urls = list(read_links(links))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LinkerError(f"{out}: cannot be written ({error.strerror})") from error
    with ExitStack() as stack:
        store = stack.enter_context(CrawlStore.open(out / DATABASE))
        archive = None
        if warc or (out / WARC).exists():
            archive = stack.enter_context(CrawlArchive(out / WARC, store.archived()))
        report = CrawlReport(*store.add_links(urls))
        crawler = Crawler(store, options, archive)
        try:
            crawler.run()
        finally:
            report.requests = crawler.requests
            with unbroken():
                write_results(store, out, report)
    return report


def check_folder(out: Path) -> None:
    """Check that a folder is new, empty, or that of an earlier crawl.

    Raises:
        LinkerError: if it is a file, or has other files.
    """
    if out.exists() and not out.is_dir():
        raise LinkerError(f"{out}: is a file; give a folder to write to")
    if out.is_dir():
        names = {path.name for path in out.iterdir() if not path.name.startswith(".")}
        if others := sorted(names - set(FILES)):
            raise LinkerError(
                f"{out}: has other files ({', '.join(others[:3])}); give a new folder with --out"
            )
