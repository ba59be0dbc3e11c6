"""Divisions leak nothing and hold still."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from linker.common.errors import ConfigError, DataError
from linker.data import Article, DataSource, LinkedPosts, Post, Splits
from linker.data.readers.reader import PairReader
from linker.data.splitters.by_article import ByArticleSplitter
from linker.data.splitters.by_column import ByColumnSplitter
from linker.data.splitters.by_time import ByTimeSplitter


def day(number: int) -> datetime:
    return datetime(2014, 1, 1, tzinfo=timezone.utc) + timedelta(days=number)


def many(count: int = 200, posts_each: int = 2) -> LinkedPosts:
    articles = [Article(f"a{i}", "text", published=day(i // 2)) for i in range(count)]
    posts = [Post(f"p{i}.{j}", "text", (f"a{i}",)) for i in range(count) for j in range(posts_each)]
    return LinkedPosts(articles, posts)


def parts_of(splits: Splits) -> dict[str, LinkedPosts]:
    return {name: part for name, part in vars(splits).items() if part is not None}


def article_ids(part: LinkedPosts | None) -> list[str]:
    assert part is not None
    return [article.id for article in part.articles]


def assert_no_leak(splits: Splits, data: LinkedPosts) -> None:
    """Every article and post is in exactly one part, and links stay inside."""
    parts = parts_of(splits)
    assert sorted(i for part in parts.values() for i in article_ids(part)) == sorted(article_ids(data))
    assert sorted(p.id for part in parts.values() for p in part.posts) == sorted(p.id for p in data.posts)
    for part in parts.values():
        here = set(article_ids(part))
        assert all(set(post.article_ids) <= here for post in part.posts)


linked = st.lists(st.lists(st.integers(0, 29), max_size=4), min_size=1, max_size=60).map(
    lambda links: LinkedPosts(
        [Article(f"a{i}", "x", story=f"s{i % 9}" if i % 2 else None, published=day(i)) for i in range(30)],
        [Post(f"p{j}", "x", tuple(dict.fromkeys(f"a{i}" for i in ids))) for j, ids in enumerate(links)],
    )
)


@given(linked, st.integers(0, 5), st.booleans())
def test_by_article_and_by_time_never_leak(data: LinkedPosts, seed: int, by_time: bool) -> None:
    splitter = ByTimeSplitter(0.2, 0.2) if by_time else ByArticleSplitter(0.5, 0.25, 0.25, seed)
    try:
        splits = splitter.split(data)
    except DataError as error:
        event(str(error))  # some draws leave a part empty
        return
    assert_no_leak(splits, data)
    before = {post.id: post for post in data.posts}
    for part in parts_of(splits).values():
        for post in part.posts:
            # The first article decides, so a post about an article never becomes one about nothing.
            assert post.article_ids[:1] == before[post.id].article_ids[:1]
        if not by_time:
            stories = {article.story for article in part.articles if article.story}
            others = [other for other in parts_of(splits).values() if other is not part]
            assert not stories & {article.story for other in others for article in other.articles}


def test_by_article_holds_still_when_articles_come_and_go() -> None:
    splitter = ByArticleSplitter(seed=3)
    small, large = splitter.split(many(200)), splitter.split(many(400))
    for name, part in parts_of(small).items():
        assert article_ids(part) == [i for i in article_ids(getattr(large, name)) if int(i[1:]) < 200]
    assert article_ids(splitter.split(many(200)).dev) == article_ids(small.dev)
    assert article_ids(ByArticleSplitter(seed=4).split(many(200)).dev) != article_ids(small.dev)


def test_by_article_shares() -> None:
    splits = ByArticleSplitter(0.7, 0.2, 0.1).split(many(3000, 1))
    sizes = {name: len(part.articles) / 3000 for name, part in parts_of(splits).items()}
    # Four standard deviations of a binomial share.
    assert sizes == pytest.approx({"train": 0.7, "dev": 0.2, "test": 0.1}, abs=0.034)
    assert ByArticleSplitter(0.7, 0.3, 0).split(many()).test is None


def test_stories_may_be_divided() -> None:
    articles = [Article(f"a{i}", "x", story="one") for i in range(100)]
    data = LinkedPosts(articles, [Post(f"p{i}", "x", (f"a{i}",)) for i in range(100)])
    assert_no_leak(ByArticleSplitter(keep_stories=False).split(data), data)
    with pytest.raises(DataError, match="would have no link"):
        ByArticleSplitter().split(data)


def test_by_time_shares_do_not_divide_a_day() -> None:
    splits = ByTimeSplitter(0.1, 0.25).split(many(100))
    assert article_ids(splits.test) == [f"a{i}" for i in range(74, 100)]
    assert article_ids(splits.dev) == [f"a{i}" for i in range(64, 74)]


def test_by_time_unlinked_posts_go_by_their_own_date() -> None:
    data = many(20)
    data.posts.extend([Post("late", "x", created_at=day(9)), Post("early", "x", created_at=day(1))])
    data.posts.append(Post("?", "x"))
    splits = ByTimeSplitter(0.3).split(data)
    assert splits.dev is not None
    assert [post.id for post in splits.train.posts if not post.article_ids] == ["early", "?"]
    assert [post.id for post in splits.dev.posts if not post.article_ids] == ["late"]


def test_by_time_needs_dates() -> None:
    data = many(4)
    data.articles.append(Article("undated", "x"))
    with pytest.raises(DataError, match=r"1 of 5 articles have no `published` date \(first: undated\)"):
        ByTimeSplitter().split(data)


def test_settings_that_make_no_sense() -> None:
    for make in [
        lambda: ByArticleSplitter(0.8, 0.3, 0.1),
        lambda: ByArticleSplitter(0, 0.5, 0.5),
        lambda: ByArticleSplitter(1.2, -0.2, 0),
        lambda: ByTimeSplitter(1.5),
        lambda: ByColumnSplitter("a", "a"),
    ]:
        with pytest.raises((ConfigError, ValueError)):
            make()


def test_by_time_dev_must_precede_test() -> None:
    with pytest.raises(DataError, match="not before test"):
        ByTimeSplitter(0.001, 0.001).split(many())


def test_given_by_articles_and_posts() -> None:
    articles = [Article("a", "x", split="train"), *(Article(i, "x", split="dev") for i in ("b", "lone"))]
    posts = [Post("1", "x", ("a",)), Post("2", "x", ("b",), split="dev"), Post("3", "x", split="dev")]
    splits = ByColumnSplitter().split(LinkedPosts(articles, posts))
    assert article_ids(splits.train) == ["a"]
    assert article_ids(splits.dev) == ["b", "lone"]
    assert splits.dev is not None
    assert [post.id for post in splits.dev.posts] == ["2", "3"]
    assert splits.test is None


def test_given_by_posts_alone(capsys: pytest.CaptureFixture[str]) -> None:
    articles = [Article(name, "x") for name in ("a", "b", "lone")]
    posts = [Post("1", "x", ("a",), split="train"), Post("2", "x", ("a",), split="extra")]
    posts += [Post("3", "x", ("b",), split="dev-test"), Post("4", "x", ("b",), split="spare")]
    splits = ByColumnSplitter(["train", "extra"], None, "dev-test").split(LinkedPosts(articles, posts))
    assert article_ids(splits.train) == ["a"]
    assert article_ids(splits.test) == ["a", "b", "lone"]
    assert splits.dev is None
    assert "posts without a part: 1 with split 'spare'" in capsys.readouterr().err


def test_given_cuts_links_across_but_refuses_a_post_without_its_articles() -> None:
    articles = [Article("a", "x", split="train"), Article("b", "x", split="dev")]
    posts = [Post("1", "x", ("a", "b"), split="train"), Post("2", "x", ("b", "a"), split="dev")]
    splits = ByColumnSplitter().split(LinkedPosts(articles, posts))
    assert [post.article_ids for post in splits.train.posts] == [("a",)]
    with pytest.raises(DataError, match=r"post 3 .* and its article a are in different parts"):
        ByColumnSplitter().split(LinkedPosts(articles, [*posts, Post("3", "x", ("a",), split="dev")]))


def test_given_without_any_split_or_with_an_empty_part() -> None:
    with pytest.raises(DataError, match="the column `split` is missing or empty"):
        ByColumnSplitter().split(many(3))
    train_only = LinkedPosts([Article("a", "x")], [Post("1", "x", ("a",), split="train")])
    with pytest.raises(DataError, match=r"the part dev \(split dev\) would have no link"):
        ByColumnSplitter().split(train_only)
    assert len(ByColumnSplitter(dev=None).split(train_only).train.posts) == 1


class Fixed(PairReader):
    def __init__(self, data: LinkedPosts) -> None:
        self.data = data

    def read(self) -> LinkedPosts:
        return self.data


def test_data_without_any_split_are_divided_by_article_and_that_is_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert DataSource(Fixed(many(200))).load() == ByArticleSplitter().split(many(200))
    told = capsys.readouterr().err.replace("\n", " ")
    assert "no column `split`" in told
    assert "80% train, 10% dev, 10% test" in told


def test_data_source_goes_by_the_files_by_default() -> None:
    articles = [Article("a", "x", split="train"), Article("b", "x", split="dev")]
    reader = Fixed(LinkedPosts(articles, [Post("1", "x", ("a",)), Post("2", "x", ("b",))]))
    assert article_ids(DataSource(reader).load().dev) == ["b"]
    with pytest.raises(DataError):
        DataSource(reader, ByTimeSplitter()).load()
