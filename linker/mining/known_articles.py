"""The articles that posts link to: texts of the user's files and of link cards, and those of a development set."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from linker.articles.loading import load_articles
from linker.common.console import warn
from linker.common.errors import DataError, LinkerError
from linker.data.files.line_errors import BadLines
from linker.data.files.tables import format_of_name
from linker.data.io.columns import ArticleColumns, MissingColumnsError
from linker.data.io.records import article_from_row, iter_records, read_articles
from linker.data.links.link_key import host_of, link_key
from linker.data.links.link_kind import link_kind
from linker.data.near_duplicates import linked_groups, normal_form, signatures
from linker.data.types import Article
from linker.mining.links import LinkedArticle, Links
from linker.mining.options import MiningOptions

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
    links: Links, files: Sequence[Path], options: MiningOptions, bad_lines: BadLines
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
                links.add_redirect(short, key, address)
            linked = links.articles.get(key)
            if linked is None or linked.source:
                counts["not linked, or read before"] += 1
                continue
            counts["linked by posts"] += 1
            linked.title, linked.text, linked.source = article.title, article.text, "given"
            linked.published = article.published.timestamp() if article.published else None
    return counts


def _articles(file: Path, bad_lines: BadLines, counts: Counter[str]) -> Iterator[Article]:
    if _is_table(file):
        try:
            yield from iter_records(str(file), ArticleColumns(), bad_lines, article_from_row)
        except MissingColumnsError as error:
            raise DataError(f"--articles {file}: not a table of articles; it needs {_COLUMNS}") from error
        return
    try:
        yield from load_articles(file)
    except LinkerError as error:
        counts["pages without an article"] += 1
        warn(f"skipped: {error}")


def use_cards(links: Links) -> None:
    """Give the other articles title and description of their link cards: of several, those of most posts."""
    pages = Counter(
        (host_of(article.key), card) for article in links.articles.values() for card in article.cards
    )

    def rank(article: LinkedArticle, card: tuple[str, str]) -> tuple[int, int, tuple[str, str]]:
        return -article.cards[card], -len("".join(card)), card

    for article in links.articles.values():
        cards = [card for card in article.cards if pages[host_of(article.key), card] < _SHARED]
        if cards and not article.source:
            article.title, article.text = min(cards, key=partial(rank, article))
            article.source = "card"


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


def drop_held_out(links: Links, held_out: Sequence[Article]) -> None:
    """Drop posts about articles of a development set, by their keys and by near-duplicates of their titles."""
    keys = {link_key(article.url or article.id) for article in held_out}
    titles = [article.title for article in held_out if normal_form(article.title)]
    held = {article for key, article in links.articles.items() if key in keys}
    others = [a for a in links.articles.values() if a not in held and normal_form(a.title)] if titles else []
    groups = linked_groups(signatures([*titles, *(article.title for article in others)])).tolist()
    held |= {article for article, group in zip(others, groups[len(titles) :]) if group < len(titles)}
    links.drop("of articles in --not-in", lambda post: post.article in held)
