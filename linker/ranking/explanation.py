"""Which words of the article and of the post carried a score.

What is said of a post depends on the article, the post, the model and the pile of all posts, never on which other posts
are shown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple, Protocol, runtime_checkable

from linker.data.types import Article, Post
from linker.ranking.contributions import Pile, PostsPile, SharesTerms, contributions, words_of
from linker.ranking.words import Span, WordWeights, align, is_content_word

_ARTICLE_WORDS = 20


class Explanation(NamedTuple):
    """What carried the score of one post.

    Attributes:
        article_words: the words of the seed articles that posts are searched for, at most 20, heaviest first; the same
            for all posts. They weigh (1 + ln n) · idf, n times in the article, idf over all posts, and add up to 1
            before they are cut to 20; or what the encoder pays attention to, where it can tell.
        post_words: the post's words, in order, with the part of the score that each carried; only those above 0.
        post_spans: where the content words stand in the post, as (start, end), that carried at least their share: those
            not lighter than the mean over all words of the post.
    """

    article_words: WordWeights
    post_words: WordWeights
    post_spans: list[Span]


@runtime_checkable
class WeighsTokens(Protocol):
    """A model that knows how much each token of a text counts in the text's vector (`SiameseModel`)."""

    max_article_tokens: int
    max_post_tokens: int

    def token_weights(self, texts: Sequence[str], max_tokens: int) -> list[WordWeights] | None:
        """All tokens of each text with their weights ≥ 0; None where the encoder cannot tell."""


def explain(
    model: object,
    articles: Sequence[Article],
    posts: Sequence[Post],
    chosen: Sequence[int],
    pile: Pile | None = None,
    encode: bool = True,
) -> list[Explanation] | None:
    """Explanations of the scores of the posts with the indices `chosen`; None if the model cannot tell.

    Args:
        model: what scored.
        articles: the query.
        posts: all posts of the pile, or some of them if `pile` knows the others.
        chosen: which are explained.
        pile: knows how rare words are; None: `posts` are all there are.
        encode: ask parts with vectors, too: some ten texts more to be encoded for each post that is explained.
    """
    some = [posts[i] for i in chosen]
    if isinstance(model, WeighsTokens) and not isinstance(model, SharesTerms):
        found = _from_tokens(model, articles, some)
        if found is not None:
            return found
    pile = pile or PostsPile(articles, posts, chosen)
    carried = contributions(model, articles, some, pile, encode)
    if carried is None:
        return None
    article_words = _telling_words(articles, pile)
    return [_explanation(article_words, own, post) for own, post in zip(carried, some)]


def _explanation(article_words: WordWeights, carried: dict[str, float], post: Post) -> Explanation:
    words = words_of(post.text)
    count = Counter(words)
    weights = [(word, max(carried.get(word, 0.0), 0.0) / count[word]) for word in words]
    return Explanation(article_words, _above_zero(weights), _spans(post.text, weights))


def _telling_words(articles: Sequence[Article], pile: Pile) -> WordWeights:
    """The content words of the articles that occur in posts, the rarer the heavier."""
    totals: defaultdict[str, float] = defaultdict(float)
    for article in articles:
        counts = Counter(word for word in words_of(article.full_text) if is_content_word(word))
        weights = pile.rarity(counts)
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
    return [(word, weight) for word, weight in weights if weight > 0]


def _spans(text: str, weights: WordWeights) -> list[Span]:
    """Where the content words stand in the text that carried at least their share; none overlap."""
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
    return apart
