"""`linker mine`: training data from posts. The commands of `linker.contrib` join this group."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.command import App
from linker.cli.options import PostReading, naming_columns

app = App(
    help="Extract training data: articles and posts from links, pairs and benchmarks from archives of tweets.",
    no_args_is_help=True,
)


@app.command()
def links(
    *,
    posts: Annotated[
        list[str],
        typer.Argument(help="Posts that link to articles: files, folders, patterns, addresses or -."),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the training set: articles, posts and a report.")],
    articles: Annotated[
        list[str] | None,
        typer.Option(
            help="Articles that the posts link to: a folder of saved pages, a table with the columns `id` and `url` "
            "(JSON Lines, CSV, ...); repeatable.",
            show_default="titles and descriptions in the posts' link cards",
        ),
    ] = None,
    not_in: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Leave out the articles of this file, such as a development set; repeatable."
        ),
    ] = None,
    lang: Annotated[
        list[str] | None, typer.Option(help="Language of the posts; repeatable.", show_default="all")
    ] = None,
    days: Annotated[
        tuple[int, int],
        typer.Option(
            metavar="BEFORE AFTER",
            help="Keep posts from this many days before the article's date to this many after it.",
        ),
    ] = (1, 14),
    max_per_article: Annotated[int, typer.Option(min=1, help="Maximum number of posts of an article.")] = 20,
    max_per_author: Annotated[int, typer.Option(min=1, help="Maximum number of posts of an author.")] = 50,
    max_links_a_day: Annotated[
        int,
        typer.Option(min=1, help="Drop all posts of authors who link to more articles than this on any day."),
    ] = 30,
    max_site_share: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="Drop all posts of authors with a larger share of their links to one site, if they have ten or more.",
        ),
    ] = 0.8,
    skip_site: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="Drop links to this site; repeatable.")
    ] = None,
    keep_site: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="Keep links to this site although it is in the lists of platforms, videos or shops; repeatable.",
        ),
    ] = None,
    dev: Annotated[
        float, typer.Option(min=0.001, max=0.9, help="Share of the articles in dev, the latest ones.")
    ] = 0.1,
    missing: Annotated[
        Path | None,
        typer.Option(
            help="Write the links without an article in --articles to this file, for `linker mine fetch`."
        ),
    ] = None,
    reading: PostReading,
) -> None:
    """Build a training set from posts that link to articles, without network access.

    The links, copied headlines and what share buttons add are removed from the posts. The folder is what
    `linker train --data` takes.
    """
    import time

    from linker.common.console import info, stderr
    from linker.common.files import check_writable
    from linker.data.files.paths import check_inputs
    from linker.mining.mine_links import NoPairsError, check_folder, mine_links
    from linker.mining.options import MiningOptions

    check_folder(out, posts)
    check_inputs([*posts, *(not_in or [])])
    if missing is not None:
        check_writable(missing, posts)
    columns = reading.columns()
    options = MiningOptions(
        languages=tuple(sorted(set(lang or []))),
        days=days,
        max_per_article=max_per_article,
        max_per_author=max_per_author,
        max_links_a_day=max_links_a_day,
        max_site_share=max_site_share,
        dev=dev,
        skipped_sites=frozenset(map(str.lower, skip_site or [])),
        kept_sites=frozenset(map(str.lower, keep_site or [])),
    )
    began = time.monotonic()
    with naming_columns():
        try:
            report = mine_links(
                posts, out, articles or [], options, columns, reading.on_error, not_in or [], missing
            )
        except NoPairsError as error:
            stderr.print(error.report.table())
            raise
    stderr.print(report.table())
    seconds = time.monotonic() - began
    info(f"{report.posts:,} posts in {seconds:.0f} s ({report.posts / max(seconds, 1e-3):,.0f}/s)")
    print(out)


@app.command()
def fetch(
    links: Annotated[
        str,
        typer.Argument(help="Links: one address per line, or JSON Lines with `url`; - for standard input."),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for articles and states; one of an earlier run is continued.")
    ],
    contact: Annotated[
        str,
        typer.Option(help="Web page or email address that the sites can write to, part of the user agent."),
    ],
    delay: Annotated[
        float,
        typer.Option(
            min=0.5, help="Minimum seconds between two requests to a host; robots.txt may ask for more."
        ),
    ] = 2.0,
    workers: Annotated[
        int, typer.Option(min=1, max=256, help="Number of hosts asked at the same time.")
    ] = 16,
) -> None:
    """Fetch the articles that links lead to, politely, with a state for every address.

    robots.txt, its crawl delay, Retry-After and opt-outs of text and data mining are respected. An interrupted run
    resumes where it stopped. `linker mine links --articles OUT` takes the folder.
    """
    import time

    from linker.articles.crawl.crawl import crawl
    from linker.articles.crawl.crawler import CrawlOptions
    from linker.common.console import info, stderr, table_of_counts, warn

    began = time.monotonic()
    report = crawl(links, out, CrawlOptions(contact, delay=delay, workers=workers))
    stderr.print(table_of_counts(report.sections()))
    seconds = time.monotonic() - began
    info(f"{report.articles:,} articles; {report.requests:,} requests in {seconds:.0f} s")
    if waiting := report.states["waiting"]:
        warn(f"{waiting:,} addresses have to wait; run the command again later (states.csv names the time)")
    print(out)
