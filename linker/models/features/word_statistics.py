"""Counts of words in a pool of posts, kept so that other posts are scored by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linker.common.errors import DataError

#: Words that are kept, the most frequent ones: about 2 MB of JSON.
_MOST_WORDS = 200_000


@dataclass(frozen=True)
class WordStatistics:
    """Counts of words in a pool of posts, for TF-IDF and BM25.

    Words of a single post are not kept: a word that is not in `frequencies` counts as one of a single post.

    Attributes:
        posts: number of posts, 1 or more.
        mean_length: mean number of words of a post.
        frequencies: number of posts that contain a word, 2 or more, by word.
    """

    posts: int
    mean_length: float
    frequencies: Mapping[str, int]

    @classmethod
    def of(cls, posts: Sequence[Sequence[str]]) -> WordStatistics:
        """Count the words of posts, each given by its words."""
        counts = Counter(word for words in posts for word in set(words))
        kept = sorted((-count, word) for word, count in counts.items() if count > 1)[:_MOST_WORDS]
        length = sum(map(len, posts)) / max(len(posts), 1)
        return cls(max(len(posts), 1), length or 1.0, {word: -count for count, word in kept})

    def as_json(self) -> dict[str, Any]:
        """Return the statistics as JSON values: words by the number of posts that contain them."""
        by_count: dict[int, list[str]] = {}
        for word, count in self.frequencies.items():
            by_count.setdefault(count, []).append(word)
        words = {str(count): " ".join(sorted(by_count[count])) for count in sorted(by_count)}
        return {"posts": self.posts, "mean_length": self.mean_length, "words": words}

    @classmethod
    def from_json(cls, values: Any) -> WordStatistics:
        """Return the statistics of `as_json`.

        Raises:
            DataError: if the values are not those of word statistics.
        """
        try:
            words = {word: int(count) for count, text in values["words"].items() for word in text.split(" ")}
            found = cls(int(values["posts"]), float(values["mean_length"]), words)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"not word statistics ({error})") from error
        if found.posts < 1 or not found.mean_length > 0:
            raise DataError("not word statistics (no posts)")
        return found


#: Statistics by the stop words that were removed, see `lexical_words`.
Statistics = Mapping[str, WordStatistics]
