"""`linker fetch`: the articles that links lead to, by a polite crawler."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def fetch(
    links: Annotated[
        str,
        typer.Argument(
            help="Links: one address per line, or JSON Lines with `url`; - for standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", help="Folder for articles and states; one of an earlier run is continued."),
    ],
    contact: Annotated[
        str,
        typer.Option(
            "--contact",
            help="Web page or email address that the sites can write to, part of the user agent.",
        ),
    ],
    delay: Annotated[
        float,
        typer.Option(
            "--delay",
            min=0.5,
            help="Minimum seconds between two requests to a host; robots.txt may ask for more.",
        ),
    ] = 2.0,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=256, help="Number of hosts asked at the same time.")
    ] = 16,
    warc: Annotated[
        bool, typer.Option("--warc", help="Keep the raw responses in responses.warc.gz in the folder.")
    ] = False,
) -> None:
    """Fetch the articles that links lead to, politely, with a state for every address.

    robots.txt, its crawl delay, Retry-After and opt-outs of text and data mining are respected. An interrupted run
    resumes where it stopped. `linker mine links --articles OUT` takes the folder.
    """
    import time

    from linker.articles.crawl.crawl import crawl
    from linker.articles.crawl.options import CrawlOptions
    from linker.common.console import info, stderr, warn

    began = time.monotonic()
    report = crawl(links, out, CrawlOptions(contact, delay=delay, workers=workers), warc)
    stderr.print(report.table())
    seconds = time.monotonic() - began
    info(f"{report.articles:,} articles; {report.requests:,} requests in {seconds:.0f} s")
    if waiting := report.states["waiting"]:
        warn(f"{waiting:,} addresses have to wait; run the command again later (states.csv names the time)")
    print(out)
