"""Neighboring passages of running text as articles and posts (De Boom et al. 2016, section 4.1)."""

import random
import re

from linker.common.errors import ConfigError, DataError
from linker.data.files.line_errors import OnError
from linker.data.io.columns import ArticleColumns
from linker.data.io.records import read_articles
from linker.data.readers.reader import PairReader
from linker.data.types import Article, LinkedPosts, Post

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+")


def plain_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation, with each run of digits replaced by 0."""
    return [_NUMBER.sub("0", word) for word in _WORD.findall(text.lower())]


@PairReader.register("passages")
class Passages(PairReader):
    """Reader of pairs of passages cut from articles: the first becomes an article, the second the post about it.

    The pairs of an article do not overlap. All have it as their `story`, so that the splitter `by_article` keeps them
    in one part.

    Paper: De Boom et al. 2016, https://arxiv.org/abs/1607.00570

    Args:
        articles: file or files of articles.
        min_words: number of words of the shortest passage.
        max_words: number of words of the longest passage; all lengths in between are equally frequent.
        skip: number of words left out between the two passages of a pair.
        columns: column names of the files.
        seed: random seed for the lengths; those of an article do not depend on the other articles.
        on_error: "strict" refuses files with invalid lines, "skip" sets these lines aside.

    Raises:
        ConfigError: if a number is out of range.
    """

    inputs = ("articles",)

    def __init__(
        self,
        articles: str | list[str],
        min_words: int = 10,
        max_words: int = 30,
        skip: int = 2,
        columns: ArticleColumns | None = None,
        seed: int = 0,
        on_error: OnError = "strict",
    ) -> None:
        if not 1 <= min_words <= max_words or skip < 0:
            raise ConfigError(
                f"reader passages: min_words {min_words}, max_words {max_words}, skip {skip}: "
                "1 ≤ min_words ≤ max_words and 0 ≤ skip must hold"
            )
        # Dates are not needed, so an invalid one must not stop the reader.
        self.articles, self.columns = articles, columns or ArticleColumns(published=None)
        self.min_words, self.max_words, self.skip, self.seed = min_words, max_words, skip, seed
        self.on_error = on_error

    def read(self) -> LinkedPosts:
        """Return all pairs, in file order.

        Raises:
            DataError: for invalid lines in strict mode, an unreadable file, or if no article is long enough.
        """
        firsts: list[Article] = []
        seconds: list[Post] = []
        for article in read_articles(self.articles, self.columns, self.on_error):
            rng = random.Random(f"{self.seed}:{article.id}")
            for number, (first, second) in enumerate(self._pairs(plain_words(article.text), rng), 1):
                pair_id, story = f"{article.id}:{number}", article.story or article.id
                firsts.append(Article(pair_id, first, story=story, split=article.split))
                seconds.append(Post(pair_id, second, (pair_id,), split=article.split))
        if not firsts:
            raise DataError(
                f"{self.articles}: no article is long enough for two passages of {self.min_words} words and "
                f"{self.skip} between them; lower min_words"
            )
        return LinkedPosts(firsts, seconds)

    def _pairs(self, words: list[str], rng: random.Random) -> list[tuple[str, str]]:
        pairs: list[tuple[str, str]] = []
        start = 0
        while True:
            first = start + rng.randint(self.min_words, self.max_words)
            second = first + self.skip
            end = second + rng.randint(self.min_words, self.max_words)
            if end > len(words):
                return pairs
            pairs.append((" ".join(words[start:first]), " ".join(words[second:end])))
            start = end
