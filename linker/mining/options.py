"""Settings of a run of `linker mine links`."""

from __future__ import annotations

from dataclasses import dataclass

from linker.common.checks import at_least, between
from linker.common.errors import ConfigError
from linker.data.languages import known_languages


@dataclass(frozen=True)
class MiningOptions:
    """Settings of a run; the defaults are those of the command.

    Attributes:
        languages: languages of the posts, by their codes or names (`en`); empty: all.
        days: number of days before and after the article's date in which posts are kept.
        max_per_article: maximum number of posts of an article.
        max_per_author: maximum number of posts of an author.
        max_links_a_day: an author with more links to articles on any day is a bot.
        max_site_share: an author with a larger share of links to one site, of ten links or more, is an outlet or a bot.
        dev: share of the articles in the dev part, the latest ones.
        skipped_sites: hosts whose pages are not articles, beside those of `linker/articles/links/lists.ini`.
        kept_sites: hosts of these lists whose pages are articles all the same.

    Raises:
        ConfigError: if a number is out of range.
    """

    languages: tuple[str, ...] = ()
    days: tuple[int, int] = (1, 14)
    max_per_article: int = 20
    max_per_author: int = 50
    max_links_a_day: int = 30
    max_site_share: float = 0.8
    dev: float = 0.1
    skipped_sites: frozenset[str] = frozenset()
    kept_sites: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        try:
            at_least(0, days_before=self.days[0])
            at_least(1, days_after=self.days[1], max_links_a_day=self.max_links_a_day)
            at_least(1, max_per_article=self.max_per_article, max_per_author=self.max_per_author)
            between(0, 1, max_site_share=self.max_site_share)
            between(0.001, 0.9, dev=self.dev)
        except ValueError as error:
            raise ConfigError(str(error)) from error
        object.__setattr__(self, "languages", known_languages(self.languages))
