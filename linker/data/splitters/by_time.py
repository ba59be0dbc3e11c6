"""Split by time: train on the past, test on later articles."""

from __future__ import annotations

from datetime import datetime

from linker.common.errors import ConfigError, DataError
from linker.data.io.dates import parse_date
from linker.data.splitters.splitter import Splits, Splitter, divide
from linker.data.types import Article, LinkedPosts


@Splitter.register("by_time")
class ByTimeSplitter(Splitter):
    """Splits articles by date: older ones for training, newer ones for testing, as in practice.

    Posts follow their first article. Posts without links go by their own date, those without a date to train.

    Args:
        dev: date when dev begins ("2014-07-01"), or its share of the articles (0.1).
        test: date when test begins, or its share (the newest articles); null: no test part.

    Raises:
        ConfigError: if a date or share is invalid, or one is a date and the other a share.
    """

    def __init__(self, dev: str | float = 0.1, test: str | float | None = None) -> None:
        if test is not None and isinstance(dev, str) != isinstance(test, str):
            raise ConfigError(
                f"splitter by_time: dev {dev!r} and test {test!r} are of different kinds; give two dates or two shares"
            )
        self.dev: datetime | float = _date_or_share("dev", dev)
        self.test: datetime | float | None = None if test is None else _date_or_share("test", test)

    def split(self, data: LinkedPosts) -> Splits:
        """Return the parts of the data.

        Raises:
            DataError: if an article has no date, or a part would have no link.
        """
        begin = self._begins(_dates(data.articles))

        def part(moment: datetime | None) -> str:
            later = [name for name, start in begin.items() if moment is not None and moment >= start]
            return later[-1] if later else "train"

        return divide(
            data,
            ["train", *begin],
            lambda article: part(article.published),
            lambda post: part(post.created_at),
        )

    def _begins(self, dates: list[datetime]) -> dict[str, datetime]:
        """When dev and test begin, in this order; articles of the same time stay together."""
        begin = {}
        after = len(dates)
        for name, limit in (("test", self.test), ("dev", self.dev)):
            if isinstance(limit, datetime):
                begin[name] = limit
            elif limit is not None:
                after -= round(limit * len(dates))
                begin[name] = dates[max(0, min(after, len(dates) - 1))]
        if "test" in begin and begin["dev"] >= begin["test"]:
            raise DataError(
                f"splitter by_time: dev would begin on {begin['dev']:%Y-%m-%d}, not before test "
                f"({begin['test']:%Y-%m-%d}); change dev or test"
            )
        return dict(reversed(begin.items()))


def _date_or_share(name: str, value: str | float) -> datetime | float:
    if isinstance(value, str):
        try:
            return parse_date(value)
        except ValueError as error:
            raise ConfigError(f"splitter by_time: {name}: {error}") from error
    if not 0 < value < 1:
        raise ConfigError(f"splitter by_time: {name}: {value} is not a share; give a number between 0 and 1")
    return value


def _dates(articles: list[Article]) -> list[datetime]:
    undated = [article.id for article in articles if article.published is None]
    if undated:
        raise DataError(
            f"{len(undated)} of {len(articles)} articles have no `published` date (first: {undated[0]}); "
            "add the dates, or use the splitter by_article"
        )
    return sorted(article.published for article in articles if article.published)
