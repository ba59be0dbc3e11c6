"""Which words of the article and of the post carried a score."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, Protocol, runtime_checkable

from linker.data.types import Article, Post
from linker.models.model import Model

WordWeights = list[tuple[str, float]]
Span = tuple[int, int]

_AHEAD = 80
"""Characters that are searched for the next token; links and invisible characters may lie between."""
_ARTICLE_WORDS = 20


class Explanation(NamedTuple):
    """What carried the score of one post.

    Attributes:
        article_words: the words of the seed articles that weighed most, at most 20, heaviest first.
        post_words: the post's words, in order; only those with a weight above 0.
        post_spans: where the words stand in the post, as (start, end), that carried at least their share: those
            not lighter than the mean over all words of the post. Some models give no word a weight of 0.
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


@runtime_checkable
class SharesTerms(Protocol):
    """A model whose scores are sums over the words that article and post share (BM25, TF-IDF)."""

    def shared_terms(
        self, articles: Sequence[Article], posts: Sequence[Post], chosen: Sequence[int]
    ) -> list[dict[str, float]]:
        """For each chosen post: shared word → its part of the score, the mean over the articles."""

    def post_words(self, post: Post) -> list[str]:
        """The words of a post, in order."""


def explain(
    model: object, articles: Sequence[Article], posts: Sequence[Post], chosen: Sequence[int]
) -> list[Explanation] | None:
    """Explanations of the scores of the posts with the indices `chosen`; None if the model cannot tell."""
    if isinstance(model, SharesTerms):
        shared = model.shared_terms(articles, posts, chosen)
        return [_from_terms(terms, posts[i], model.post_words(posts[i])) for i, terms in zip(chosen, shared)]
    if isinstance(model, WeighsTokens):
        return _from_tokens(model, articles, [posts[i] for i in chosen])
    parts = model.parts() if isinstance(model, Model) else ()
    told = [found for part in parts if (found := explain(part, articles, posts, chosen)) is not None]
    return [_together(own) for own in zip(*told)] if told else None


def _together(told: Sequence[Explanation]) -> Explanation:
    """What several parts of a model say; each has as much to say as the others."""
    in_articles: defaultdict[str, float] = defaultdict(float)
    in_post: defaultdict[str, float] = defaultdict(float)
    for own in told:
        for totals, words in ((in_articles, own.article_words), (in_post, own.post_words)):
            whole = sum(weight for _, weight in words)
            for word, weight in words:
                totals[word] += weight / whole / len(told)
    spans = sorted({span for own in told for span in own.post_spans})
    return Explanation(_heaviest(in_articles), list(in_post.items()), _apart(spans))


def _apart(spans: Sequence[Span]) -> list[Span]:
    """Places that do not overlap, in order; those that do become one."""
    apart: list[Span] = []
    for start, end in spans:
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _from_terms(terms: dict[str, float], post: Post, words: list[str]) -> Explanation:
    count = Counter(words)
    weights = [(word, terms.get(word, 0.0) / count[word]) for word in words]
    return Explanation(_heaviest(terms), _above_zero(weights), _spans(post.text, weights))


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
    """The words that weigh most; tokens without a letter or digit say nothing to a reader."""
    words = [(word, weight) for word, weight in weights.items() if weight > 0 and re.search(r"[^\W_]", word)]
    return sorted(words, key=lambda item: (-item[1], item[0]))[:_ARTICLE_WORDS]


def _above_zero(weights: Iterable[tuple[str, float]]) -> WordWeights:
    return [(word, weight) for word, weight in weights if weight > 0]


def _spans(text: str, weights: WordWeights) -> list[Span]:
    """Where the tokens stand in the text that carried at least their share."""
    share = sum(weight for _, weight in weights) / max(len(weights), 1)
    places = align(text, [token for token, _ in weights])
    return [place for place, (_, weight) in zip(places, weights) if place and 0 < weight >= share]


def align(text: str, tokens: Sequence[str]) -> list[Span | None]:
    """The place of each token in the text it was made from; None where it is not there as it is (`<user>`).

    Tokens stand in the order of the text, in other case perhaps. Only the parts of a hashtag may stand within
    the token before them.
    """
    text = text.replace("’", "'")
    lowered = text.lower()
    if len(lowered) != len(text):  # some letters are longer in lower case: leave those as they are
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return list(_places(lowered, tokens))


def _places(text: str, tokens: Sequence[str]) -> Iterator[Span | None]:
    position, tag = 0, (0, 0)
    for token in tokens:
        token = token.lower()
        within = text.find(token, *tag) if len(token) < tag[1] - tag[0] else -1
        if within >= 0:
            yield within, within + len(token)
            continue
        start = text.find(token, position, position + _AHEAD + len(token))
        if start < 0:
            yield None
            continue
        position = start + len(token)
        tag = (start, position) if "#" in (text[start], text[start - 1 : start]) else (0, 0)
        yield start, position
