"""What meets in a batch."""

from collections import Counter

import pytest

from linker.common.errors import DataError
from linker.data.types import Article, LinkedPosts, Post
from linker.training.batch_sampler import LinkedPostsSampler


def test_every_link_comes_once_an_epoch_and_every_chatter_post_too(toy):
    batches = list(LinkedPostsSampler(articles=5, posts_per_article=2).epoch(toy, seed=1))
    assert len(batches) == LinkedPostsSampler(articles=5, posts_per_article=2).count(toy)
    seen = Counter(j for batch in batches for j in batch.posts)
    assert seen == Counter(range(len(toy.posts)))


def test_every_article_of_a_batch_has_a_positive_in_it(toy):
    links = toy.relevance()
    for seed in range(5):
        for batch in LinkedPostsSampler(articles=7).epoch(toy, seed):
            assert links[batch.articles][:, batch.posts].any(axis=1).all()
            assert len(set(batch.articles)) == len(batch.articles)
            assert len(set(batch.posts)) == len(batch.posts)


def test_neighbors_meet(toy):
    def partners(articles_per_story):
        """Mean number of articles of the same story that an article meets."""
        met = []
        for seed in range(20):
            for batch in LinkedPostsSampler(
                articles=6, posts_per_article=9, articles_per_story=articles_per_story
            ).epoch(toy, seed):
                stories = Counter(toy.articles[i].story for i in batch.articles)
                met += [count - 1 for count in stories.values() for _ in range(count)]
        return sum(met) / len(met)

    assert partners(articles_per_story=3) == 2
    assert partners(articles_per_story=1) < 1


def test_articles_of_one_day_are_neighbors_where_no_story_is_given(toy):
    articles = [Article(a.id, a.text, published=a.published) for a in toy.articles]
    for batch in LinkedPostsSampler(articles=6, posts_per_article=9, articles_per_story=6).epoch(
        LinkedPosts(articles, toy.posts), 0
    ):
        assert len({articles[i].published for i in batch.articles}) == 1


def test_the_seed_decides_the_batches(toy):
    def epoch(seed):
        return [(b.articles, b.posts) for b in LinkedPostsSampler().epoch(toy, seed)]

    assert epoch(3) == epoch(3)
    assert epoch(3) != epoch(4)


def test_no_links_is_an_error():
    data = LinkedPosts([Article("a", "text")], [Post("p", "text")])
    with pytest.raises(DataError, match="links no post"):
        list(LinkedPostsSampler().epoch(data, 0))
