"""What `linker rank` ranks: posts of files, or those of a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from linker.cli import status
from linker.cli.options import post_columns, with_option
from linker.cli.thresholds import identity, say
from linker.common.errors import LinkerError
from linker.models.pretrained import BEST

if TYPE_CHECKING:
    from linker.calibration.calibration import Calibration
    from linker.calibration.thresholds import Thresholds
    from linker.corpus.engines.engine import Engine
    from linker.corpus.search.fusion import Fusion
    from linker.data.post_filter import Filter
    from linker.data.types import Article, Post
    from linker.models.passage_pooling import Passages
    from linker.ranking.ranked_post import RankedPost
    from linker.ranking.ranker import Linker
    from linker.ranking.scores import ScoredPosts


@dataclass(frozen=True)
class Asked:
    """What both kinds of rankers are asked.

    Attributes:
        top: how many posts at most.
        explain: explain them.
        offset: how many of the best are left out before.
        conditions: which posts may be shown.
        copies: list near-duplicates one by one.
        passages: how articles are read.
        evidence: what is known of relevance.
    """

    top: int | None
    explain: bool
    passages: Passages
    evidence: Mapping[str, bool] | Calibration | None
    offset: int
    conditions: Filter
    copies: bool

    def check_model(self, fingerprint: str) -> None:
        """See that a calibration is of this model, and of articles read so.

        Raises:
            DataError: it is not.
        """
        if self.calibrated is not None:
            self.calibrated.check(fingerprint, self.passages)

    @property
    def calibrated(self) -> Calibration | None:
        """The evidence, if it is a calibration."""
        from linker.calibration.calibration import Calibration

        return self.evidence if isinstance(self.evidence, Calibration) else None


class PostsRanker:
    """Ranks posts of files. That there is such a model is found out at once, the rest when it is asked.

    Raises:
        LinkerError: columns that are none, no such model, or a calibration of another one.
    """

    def __init__(
        self,
        posts: list[str],
        model: str | None,
        column: list[str] | None,
        on_error: Literal["strict", "skip"],
        errors_dir: Path,
        asked: Asked,
    ) -> None:
        from linker.ranking.ranker import find_model

        self._columns = post_columns(column)
        self._found = find_model(model or BEST)
        self.name = self._found.contender.file_name
        self._files, self._on_error, self._errors_dir = posts, on_error, errors_dir
        self._asked, self._unnamed = asked, model is None
        self._scored: ScoredPosts | None = None
        asked.check_model(identity(self._found.contender))
        asked.conditions.left_out([])  # are they such that posts of files can be asked?

    def thresholds(self, articles: list[Article]) -> Thresholds | None:
        """What thresholds keep and find; None where nothing is known of relevance."""
        asked = self._asked
        if asked.evidence is None:
            return None
        return self._with_scores(articles).thresholds(asked.evidence, asked.passages, asked.conditions)

    def ranking(self, articles: list[Article], threshold: float | None) -> Sequence[RankedPost]:
        """The posts, best first."""
        asked = self._asked
        return self._with_scores(articles).ranking(
            asked.top, threshold, asked.explain, asked.offset, asked.conditions, asked.copies
        )

    def _with_scores(self, articles: list[Article]) -> ScoredPosts:
        if self._scored is None:
            status.step("reading the posts")
            posts = self._posts  # before the model is loaded: most mistakes are in files
            for sentence in self._asked.conditions.left_out(posts):
                say(sentence)
            status.step(f"loading {self.name}")
            linker = self._linker
            status.step(f"scoring {len(posts):,} posts")
            self._scored = linker.scored(articles, posts, self._asked.passages)
        return self._scored

    @cached_property
    def _posts(self) -> list[Post]:
        from linker.data.io.records import read_posts

        with with_option():
            return read_posts(self._files, self._columns, self._on_error, str(self._errors_dir))

    @cached_property
    def _linker(self) -> Linker:
        if self._unnamed:
            say(f"no --model given: ranking with `{BEST}`, the bundled model")
        return self._found.load()


class CorpusRanker:
    """Ranks the posts of a corpus.

    Raises:
        LinkerError: no such corpus or model, no index, or a calibration of another model.
    """

    def __init__(
        self,
        folder: Path,
        model: str | None,
        engine: Engine,
        fusion: Fusion | None,
        approximate: bool,
        asked: Asked,
    ) -> None:
        from linker.corpus.corpus import Corpus
        from linker.corpus.indexes.approximate import WANTED

        self._corpus = Corpus.open(folder, model, engine)
        self.name = self._corpus.name
        self._fusion: Fusion = fusion or "none"
        self._approximate, self._asked = approximate, asked
        asked.check_model(self._corpus.store.facts.fingerprint)
        if asked.calibrated and self._fusion != "none":
            raise LinkerError("--calibration: is of the model's own scores; leave out --fusion")
        if approximate:
            facts = self._corpus.index.facts
            say(
                f"approximate search: of the {WANTED} best posts it found {facts.told}, when the index was made"
            )
            if added := len(self._corpus) - facts.rows:
                say(
                    f"{added:,} posts were added since and are searched exactly; `linker corpus index` takes them in"
                )

    def thresholds(self, articles: list[Article]) -> Thresholds | None:
        """What thresholds keep and find; None where nothing is known of relevance."""
        asked = self._asked
        if asked.evidence is None:
            return None
        return self._corpus.thresholds(
            articles, asked.evidence, asked.conditions, asked.passages, self._fusion
        )

    def ranking(self, articles: list[Article], threshold: float | None) -> Sequence[RankedPost]:
        """The posts, best first."""
        asked = self._asked
        for sentence in self._corpus.left_out(asked.conditions):
            say(sentence)
        status.step("searching the corpus")
        return self._corpus.ranking(
            articles,
            asked.top,
            asked.offset,
            threshold,
            asked.conditions,
            asked.explain,
            asked.copies,
            asked.passages,
            self._fusion,
            self._approximate,
        )
