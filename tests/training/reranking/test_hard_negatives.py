"""Lists for cross-encoders: a relevant pair and what another model ranks high."""

import pytest

from linker.common.errors import ConfigError, DataError
from linker.data.types import Article, LinkedPosts, Post
from linker.models.lexical import TfidfModel
from linker.training.reranking.hard_negatives import HardNegativesSampler


def lists_of(sampler, data, seed=0):
    """Every list of an epoch, as (article, post) pairs."""
    found = []
    for batch in sampler.epoch(data, seed):
        assert len(batch.articles) == len(batch.posts) == batch.lists * (1 + sampler.negatives)
        pairs = list(zip(batch.articles, batch.posts))
        found += [pairs[i : i + 1 + sampler.negatives] for i in range(0, len(pairs), 1 + sampler.negatives)]
    return found


def test_every_post_and_every_article_with_a_link_is_an_anchor_once(toy):
    sampler = HardNegativesSampler("tfidf", lists=5, negatives=3)
    lists = lists_of(sampler, toy)
    links = toy.relevance()
    linked_posts = [j for j, post in enumerate(toy.posts) if post.article_ids]
    by_post = [pairs for pairs in lists if len({j for _, j in pairs}) == 1]
    by_article = [pairs for pairs in lists if len({i for i, _ in pairs}) == 1]
    assert sorted(pairs[0][1] for pairs in by_post) == linked_posts
    assert sorted(pairs[0][0] for pairs in by_article) == list(range(len(toy.articles)))
    assert len(lists) == len(by_post) + len(by_article)
    for pairs in lists:
        assert [bool(links[pair]) for pair in pairs] == [True, False, False, False]
    assert sampler.count(toy) == len(list(sampler.epoch(toy, 1))) == -(-len(lists) // 5)


def test_negatives_are_from_the_ranks_asked_for(toy):
    sampler = HardNegativesSampler("tfidf", negatives=4, ranks=[3, 8])
    links = toy.relevance()
    scores = TfidfModel().score_independently(toy.articles, toy.posts)
    for pairs in lists_of(sampler, toy):
        (i, j), others = pairs[0], pairs[1:]
        by_post = len({post for _, post in pairs}) == 1
        irrelevant = ~links[:, j] if by_post else ~links[i]
        ranked = sorted((scores[:, j] if by_post else scores[i])[irrelevant], reverse=True)
        for pair in others:
            # Up to equal scores.
            assert ranked[7] <= scores[pair] <= ranked[2]


def test_the_same_seed_gives_the_same_lists_and_another_one_others(toy):
    sampler, again = (HardNegativesSampler("tfidf", negatives=2) for _ in range(2))
    assert lists_of(sampler, toy, 3) == lists_of(again, toy, 3) != lists_of(sampler, toy, 4)


def test_few_negatives_occur_repeatedly():
    data = LinkedPosts(
        [Article("a", "cat"), Article("b", "dog")], [Post("p", "cat", ("a",)), Post("q", "dog", ("b",))]
    )
    for pairs in lists_of(HardNegativesSampler("tfidf", negatives=3), data):
        assert len(pairs) == 4
        assert len(set(pairs)) == 2


def test_chunks_of_articles_give_the_same_ranks(toy, monkeypatch):
    whole = lists_of(HardNegativesSampler("bm25", ranks=[1, 5], negatives=2), toy)
    monkeypatch.setattr("linker.training.reranking.hard_negatives._ARTICLES_AT_ONCE", 4)
    assert lists_of(HardNegativesSampler("bm25", ranks=[1, 5], negatives=2), toy) == whole


def test_nothing_but_relevant_pairs_is_refused():
    data = LinkedPosts([Article("a", "cat")], [Post("p", "cat", ("a",))])
    with pytest.raises(DataError, match="nothing to learn"):
        HardNegativesSampler("tfidf").count(data)


@pytest.mark.parametrize("ranks", [[1], [0, 4], [4, 4], [5, 2]])
def test_ranks_that_are_none_are_refused(ranks):
    with pytest.raises(ConfigError, match="must be two ranks, ascending"):
        HardNegativesSampler(ranks=ranks)
