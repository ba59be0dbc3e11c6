"""`linker.load(…).rank(…)`: the library's front door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from linker.data.columns import PostColumns
from linker.data.filter import Filter
from linker.data.formats.bad_lines import LineError
from linker.data.records import post_of, read_posts
from linker.data.types import Article, Post
from linker.errors import DataError, LinkerError, ModelError
from linker.evaluation.contenders import Contender, contenders
from linker.evaluation.dev_calibration import Calibration
from linker.evaluation.thresholds import Thresholds
from linker.models.model import Model
from linker.models.passages import Passages, reading
from linker.ranking.articles import check_source, is_url, load_articles
from linker.ranking.extraction import article_from_text
from linker.ranking.ranked import RankedPost
from linker.ranking.scored import ScoredPosts

AnyArticle: TypeAlias = "str | Path | Article"
AnyPosts: TypeAlias = "str | Path | Sequence[str | Path | Post | Mapping[str, Any]]"

_ENDINGS = (".html", ".htm", ".txt", ".md", ".json", ".jsonl", ".pdf")
_LONGEST_PATH = 1024


class Linker:
    """Ranks posts by how much they talk about an article.

    Args:
        model: what scores.
        name: how messages and files call it.
    """

    def __init__(self, model: Model, name: str = "model") -> None:
        self.model = model
        self.name = name

    def __repr__(self) -> str:
        return f"Linker({self.name!r})"

    def rank(
        self,
        article: AnyArticle | Sequence[AnyArticle],
        posts: AnyPosts,
        top: int | None = None,
        threshold: float | None = None,
        explain: bool = False,
        passages: Passages = "whole",
        offset: int = 0,
        filter: Filter | None = None,
        copies: bool = False,
    ) -> list[RankedPost]:
        """The posts, best first; equal scores in descending order of ids, as everywhere in retrieval.

        Of near-duplicates (retweets, copies that differ in a link or a word) the best is given, with how many others
        there are.

        Args:
            article: an address, the path of a file, a text, or an Article; a list of these is one query, in
                which a post's score is the mean of its scores for the single articles.
            posts: the path of a file, or a list of texts, Posts, dicts (with `text`; `id` and others if there
                are any) or Path objects.
            top: how many to return at most.
            threshold: leave out posts with a lower score.
            explain: fill `explanation`, as far as the model can tell; of whole articles only.
            passages: how articles are read: `whole`; or cut into passages, a post's score being that of the `best`
                of them, or their `mean`.
            offset: how many of the best to leave out before.
            filter: which posts to give; one without the field in question is left out. Scores stay as they are.
            copies: give near-duplicates one by one; of several hundred thousand posts, finding them takes a while.

        Raises:
            LinkerError: an article that cannot be fetched or read, or posts that cannot be; a condition on a field
                that no post has.
        """
        check_explaining(explain, passages)
        queries, candidates = as_articles(article), as_posts(posts)
        return self.scored(queries, candidates, passages).ranking(
            top, threshold, explain, offset, filter, copies
        )

    def thresholds(
        self,
        article: AnyArticle | Sequence[AnyArticle],
        posts: AnyPosts,
        evidence: Mapping[str, bool] | Calibration,
        passages: Passages = "whole",
        filter: Filter | None = None,
    ) -> Thresholds:
        """What thresholds on the scores keep and find, as far as labels tell.

        Args:
            article: as for `rank`.
            posts: as for `rank`.
            evidence: labels of some of these very posts, id → is it relevant; or what `linker calibrate` learned from
                other articles and posts.
            passages: as for `rank`.
            filter: as for `rank`; near-duplicates count one by one.

        Raises:
            LinkerError: as `rank`; labels of other posts only, or of one kind; a calibration with other passages.
        """
        queries, candidates = as_articles(article), as_posts(posts)
        return self.scored(queries, candidates, passages).thresholds(evidence, passages, filter)

    def score(
        self,
        articles: AnyArticle | Sequence[AnyArticle],
        posts: AnyPosts,
        passages: Passages = "whole",
    ) -> np.ndarray:
        """Scores of all pairs: float32, articles × posts; all may be given as for `rank`.

        Raises:
            ModelError: the model gave scores that are no numbers.
            LinkerError: as `rank`.
        """
        return self._finite(reading(self.model, passages).score(as_articles(articles), as_posts(posts)))

    def scored(
        self, articles: Sequence[Article], posts: Sequence[Post], passages: Passages = "whole"
    ) -> ScoredPosts:
        """The posts with their scores: the mean over the articles. A seed article does not compete with the others.

        Raises:
            ModelError: the model gave scores that are no numbers.
        """
        of_each = self._finite(reading(self.model, passages).score_alone(articles, posts))
        scores = of_each.mean(axis=0, dtype=np.float64).astype(np.float32)
        return ScoredPosts(self.model, articles, posts, scores)

    def _finite(self, scores: np.ndarray) -> np.ndarray:
        if not np.isfinite(scores).all():
            raise ModelError(f"{self.name}: gives scores that are not finite numbers; train it again")
        return scores


def check_explaining(explain: bool, passages: Passages) -> None:
    """See that explanations are asked for only where articles are read as a whole.

    Raises:
        LinkerError: they are not.
    """
    if explain and passages != "whole":
        raise LinkerError(f"explanations tell of whole articles: leave out explain, or passages = {passages}")


def load(path: str | Path) -> Linker:
    """A linker from a model folder, or from `best` or `distilled`, which linker brings along, `bm25` or `tfidf`.

    A Jsonnet file with the config of a model that needs no training works as well.

    Raises:
        ModelError: there is no such model, or its folder is damaged.
        ConfigError: a wrong config.
    """
    return find_model(path).load()


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model that is there, not loaded yet."""

    contender: Contender

    def load(self) -> Linker:
        """Load it.

        Raises:
            ModelError: its folder is damaged.
        """
        return Linker(self.contender.load(), self.contender.file_name)


