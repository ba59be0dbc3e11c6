"""The articles that posts link to: where shortened links lead, and texts of the user's files and of link cards."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from linker.articles.links.link_key import link_key
from linker.articles.links.link_kind import link_kind
from linker.articles.loading import load_articles
from linker.common.console import warn
from linker.common.errors import DataError, LinkerError
from linker.data.files.line_errors import BadLines
from linker.data.files.tables import format_of_name
from linker.data.io.columns import ArticleColumns, MissingColumnsError
from linker.data.io.records import iter_articles
from linker.data.types import Article
from linker.mining.linked_post import SHORTENED
from linker.mining.options import MiningOptions
from linker.mining.store import LinkStore

_PAGES = (".html", ".htm", ".xhtml", ".pdf", ".txt", ".md")
# A card that five pages or more of a site share is that of the site: a paywall, a consent page, the home page.
_SHARED = 5


def article_files(sources: Sequence[str]) -> list[Path]:
    """Return the files of articles that some paths name; a folder means the files directly in it.

    Raises:
        DataError: if a path is missing, or a folder has no file of articles.
    """
    files = []
    for source in map(Path, sources):
        if source.is_dir():
            inside = [file for file in sorted(source.iterdir()) if _is_of_articles(file)]
            if not inside:
                raise DataError(f"--articles {source}: no file of articles in this folder")
            files += inside
        elif source.is_file():
            files.append(source)
        else:
            raise DataError(f"--articles {source}: file not found; give a file or folder of articles")
    return files


def _is_of_articles(file: Path) -> bool:
    name = file.name.lower()
    if not file.is_file() or name.startswith((".", "readme", "license", "posts.", "states.")):
        return False
    return name.endswith(_PAGES) or format_of_name(name) not in (None, "txt")


def missing_columns(option: str, file: str) -> DataError:
    """Make the error for a table of articles without the columns that are needed; `--column` is for posts."""
    return DataError(
        f"{option} {file}: not a table of articles; it needs the columns `id`, `title` or `text`, and `url` if the ids "
        "are not addresses"
    )


def add_known_articles(store: LinkStore, files: Sequence[Path], bad_lines: BadLines) -> Counter[str]:
    """Give linked articles the title, text and date that they have in files from `article_files`.

    Returns:
        Number of articles in the files, by fate.
    """
    counts: Counter[str] = Counter()
    for file in files:
        for article in _articles(file, bad_lines, counts):
            key = link_key(article.url or article.id)
            if key is None:
                counts["without an address"] += 1
                continue
            published = article.published and article.published.timestamp()
            changed = store.run(
                "UPDATE article SET title = ?, text = ?, published = ?, source = 'given' "
                "WHERE id = ? AND source IS NULL",
                [article.title, article.text, published, store.article_of(key)],
            )
            counts["linked by posts" if changed.rowcount else "not linked, or read before"] += 1
    return counts


def _articles(file: Path, bad_lines: BadLines, counts: Counter[str]) -> Iterator[Article]:
    if format_of_name(file.name) not in (None, "txt"):
        try:
            yield from iter_articles(str(file), ArticleColumns(), bad_lines)
        except MissingColumnsError as error:
            raise missing_columns("--articles", str(file)) from error
    else:
        try:
            yield from load_articles(file)
        except LinkerError as error:
            counts["pages without an article"] += 1
            warn(f"skipped: {error}")


def use_cards(store: LinkStore) -> None:
    """Give the other articles title and description of their link cards: of several, those of most posts."""
    store.run(
        "CREATE TABLE site_card AS SELECT host, card.title AS title, description FROM card "
        "JOIN article ON article.id = article WHERE card.title <> '' OR description <> '' "
        f"GROUP BY host, card.title, description HAVING count(*) >= {_SHARED}"
    )
    store.run("CREATE INDEX by_host ON site_card (host, title, description)")
    store.run(
        "UPDATE article SET (title, text, source) = (SELECT card.title, description, 'card' FROM card "
        "WHERE card.article = article.id AND NOT EXISTS (SELECT 1 FROM site_card WHERE site_card.host = article.host "
        "AND site_card.title = card.title AND site_card.description = card.description) "
        "ORDER BY posts DESC, length(card.title) + length(description) DESC, card.title, description LIMIT 1) "
        "WHERE source IS NULL"
    )
    store.run("UPDATE article SET title = coalesce(title, ''), text = coalesce(text, '')")


def follow_redirects(store: LinkStore, sources: Sequence[str], options: MiningOptions) -> None:
    """Give posts with nothing but a shortened link the article that it leads to; drop those where this is unknown.

    Of the sources, only `states.csv` in folders of `linker mine fetch` counts.

    Raises:
        DataError: if such a file cannot be read.
    """
    for short, article in _redirects(sources, options):
        store.redirect(short, article)
    store.drop(SHORTENED, "SELECT number FROM post JOIN article ON article.id = article WHERE shortened")


def _redirects(sources: Sequence[str], options: MiningOptions) -> Iterator[tuple[str, str]]:
    """Yield key of a shortened link and address of the article at the end of its redirects."""

    def is_kind(kind: str, key: str | None) -> bool:
        return key is not None and link_kind(key, options.skipped_sites, options.kept_sites) == kind

    for path in (Path(source, "states.csv") for source in sources):
        if not path.is_file():
            continue
        try:
            with path.open(encoding="utf-8", newline="") as file:
                rows = csv.DictReader(file)
                if not {"url", "final_url", "canonical_url"}.issubset(rows.fieldnames or ()):
                    continue  # of another program
                for row in rows:
                    short = link_key(row["url"] or "")
                    urls = (url for url in (row["canonical_url"], row["final_url"]) if url)
                    url = next((url for url in urls if is_kind("article", link_key(url))), None)
                    if short is not None and url is not None and is_kind("shortener", short):
                        yield short, url
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise DataError(
                f"{path}: cannot be read ({error}); run `linker mine fetch` again to write it"
            ) from error
