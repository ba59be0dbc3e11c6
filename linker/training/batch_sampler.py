"""Batch samplers: which articles and posts form a batch."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from linker.common.checks import at_least
from linker.common.errors import DataError
from linker.config import Registrable
from linker.data.types import Article, LinkedPosts


@dataclass(frozen=True)
class PairBatch:
    """Rows of the training set that form a batch.

    Attributes:
        articles: rows of its articles.
        posts: rows of its posts.
    """

    articles: list[int]
    posts: list[int]


class BatchSampler(Registrable):
    """Base class of batch samplers."""

    default_component = "linked_posts"

    #: Whether its batches have articles, which a loss of pairs needs.
    has_articles = True

    def epoch(self, data: LinkedPosts, seed: int) -> Iterator[PairBatch]:
        """Yield the batches of one epoch of the data; the same for the same seed.

        Raises:
            DataError: if there is nothing to learn from.
        """
        raise NotImplementedError

    def count(self, data: LinkedPosts) -> int:
        """Return the number of batches in an epoch of the data."""
        raise NotImplementedError


@BatchSampler.register("linked_posts")
class LinkedPostsSampler(BatchSampler):
    """Batches in which every article has a positive and hard negatives exist.

    In an epoch every linked post occurs once with each of its articles. Neighboring articles (of one story, or of one
    day if no story is given) are put into a batch together, because their posts are hard negatives; posts that belong
    to no article are spread over all batches as further negatives. No row occurs twice in a batch.

    Args:
        articles: articles in a batch.
        posts_per_article: posts of each article; its other posts come in later batches.
        articles_per_story: articles of one story or day that are put into a batch together; 1 mixes at random.
    """

    def __init__(self, articles: int = 16, posts_per_article: int = 2, articles_per_story: int = 4) -> None:
        at_least(
            1, articles=articles, posts_per_article=posts_per_article, articles_per_story=articles_per_story
        )
        self.articles, self.posts_per_article = articles, posts_per_article
        self.articles_per_story = articles_per_story

    @override
    def epoch(self, data: LinkedPosts, seed: int) -> Iterator[PairBatch]:
        rng = random.Random(seed)
        visits = self._visits(data, rng)
        if not visits:
            raise DataError("the training set links no post to any article: there is nothing to learn from")
        rng.shuffle(visits)
        neighbors: dict[str, list[tuple[int, list[int]]]] = {}
        for visit in visits:
            neighbors.setdefault(_neighborhood(data.articles[visit[0]]), []).append(visit)
        size = self.articles_per_story
        runs = [group[k : k + size] for group in neighbors.values() for k in range(0, len(group), size)]
        rng.shuffle(runs)
        ordered = [visit for run in runs for visit in run]
        batches = [ordered[i : i + self.articles] for i in range(0, len(ordered), self.articles)]
        unlinked = [j for j, post in enumerate(data.posts) if not post.article_ids]
        rng.shuffle(unlinked)
        for number, batch in enumerate(batches):
            posts = [j for _, chosen in batch for j in chosen] + unlinked[number :: len(batches)]
            yield PairBatch(list(dict.fromkeys(i for i, _ in batch)), list(dict.fromkeys(posts)))

    @override
    def count(self, data: LinkedPosts) -> int:
        return -(-len(self._visits(data, random.Random(0))) // self.articles)

    def _visits(self, data: LinkedPosts, rng: random.Random) -> list[tuple[int, list[int]]]:
        """Return (article, some of its posts) so that each post of each article is in one of them."""
        row = {article.id: i for i, article in enumerate(data.articles)}
        posts_of: list[list[int]] = [[] for _ in data.articles]
        for j, post in enumerate(data.posts):
            for article_id in post.article_ids:
                if article_id in row:
                    posts_of[row[article_id]].append(j)
        visits, step = [], self.posts_per_article
        for i, posts in enumerate(posts_of):
            rng.shuffle(posts)
            visits += [(i, posts[k : k + step]) for k in range(0, len(posts), step)]
        return visits


@BatchSampler.register("texts")
class TextSampler(BatchSampler):
    """Batches of posts without articles, for distillation; each epoch has the texts in another order.

    Args:
        size: texts in a batch. The rest of an epoch that does not fill a batch is left out, because in-batch
            similarities of a few texts teach little.
    """

    has_articles = False

    def __init__(self, size: int = 512) -> None:
        at_least(2, size=size)
        self.size = size

    @override
    def epoch(self, data: LinkedPosts, seed: int) -> Iterator[PairBatch]:
        order = np.random.default_rng(seed).permutation(len(data.posts)).tolist()
        size = min(self.size, len(order))
        for begin in range(0, self.count(data) * size, size):
            yield PairBatch([], order[begin : begin + size])

    @override
    def count(self, data: LinkedPosts) -> int:
        return max(len(data.posts) // self.size, 1)


def _neighborhood(article: Article) -> str:
    if article.story:
        return f"story {article.story}"
    return f"day {article.published.date()}" if article.published else "none"
