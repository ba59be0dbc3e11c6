"""`linker.load(…).rank(…)`: the library's front door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from linker.calibration.calibration import Calibration
from linker.calibration.thresholds import Thresholds
from linker.common.errors import LinkerError, ModelError
from linker.data.post_filter import Filter
from linker.data.types import Article, Post
from linker.models.model import Model, embedding_submodel
from linker.models.passage_pooling import Passages, with_passages
from linker.models.resolve import Contender, contenders
from linker.ranking.data_frames import frame_of
from linker.ranking.inputs import AnyArticles, AnyColumns, AnyPosts, as_articles, as_posts
from linker.ranking.results import Ranking
from linker.ranking.scores import ScoredPosts


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
        article: AnyArticles,
        posts: AnyPosts,
        top: int | None = None,
        threshold: float | None = None,
        explain: bool = False,
        passages: Passages = "whole",
        offset: int = 0,
        filter: Filter | None = None,
        copies: bool = False,
        columns: AnyColumns | None = None,
    ) -> Ranking:
        """The posts, best first; equal scores in descending order of ids, as everywhere in retrieval.

        Of near-duplicates (retweets, copies that differ in a link or a word) the best is given, with how many others
        there are.

        Args:
            article: a web address, the path of a file, a text, an Article, or a dict (with `title`, `text` or both); a
                list or data frame of these is one query, in which a post's score is the mean of its scores for
                the single articles.
            posts: the path of a file; a list, or any other iterable, of texts, Posts, dicts (with `text`; `id`,
                `created_at` and others if there are any) or Path objects; one Post or dict; or a data frame, or a
                Series of texts, of pandas, polars or PyArrow.
            top: how many to return at most.
            threshold: leave out posts with a lower score.
            explain: fill `explanation`, as far as the model can tell; of whole articles only.
            passages: how articles are read: `whole`; or cut into passages, a post's score being that of the `best`
                of them, or their `mean`.
            offset: how many of the best to leave out before.
            filter: which posts to give; one without the field in question is left out. Scores stay as they are.
            copies: give near-duplicates one by one; of several hundred thousand posts, finding them takes a while.
            columns: what the columns or keys are called that hold the posts, such as `{"text": "body"}`.

        Returns:
            A sequence of RankedPost, which notebooks show as a table; see `Ranking`.

        Raises:
            LinkerError: an article that cannot be fetched or read, or posts that cannot be; a condition on a field
                that no post has.
        """
        check_explaining(explain, passages)
        queries, frame = as_articles(article), frame_of(posts)
        candidates = as_posts(posts if frame is None else frame, columns)
        ranked = self.scored(queries, candidates, passages).ranking(
            top, threshold, explain, offset, filter, copies
        )
        ids = [post.id for post in candidates] if frame is not None else []
        return Ranking(ranked, queries, self.name, frame, ids)

    def thresholds(
        self,
        article: AnyArticles,
        posts: AnyPosts,
        evidence: Mapping[str, bool] | Calibration,
        passages: Passages = "whole",
        filter: Filter | None = None,
        columns: AnyColumns | None = None,
    ) -> Thresholds:
        """What thresholds on the scores keep and find, as far as labels tell.

        Args:
            article: as for `rank`.
            posts: as for `rank`.
            evidence: labels of some of these very posts, id → is it relevant; or what `linker calibrate` learned from
                other articles and posts.
            passages: as for `rank`.
            filter: as for `rank`; near-duplicates count one by one.
            columns: as for `rank`.

        Raises:
            LinkerError: as `rank`; labels of other posts only, or of one kind; a calibration with other passages.
        """
        queries, candidates = as_articles(article), as_posts(posts, columns)
        return self.scored(queries, candidates, passages).thresholds(evidence, passages, filter)

    def score(
        self,
        articles: AnyArticles,
        posts: AnyPosts,
        passages: Passages = "whole",
        columns: AnyColumns | None = None,
    ) -> npt.NDArray[np.float32]:
        """Scores of all pairs: float32, articles × posts, in the order given; all may be given as for `rank`.

        Raises:
            ModelError: the model gave scores that are no numbers.
            LinkerError: as `rank`.
        """
        return self._finite(
            with_passages(self.model, passages).score(as_articles(articles), as_posts(posts, columns))
        )

    def encode(
        self,
        texts: AnyPosts | AnyArticles,
        kind: Literal["post", "article"] = "post",
        columns: AnyColumns | None = None,
    ) -> npt.NDArray[np.float32]:
        """Embeddings of texts, as the model compares them: one row a text, in the order given.

        Of a model that is made of parts, such as `best`, they are those of its outermost part that has embeddings; the
        model's own scores count other things, too.

        Args:
            texts: a list of texts, or whatever else `rank` takes as posts or articles; a single text is a list of one.
            kind: whether the texts are posts or articles; models may read the two differently.
            columns: as for `rank`.

        Returns:
            float32, texts × dimensions; of unit length where the model compares by cosine, so that products are
            cosines.

        Raises:
            ModelError: the model has no embeddings, as `bm25` and `tfidf`.
            LinkerError: texts that cannot be read.
        """
        if kind not in ("post", "article"):
            raise LinkerError(f'kind is {kind!r}; choose "post" or "article"')
        if isinstance(texts, str):
            raise LinkerError("texts is a single text; give a list: [text]")
        part = embedding_submodel(self.model)
        if part is None:
            raise ModelError(
                f"{self.name}: compares words and has no embeddings; encode with best, distilled or a trained model"
            )
        if kind == "post":
            vectors = part.post_vectors(as_posts(cast(AnyPosts, texts), columns))
        else:
            vectors = part.article_vectors(as_articles(cast(AnyArticles, texts)))
        assert vectors is not None  # the part has vectors
        return np.asarray(vectors, dtype=np.float32)

    def scored(
        self, articles: Sequence[Article], posts: Sequence[Post], passages: Passages = "whole"
    ) -> ScoredPosts:
        """The posts with their scores: the mean over the articles. A seed article does not compete with the others.

        Raises:
            ModelError: the model gave scores that are no numbers.
        """
        of_each = self._finite(with_passages(self.model, passages).score_independently(articles, posts))
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
