"""Split by time: train on the past, test on later articles."""

from datetime import datetime

from linker.common.checks import above, between
from linker.common.errors import DataError
from linker.data.splitters.splitter import Splits, Splitter, divide
from linker.data.types import LinkedPosts


@Splitter.register("by_time")
class ByTimeSplitter(Splitter):
    """Splits articles by date: older ones for training, newer ones for testing, as in practice.

    Posts follow their first article. Posts without links go by their own date, those without a date to train.

    Args:
        dev: share of the articles in dev, the newest but those in test.
        test: share of the articles in test, the newest; 0: no test part.
    """

    def __init__(self, dev: float = 0.1, test: float = 0.0) -> None:
        above(0, dev=dev)
        between(0, 1, dev=dev, test=test)
        self.dev, self.test = dev, test

    def split(self, data: LinkedPosts) -> Splits:
        """Return the parts of the data.

        Raises:
            DataError: if an article has no date, or a part would have no link.
        """
        undated = [article.id for article in data.articles if article.published is None]
        if undated:
            raise DataError(
                f"{len(undated)} of {len(data.articles)} articles have no `published` date (first: {undated[0]}); "
                "add the dates, or use the splitter by_article"
            )
        dates = sorted(article.published for article in data.articles if article.published)
        begin: dict[str, datetime] = {}
        after = len(dates)
        for name, share in (("test", self.test), ("dev", self.dev)):
            if share:
                after -= round(share * len(dates))
                begin[name] = dates[
                    max(0, min(after, len(dates) - 1))
                ]  # articles of the same time stay together
        if begin["dev"] >= begin.get("test", datetime.max.replace(tzinfo=begin["dev"].tzinfo)):
            raise DataError(
                f"splitter by_time: dev would begin on {begin['dev']:%Y-%m-%d}, not before test "
                f"({begin['test']:%Y-%m-%d}); change dev or test"
            )

        def part(moment: datetime | None) -> str:
            return next((name for name in begin if moment is not None and moment >= begin[name]), "train")

        return divide(
            data,
            ["train", *reversed(begin)],
            lambda article: part(article.published),
            lambda post: part(post.created_at),
        )
