"""A crawl from a file of links to a folder of articles, with a state for every address."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from linker.articles.crawl.crawler import Crawler, CrawlOptions
from linker.articles.crawl.store import CrawlStore
from linker.articles.crawl.visit import STATES
from linker.common.errors import DataError, LinkerError
from linker.common.files import check_output_folder, unbroken, write_lines
from linker.data.files.line_errors import BadLines, LineError
from linker.data.files.tables import open_table
from linker.data.links.link_kind import link_kind

DATABASE = "crawl.db"
#: The files of an output folder; SQLite keeps two beside its database.
FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "articles.jsonl", "states.csv")
COLUMNS = ("url", "state", "detail", "status", "final_url", "canonical_url", "article_id", "attempts")


def crawl(links: str, out: str | Path, options: CrawlOptions) -> dict[str, dict[str, int]]:
    """Fetch the articles that links lead to, and write them with a state for every address into a folder.

    An interrupted or killed crawl resumes where it stopped: pages with a final state are not asked for again.

    Args:
        links: see `read_links`.
        out: the folder; one of an earlier crawl is continued.
        options: settings.

    Returns:
        Counts by section: first the total, then its parts, which add up to it.

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
    with CrawlStore.open(out / DATABASE) as store:
        new = store.add_links(urls)
        crawler = Crawler(store, options)
        states: Counter[str] = Counter()
        try:
            crawler.run()
        finally:
            with unbroken():
                write_lines(out / "states.csv", _states(store, states))
                write_lines(out / "articles.jsonl", _articles(store))
    return {
        "links": {"read": len(urls), "repeated, or of an earlier run": len(urls) - new, "new": new},
        "addresses": {"in all": states.total(), **{name: states[name] for name in STATES if states[name]}},
        "requests": {"in this run": crawler.requests},
    }


def read_links(source: str) -> list[str]:
    """Return the addresses in a file, in order.

    Args:
        source: a table with the column `url`, or a text with one address per line (.txt); perhaps compressed, or `-`.

    Raises:
        DataError: if lines are bad, or there is none.
    """
    links = []
    with BadLines(skippable=False) as bad_lines:
        file = bad_lines.file(source)
        with open_table(file, {"url"}) as table:
            for row in table.rows:
                url = row.values.get("url") or row.values.get("text")
                if isinstance(url, str) and url.strip():
                    links.append(" ".join(url.split()))
                else:
                    file.bad(row.line, LineError("no text in `url`"), row.raw)
    if not links:
        raise DataError(f"{file.shown}: no link in this file; give one address per line, or a column `url`")
    return links


def _states(store: CrawlStore, states: Counter[str]) -> Iterator[str]:
    """Lines of `states.csv`; counts the states."""
    yield _csv(COLUMNS)
    for row in store.rows():
        states[row["state"]] += 1
        row["article_id"] = row["key"] if row["state"] == "fetched" else None
        yield _csv(row[name] for name in COLUMNS)


def _articles(store: CrawlStore) -> Iterator[str]:
    """Lines of `articles.jsonl`, one for each key by which posts may name an article."""
    seen: set[str] = set()
    for row in store.rows():
        if row["state"] != "fetched" or row["key"] in seen:
            continue
        seen.add(row["key"])
        article = json.loads(row["article"])
        canonical = row["canonical_url"] or row["final_url"]
        # `linker mine links` learns from it where shortened links lead.
        is_short = link_kind(row["key"]) == "shortener"
        address = {"url": canonical if is_short else row["url"], "canonical_url": canonical}
        filled = {
            "id": row["key"],
            **{name: value for name, value in (article | address).items() if value is not None},
        }
        yield json.dumps(filled, ensure_ascii=False) + "\n"


def _csv(values: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()
