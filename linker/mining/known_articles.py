"""The articles that posts link to: texts of the user's files and of link cards, and those of a development set."""

from __future__ import annotations

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
from linker.data.io.records import iter_articles, read_articles
from linker.data.near_duplicates import linked_groups, normal_form, signatures
from linker.data.types import Article
from linker.mining.options import MiningOptions
from linker.mining.store import LinkStore

_PAGES = (".html", ".htm", ".xhtml", ".pdf", ".txt", ".md")
_OTHERS = (".", "readme", "license", "posts.", "states.")
_COLUMNS = "the columns `id`, `title` or `text`, and `url` if the ids are not addresses"
# A card that five pages or more of a site share is that of the site: a paywall, a consent page, the home page.
_SHARED = 5


def article_files(sources: Sequence[str]) -> list[Path]:
    """Return the files of articles that some paths name; a folder means the files directly in it.

    Raises:
        DataError: if a path is missing, or a folder has no file of articles.
    """
    files = []
    for source in map(Path, sources):
        if not source.exists():
            raise DataError(f"--articles {source}: file not found; give a file or folder of articles")
        inside = sorted(source.iterdir()) if source.is_dir() else []
        inside = [file for file in inside if not file.name.lower().startswith(_OTHERS) and file.is_file()]
        inside = [file for file in inside if file.name.lower().endswith(_PAGES) or _is_table(file)]
        if source.is_dir() and not inside:
            raise DataError(f"--articles {source}: no file of articles in this folder")
        files += inside or [source]
    return files


def _is_table(file: Path) -> bool:
    return format_of_name(file.name) not in (None, "txt")


def add_known_articles(
    store: LinkStore, files: Sequence[Path], options: MiningOptions, bad_lines: BadLines
) -> Counter[str]:
    """Give linked articles the title, text and date that they have in files from `article_files`.

    An article whose id is a shortened link and whose address is another is what this link leads to.

    Returns:
        Number of articles in the files, by fate.
    """
    counts: Counter[str] = Counter()
    for file in files:
        for article in _articles(file, bad_lines, counts):
            address = article.url or article.id
            key, short = link_key(address), link_key(article.id)
            if key is None:
                counts["without an address"] += 1
                continue
            if short not in (key, None) and link_kind(key, *options.sites) == "article":
                store.add_redirect(short, key, address)
            published = article.published.timestamp() if article.published else None
            changed = store.set_article(key, article.title, article.text, published)
            counts["linked by posts" if changed else "not linked, or read before"] += 1
    return counts


def _articles(file: Path, bad_lines: BadLines, counts: Counter[str]) -> Iterator[Article]:
    if _is_table(file):
        try:
            yield from iter_articles(str(file), ArticleColumns(), bad_lines)
        except MissingColumnsError as error:
            raise DataError(f"--articles {file}: not a table of articles; it needs {_COLUMNS}") from error
        return
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


def read_held_out(files: Sequence[str]) -> list[Article]:
    """Read the articles of a development set, which no training set may contain.

    Raises:
        DataError: if a file cannot be read, has bad lines, or contains no article.
    """
    articles = []
    for file in files:
        try:
            articles += read_articles(file)
        except MissingColumnsError as error:
            raise DataError(f"--not-in {file}: not a table of articles; it needs {_COLUMNS}") from error
    return articles


def drop_held_out(store: LinkStore, held_out: Sequence[Article]) -> None:
    """Drop posts about articles of a development set, by their keys and by near-duplicates of their titles."""
    keys = {link_key(article.url or article.id) for article in held_out}
    titles = [article.title for article in held_out if normal_form(article.title)]
    articles = store.run("SELECT id, key, title FROM article").fetchall() if held_out else []
    store.run("CREATE TABLE held (article INTEGER PRIMARY KEY)")
    held = [number for number, key, _ in articles if key in keys]
    others = [(number, title) for number, key, title in articles if key not in keys and normal_form(title)]
    groups = linked_groups(signatures([*titles, *(title for _, title in others)])).tolist()
    held += [n for (n, _), group in zip(others, groups[len(titles) :]) if group < len(titles)]
    store.database.executemany("INSERT INTO held VALUES (?)", [(number,) for number in held])
    store.drop("of articles in --not-in", "SELECT number FROM post JOIN held USING (article)")
