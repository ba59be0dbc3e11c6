"""Statistics of a corpus for explanations: how rare words are in all its posts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linker.corpus.indexes.id_set import keys_of
from linker.corpus.indexes.tfidf import TfidfQuery
from linker.corpus.search.parts import Parts
from linker.data.types import Article, Post
from linker.models.lexical import BM25Model, TfidfModel, mean_terms
from linker.ranking.contributions import Carried, SharesTerms, rarity


class CorpusStatistics:
    """Word statistics of the posts of a corpus.

    Args:
        parts: the parts of the model.
        articles: the query.
    """

    def __init__(self, parts: Parts, articles: Sequence[Article]) -> None:
        self._parts, self._articles = parts, articles
        self._tfidf: dict[str, list[TfidfQuery]] = {}

    def terms(self, part: SharesTerms, posts: Sequence[Post]) -> Carried:
        """Return what `Statistics.terms` describes."""
        if isinstance(part, TfidfModel):
            if part.stop_words not in self._tfidf:
                self._tfidf[part.stop_words] = [
                    TfidfQuery(self._parts.postings(part.stop_words_for(article)), article)
                    for article in self._articles
                ]
            queries = self._tfidf[part.stop_words]
            return [mean_terms([query.terms(post.text) for query in queries]) for post in posts]
        assert isinstance(part, BM25Model)  # a corpus scores no other lexical model
        postings = self._parts.postings(part.stop_words)
        return [postings.terms(self._articles, post.text, part.k1, part.b) for post in posts]

    def rarity(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return what `Statistics.rarity` describes."""
        words = sorted(counts)
        postings = self._parts.postings("english")
        containing = postings.containing(keys_of(words)[:, 0]).tolist()
        return rarity(counts, dict(zip(words, containing)), postings.posts)