def find_model(path: str | Path) -> FoundModel:
    """See whether there is such a model as `load` takes, without loading it.

    Raises:
        ModelError: there is none.
        ConfigError: a wrong config.
    """
    return FoundModel(contenders([str(path)])[0])


def as_articles(given: AnyArticle | Sequence[AnyArticle]) -> list[Article]:
    """Articles from whatever `Linker.rank` takes as such.

    Raises:
        LinkerError: one cannot be fetched or read, is empty, or the list is.
    """
    items = [given] if isinstance(given, (str, Path, Article)) else list(given)
    articles = [article for number, item in enumerate(items, 1) for article in _articles(item, number)]
    if not articles:
        raise DataError("no article was given")
    return articles


def _articles(item: AnyArticle, number: int) -> list[Article]:
    if isinstance(item, Article):
        return [item]
    if isinstance(item, Path) or is_url(item) or _is_path(item):
        return load_articles(item)
    if not item.strip():
        raise DataError("the article is empty")
    return [article_from_text(item, f"article-{number}")]


def _is_path(text: str) -> bool:
    """Is it the path of a file, not a text? What ends like a file's name is, even if the file is missing."""
    if "\n" in text or len(text) > _LONGEST_PATH or not text.strip():
        return False
    if text.lower().endswith(_ENDINGS) and " " not in text.strip():
        check_source(text)
        return True
    return Path(text).is_file()


def as_posts(given: AnyPosts) -> list[Post]:
    """Posts from whatever `Linker.rank` takes as such.

    Raises:
        DataError: a file cannot be read, a post has no text, two have the same id, or there is none.
    """
    if isinstance(given, (str, Path)):
        return read_posts(str(given))
    items = list(given)
    paths = [str(item) for item in items if isinstance(item, Path)]
    if paths and len(paths) == len(items):
        return read_posts(paths)
    posts = [_post(item, number) for number, item in enumerate(items, start=1)]
    first: dict[str, int] = {}
    for number, post in enumerate(posts, start=1):
        if (before := first.setdefault(post.id, number)) != number:
            raise DataError(f"posts {before} and {number} have the same id {post.id!r}; ids must differ")
    if not posts:
        raise DataError("no post was given")
    return posts


def _post(item: str | Path | Post | Mapping[str, Any], number: int) -> Post:
    if isinstance(item, Post):
        return item
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, Mapping):
        raise DataError(
            f"post {number} is {type(item).__name__}; give texts, Posts, dicts, or nothing but Paths"
        )
    try:
        return post_of(dict(item), PostColumns(id="id" if "id" in item else None), str(number))
    except LineError as error:
        raise DataError(f"post {number}: {error}") from error
