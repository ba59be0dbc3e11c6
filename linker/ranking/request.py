"""The options of a ranking."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from numbers import Integral, Real
from types import NoneType
from typing import Any, TypedDict

import numpy as np

from linker.articles.publication import Published, publication_date
from linker.calibration.calibration import Calibration
from linker.calibration.thresholds import check_targets
from linker.common.errors import LinkerError
from linker.data.labels.post_labels import LabelFile
from linker.data.post_filter import Filter
from linker.data.types import Article
from linker.ranking.data_frames import plain, series_of
from linker.ranking.inputs import AnyColumns, type_name
from linker.ranking.labels import AnyLabels, as_labels


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
    since: Published | None
    until: Published | None
    lang: str | Iterable[str]
    where: str | None
    copies: bool
    ignore_dates: bool


class RankerOptions(RankOptions, total=False):
    """Options of `Ranker.rank`, which also reads the posts."""

    top: int | None
    columns: AnyColumns | None
    format: str | None
    published: Published | None


#: Options, what they may be, and the same in words.
_KINDS: tuple[tuple[tuple[str, ...], Any, str], ...] = (
    (("top",), (Integral, NoneType), "a whole number of posts, such as 20, or None for all"),
    (("offset",), Integral, "the number of posts to skip"),
    (("threshold", "precision", "recall"), (Real, NoneType), "a number"),
    (("confident", "explain", "copies", "ignore_dates"), (bool, np.bool_), "True or False"),
    (("where",), (str, NoneType), "an SQL condition"),
    (("calibration",), (Calibration, NoneType), "a Calibration: Calibration.read(file)"),
)


def check_names(options: Iterable[str], known: Any) -> None:
    """Check the names of options; `known` is `RankOptions` or `RankerOptions`.

    Raises:
        LinkerError: if some are unknown.
    """
    if unknown := [name for name in options if name not in known.__annotations__]:
        near = get_close_matches(unknown[0], known.__annotations__, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise LinkerError(
            f"unknown options: {', '.join(unknown)}{meant} (options: {', '.join(known.__annotations__)})"
        )


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
        labels: relevance of some of the posts, which gives every post a probability: a dict or Series by id, one label
            per post in order, a data frame, records or a file, with any words for relevant and not.
        calibration: what `linker calibrate` learned from other articles and posts; likewise.
        explain: fill in `RankedPost.explanation`.
        since: rank only posts at or after this time, a date or text such as `2024-05-01`; UTC if it has no time zone.
            Conditions change no scores.
        until: rank only posts before this time.
        lang: rank only posts in this language, by its code or name (`en`, `English`), or in one of several.
        where: rank only posts that meet an SQL condition over id, text, created_at, lang and extra, such as
            `json_get_int(extra, 'likes') > 5`; for a corpus only.
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
    since: Published | None = None
    until: Published | None = None
    lang: str | Iterable[str] = ()
    where: str | None = None
    copies: bool = False
    ignore_dates: bool = False

    def __post_init__(self) -> None:
        faults = [
            f"{name} is {type_name(value)}; give {allowed}"
            for names, kinds, allowed in _KINDS
            for name in names
            if not isinstance(value := getattr(self, name), kinds)
        ]
        series = series_of(self.lang)
        lang: Any = series[0] if series else [self.lang] if isinstance(self.lang, str) else self.lang
        lang = tuple(lang) if isinstance(lang, Iterable) else (None,)
        if not all(isinstance(name, str) for name in lang):
            faults.append(f'lang is {type_name(self.lang)}; give "en" or "English", or a list of such')
        object.__setattr__(self, "lang", lang)
        if faults:
            raise LinkerError("; ".join(faults))
        if self.top is not None and self.top < 0:
            raise LinkerError(f"top {self.top}: give 0 or more, or None for all posts")
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
        _ = self.filter  # checks its values

    @cached_property
    def filter(self) -> Filter | None:
        """The conditions on posts; None: there are none.

        Raises:
            LinkerError: if a time or language cannot be read.
        """
        since, until = (
            None if value is None else publication_date(plain(value), name)
            for name, value in (("since", self.since), ("until", self.until))
        )
        return Filter(since, until, tuple(self.lang), self.where) or None

    def labels_of(self, articles: Sequence[Article]) -> LabelFile:
        """Return the labels of the articles.

        Raises:
            DataError: if labels cannot be read, or all are of other articles.
        """
        return as_labels({} if self.labels is None else self.labels).of_articles(articles)

    def of_article(self, article: Article) -> RankRequest:
        """Return the options for one of several articles, with the labels that name it, or without if none does.

        Raises:
            LinkerError: if labels name no article, or a target needs labels and none name this one.
        """
        if self.labels is None:
            return self
        file = as_labels(self.labels)
        if not all(label.article_ids for label in file.labels):
            raise LinkerError(f"{file.shown}: labels that name no article; for each, add a column article_id")
        labels = [label for label in file.labels if {article.id, article.url} & {*label.article_ids}]
        if len({"relevant", "not"} & {label.value for label in labels}) < 2:  # too few for probabilities
            labels = []
        if not labels and (self.precision or self.recall):
            raise LinkerError(f"{file.shown}: no label of {article.id}, by which to choose its threshold")
        return replace(self, labels=replace(file, labels=labels) if labels else None)

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
