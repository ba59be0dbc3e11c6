"""The options of a ranking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from linker.calibration.thresholds import check_targets
from linker.common.errors import LinkerError

if TYPE_CHECKING:
    from linker.articles.publication import Published
    from linker.calibration.calibration import Calibration
    from linker.data.labels.post_labels import LabelFile
    from linker.data.post_filter import Filter
    from linker.data.types import Article
    from linker.ranking.inputs import AnyColumns
    from linker.ranking.labels import AnyLabels


class RankOptions(TypedDict, total=False):
    """Options of `Corpus.rank`, given by name; `RankRequest` says what they are."""

    offset: int
    threshold: float | None
    precision: float | None
    recall: float | None
    confident: bool
    labels: AnyLabels | None
    calibration: Calibration | None
    explain: bool
    filter: Filter | None
    copies: bool
    ignore_dates: bool


class RankerOptions(RankOptions, total=False):
    """Options of `Ranker.rank`, which also reads the posts."""

    top: int | None
    columns: AnyColumns | None
    format: str | None
    published: Published | None


@dataclass(frozen=True)
class RankRequest:
    """Options of a ranking, checked when they are put together.

    Attributes:
        top: number of posts to return; None: all.
        offset: number of the best posts to skip.
        threshold: leave out posts with a lower score, 0 to 100.
        precision: leave out posts below the lowest threshold that reaches this precision, above 0 and up to 1.
        recall: leave out posts below the highest threshold that reaches this estimated recall, above 0 and up to 1.
        confident: reach `recall` with 95 % confidence, not by the estimate.
        labels: relevance of some of the posts, which gives every post a probability: a dict or Series by id, a data
            frame, records or a file, with any words for relevant and not.
        calibration: what `linker calibrate` learned from other articles and posts; likewise.
        explain: fill in `RankedPost.explanation`.
        filter: rank only posts that meet these conditions; their scores do not change.
        copies: list near-duplicates one by one; finding them in several hundred thousand posts takes a while.
        ignore_dates: score by text alone; else models with a profile of elapsed time, such as `best`, also consider the
            time between article and post where both are known.

    Raises:
        LinkerError: if options contradict each other or are out of range.
    """

    top: int | None = None
    offset: int = 0
    threshold: float | None = None
    precision: float | None = None
    recall: float | None = None
    confident: bool = False
    labels: AnyLabels | None = None
    calibration: Calibration | None = None
    explain: bool = False
    filter: Filter | None = None
    copies: bool = False
    ignore_dates: bool = False

    def __post_init__(self) -> None:
        if self.threshold is not None and math.isnan(self.threshold):
            raise LinkerError("--threshold nan: no score can be compared with it; give a number")
        if self.confident and self.recall is None:
            raise LinkerError("confident: give a recall to reach with confidence, such as recall=0.9")
        if self.offset < 0:
            raise LinkerError(f"offset {self.offset}: give 0 or more")
        if self.labels is not None and self.calibration is not None:
            raise LinkerError(
                "--labels and --calibration: give one; labels of the posts themselves are better"
            )
        if self.calibration is not None and self.ignore_dates:
            raise LinkerError("--calibration: learned with dates; leave out --calibration or --ignore-dates")
        check_targets(self.threshold, self.precision, self.recall, self.has_evidence)

    def labels_of(self, articles: Sequence[Article]) -> LabelFile:
        """Return the labels of the articles.

        Raises:
            DataError: if labels cannot be read, or all are of other articles.
        """
        from linker.ranking.labels import as_labels

        return as_labels({} if self.labels is None else self.labels).of_articles(articles)

    @property
    def has_evidence(self) -> bool:
        """Whether labels or a calibration were given."""
        return self.labels is not None or self.calibration is not None

    def check_model(self, fingerprint: str) -> None:
        """Check that the calibration, if there is one, was made with this model.

        Raises:
            DataError: if it was made with another one.
        """
        if self.calibration is not None:
            self.calibration.check(fingerprint)
