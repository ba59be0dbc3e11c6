"""Publication dates that a user states."""

from datetime import date, datetime, timedelta, timezone

import pytest

from linker.articles.publication import dated, publication_date
from linker.common.errors import DataError
from linker.data.types import Article

DAY = datetime(2024, 1, 16, tzinfo=timezone.utc)


def test_an_article_takes_the_date() -> None:
    assert publication_date("2024-01-16", "--published") == publication_date(date(2024, 1, 16), "x") == DAY
    hour = publication_date("2024-01-16T09:00+01:00", "--published")
    assert dated([Article("a", "text")], hour, "x") == [
        Article("a", "text", published=DAY + timedelta(hours=8))
    ]
    with pytest.raises(DataError, match="--published: 'soon' is not a date; write it like 2015-05-26"):
        publication_date("soon", "--published")


def test_the_date_of_one_article_is_replaced_and_of_several_added(capsys: pytest.CaptureFixture[str]) -> None:
    old = Article("a", "text", published=DAY - timedelta(days=1))
    assert dated([old], DAY, "--published")[0].published == DAY
    assert capsys.readouterr().err == "a: --published replaces the date 2024-01-15 00:00\n"
    articles = dated([old, Article("b", "text")], DAY, "--published")
    assert [article.published for article in articles] == [old.published, DAY]
    assert capsys.readouterr().err == "--published: 1 of 2 articles keep the date that they have\n"
