"""Explain scores: which words of the article and of the post contributed.

An explanation depends on the article, the post, the model and all posts that were scored, not on which posts are shown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

from linker.data.types import Article, Post
from linker.ranking.contributions import PostsStatistics, SharesTerms, Statistics, contributions, words_of
from linker.models.content_words import Span, WordWeights, align, is_content_word

_ARTICLE_WORDS = 20


class Explanation(NamedTuple):
    """Words that contributed to the score of a post, and the parts of the score.

    Attributes:
        article_words: up to 20 content words of the articles with weights, heaviest first; the same for all posts.
            Weights are (1 + ln n) · idf for n occurrences in the article, idf over all posts, and add up to 1 over all
            words; or the encoder's attention, if it has any.
        post_words: the post's content words, in order, with their contributions to the raw score; only those above 0.
        post_spans: (start, end) of the content words in the post that contributed at least the mean over its words.
        shares: `text_similarity`, `shared_words` and `date`, those that the model considers → whole percentages of the
            difference to the average of all posts. Absolute values add up to 100; negative ones lowered the score.
    """

    article_words: WordWeights
    post_words: WordWeights
    post_spans: list[Span]
    shares: Mapping[str, int] = MappingProxyType({})

    @property
    def decided_by(self) -> str:
        """Return the shares as text, such as `text similarity 70 %, shared words 20 %, date 10 % against it`."""
        return ", ".join(
            f"{name.replace('_', ' ')} {abs(value)} %{' against it' if value < 0 else ''}"
            for name, value in self.shares.items()
        )


@runtime_checkable
class WeighsTokens(Protocol):
    """A model that gives the weight of each token in a text's embedding (`SiameseModel`)."""

    max_article_tokens: int
    max_post_tokens: int

    def token_weights(self, texts: Sequence[str], max_tokens: int) -> list[WordWeights] | None:
        """Return all tokens of each text with their weights ≥ 0; None if the encoder has no weights."""


def explain(
    model: object,
    articles: Sequence[Article],
    posts: Sequence[Post],
    chosen: Sequence[int],
    statistics: Statistics | None = None,
    encode: bool = True,
) -> list[Explanation] | None:
    """Explain the scores of the chosen posts; None if the model cannot be explained.

    Args:
        model: the model that scored the posts.
        articles: the query.
        posts: all posts, or some of them if `statistics` covers all.
        chosen: indices of the posts to explain.
        statistics: word statistics of all posts; None: of `posts`.
        encode: explain models with embeddings, too: about ten more texts to encode per explained post.
    """
    some = [posts[i] for i in chosen]
    if isinstance(model, WeighsTokens) and not isinstance(model, SharesTerms):
        found = _from_tokens(model, articles, some)
        if found is not None:
            return found
    statistics = statistics or PostsStatistics(articles, posts, chosen)
    carried = contributions(model, articles, some, statistics, encode)
    if carried is None:
        return None
    article_words = _weighted_words(articles, statistics)
    return [_explanation(article_words, words, post) for words, post in zip(carried, some)]


def with_shares(
    explanations: Sequence[Explanation], of_posts: Sequence[Mapping[str, int]]
) -> list[Explanation]:
    """Return the explanations with the shares of each post's score."""
    return [one._replace(shares=shares) for one, shares in zip(explanations, of_posts)]


def _explanation(article_words: WordWeights, carried: dict[str, float], post: Post) -> Explanation:
    words = words_of(post.text)
    count = Counter(words)
    weights = [(word, max(carried.get(word, 0.0), 0.0) / count[word]) for word in words]
    return Explanation(article_words, _above_zero(weights), _spans(post.text, weights))


def _weighted_words(articles: Sequence[Article], statistics: Statistics) -> WordWeights:
    """Weigh the content words of the articles that occur in posts; rare words weigh more."""
    totals: defaultdict[str, float] = defaultdict(float)
    for article in articles:
        counts = Counter(word for word in words_of(article.full_text) if is_content_word(word))
        weights = statistics.rarity(counts)
        whole = sum(weights.values()) or 1
        for word, weight in weights.items():
            totals[word] += weight / whole / len(articles)
    return _heaviest(totals)


def _from_tokens(
    model: WeighsTokens, articles: Sequence[Article], posts: Sequence[Post]
) -> list[Explanation] | None:
    in_articles = model.token_weights([article.full_text for article in articles], model.max_article_tokens)
    in_posts = model.token_weights([post.text for post in posts], model.max_post_tokens)
    if in_articles is None or in_posts is None:
        return None
    totals: defaultdict[str, float] = defaultdict(float)
    for token, weight in chain.from_iterable(in_articles):
        totals[token] += weight / len(articles)
    heaviest = _heaviest(totals)
    return [
        Explanation(heaviest, _above_zero(weights), _spans(post.text, weights))
        for post, weights in zip(posts, in_posts)
    ]


def _heaviest(weights: dict[str, float]) -> WordWeights:
    words = [(word, weight) for word, weight in weights.items() if weight > 0 and is_content_word(word)]
    return sorted(words, key=lambda item: (-item[1], item[0]))[:_ARTICLE_WORDS]


def _above_zero(weights: Iterable[tuple[str, float]]) -> WordWeights:
    return [(word, weight) for word, weight in weights if weight > 0 and is_content_word(word)]


def _spans(text: str, weights: WordWeights) -> list[Span]:
    """Return the spans of content words with at least the mean weight, without overlaps."""
    share = sum(weight for _, weight in weights) / max(len(weights), 1)
    places = align(text, [token for token, _ in weights])
    spans = sorted(
        place
        for place, (word, weight) in zip(places, weights)
        if place and 0 < weight >= share and is_content_word(word)
    )
    apart: list[Span] = []
    for start, end in spans:
        if not apart or start >= apart[-1][1]:
            apart.append((start, end))
        elif start > apart[-1][0] and end > apart[-1][1]:  # pairs of characters, of a script without spaces
            apart[-1] = (apart[-1][0], end)
    return apart
