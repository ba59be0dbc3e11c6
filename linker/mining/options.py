"""Settings of a run of `linker mine links`, which are its options."""

from dataclasses import dataclass
from typing import Annotated

import typer

from linker.common.checks import at_least, between
from linker.common.errors import ConfigError


@dataclass(frozen=True)
class MiningOptions:
    """Settings of a run, by the names of the options of `linker mine links`; the command says what they mean.

    Raises:
        ConfigError: if a number is out of range.
        LinkerError: if a language is unknown.
    """

    lang: Annotated[
        list[str] | None, typer.Option(help="Language of the posts; repeatable.", show_default="all")
    ] = None
    days: Annotated[
        tuple[int, int],
        typer.Option(
            metavar="BEFORE AFTER",
            help="Keep posts from this many days before the article's date to this many after it.",
        ),
    ] = (1, 14)
    max_per_article: Annotated[int, typer.Option(help="Maximum number of posts of an article.")] = 20
    max_per_author: Annotated[int, typer.Option(help="Maximum number of posts of an author.")] = 50
    max_links_a_day: Annotated[
        int, typer.Option(help="Drop all posts of authors who link to more articles than this on any day.")
    ] = 30
    max_site_share: Annotated[
        float,
        typer.Option(
            help="Drop all posts of authors with a larger share of their links to one site, if they have ten or more."
        ),
    ] = 0.8
    skip_site: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="Drop links to this site; repeatable.")
    ] = None
    keep_site: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="Keep links to this site although it is in the lists of platforms, videos or shops; repeatable.",
        ),
    ] = None
    dev: Annotated[float, typer.Option(help="Share of the articles in dev, the latest ones.")] = 0.1

    def __post_init__(self) -> None:
        from linker.data.languages import known_languages

        try:
            at_least(0, days_before=self.days[0])
            at_least(1, days_after=self.days[1], max_links_a_day=self.max_links_a_day)
            at_least(1, max_per_article=self.max_per_article, max_per_author=self.max_per_author)
            between(0, 1, max_site_share=self.max_site_share)
            between(0.001, 0.9, dev=self.dev)
        except ValueError as error:
            raise ConfigError(str(error)) from error
        object.__setattr__(self, "lang", list(known_languages(sorted(self.lang or ()))))

    @property
    def sites(self) -> tuple[frozenset[str], frozenset[str]]:
        """The sites that are skipped and those that are kept, as `link_kind` takes them."""
        skipped, kept = (
            frozenset(site.lower() for site in sites or ()) for sites in (self.skip_site, self.keep_site)
        )
        return skipped, kept
