"""`linker mine`: training data from posts. The commands of `linker.contrib` join this group."""

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.command import App
from linker.cli.inputs import PostReading, naming_columns
from linker.mining.options import MiningOptions

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
    missing: Annotated[
        Path | None,
        typer.Option(
            help="Write the links without an article in --articles to this file, for `linker mine fetch`."
        ),
    ] = None,
    options: MiningOptions,
    reading: PostReading,
) -> None:
    """Build a training set from posts that link to articles, without network access.

    The links, copied headlines and what share buttons add are removed from the posts. The folder is what
    `linker train --data` takes.
    """
    from linker.common.console import stderr, table_of_counts
    from linker.mining.mine_links import mine_links

    columns = reading.columns()
    with naming_columns():
        report = mine_links(
            posts, out, articles or [], options, columns, reading.on_error, not_in or [], missing
        )
    stderr.print(table_of_counts(report))
    print(out)


@app.command()
def fetch(
    links: Annotated[
        str,
        typer.Argument(
            help="Links: a table with `url`, or one address per line (.txt); - for standard input."
        ),
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
    from linker.articles.crawl.crawl import crawl
    from linker.articles.crawl.crawler import CrawlOptions
    from linker.common.console import stderr, table_of_counts, warn

    report = crawl(links, out, CrawlOptions(contact, delay=delay, workers=workers))
    stderr.print(table_of_counts(report))
    if waiting := report["addresses"].get("waiting"):
        warn(f"{waiting:,} addresses have to wait; run the command again later (states.csv names the time)")
    print(out)
