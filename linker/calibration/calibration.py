"""A calibration: what scores meant on a labeled dev set, kept in a file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from linker.calibration.probabilities import Bin, Reliability, smoothed_rates
from linker.calibration.thresholds import Share, Threshold, few_digits
from linker.common.console import info
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.models.features.word_statistics import Statistics, WordStatistics
from linker.models.score_scale import UNSCALED, ScoreScale
from linker.version import __version__

FORMAT = 2
# With 8 articles and fewer, intervals of the table held in less than 92 %.
_LEAST_ARTICLES = 10


@dataclass(frozen=True)
class Calibration:
    """What scores meant on a dev set.

    Scores are divided into bins. The first row of `relevant` and `others` is the dev set, the other rows are bootstrap
    samples of its articles.

    Attributes:
        model: the model's name.
        fingerprint: the model's fingerprint; empty if unknown.
        articles: number of articles.
        effective_articles: number of articles with equally many relevant posts whose mean would vary as much (Kish
            1965), 1 to `articles`.
        posts: number of posts.
        pairs: number of pairs of article and post.
        relevant_pairs: number of relevant pairs.
        edges: lower edges of all bins but the first: float32 values, ascending.
        relevant: distribution of the relevant pairs over bins: samples × bins.
        others: distribution of the irrelevant pairs over bins: samples × bins.
        reliability: reliability of the probabilities on held-out articles (five-fold cross-validation).
        scale: the map from raw scores, which the edges are, to those that users see.
        words: counts of words in the dev set, by stop words, which posts are scored by; empty if the model compares no
            words.
    """

    model: str
    fingerprint: str
    articles: int
    effective_articles: float
    posts: int
    pairs: int
    relevant_pairs: int
    edges: np.ndarray
    relevant: np.ndarray
    others: np.ndarray
    reliability: Reliability
    scale: ScoreScale = UNSCALED
    words: Statistics = field(default_factory=dict)

    @property
    def prior(self) -> float:
        """Return the share of relevant pairs in the dev set."""
        return self.relevant_pairs / self.pairs

    def table(self) -> list[Threshold]:
        """Return the thresholds with a recall of 10, 20, … 90 % on the dev set."""
        recalls, falls = (
            np.cumsum(shares[:, ::-1], axis=1)[:, ::-1] for shares in (self.relevant, self.others)
        )
        edges = dict.fromkeys(int(np.abs(recalls[0] - wish).argmin()) for wish in np.arange(1, 10) / 10)
        thresholds = []
        for edge in filter(None, edges):
            hits = self.prior * recalls[:, edge]
            kept = hits + (1 - self.prior) * falls[:, edge]
            raw = np.float32(self.edges[edge - 1])
            below, score = self.scale([np.nextafter(raw, np.float32(-np.inf)), raw]).tolist()
            thresholds.append(
                Threshold(
                    few_digits((below + score) / 2, score),
                    round(float(kept[0]) * self.pairs),
                    self._share(hits / np.maximum(kept, 1e-300)),
                    self._share(recalls[:, edge]),
                )
            )
        return thresholds

    def _share(self, samples: np.ndarray) -> Share:
        """Return an estimate with its interval for as many other articles, if there are enough of them.

        Bootstrap samples of few articles vary too little; they are expanded (Hesterberg 2015, the expanded
        percentile interval).
        """
        if self.articles < _LEAST_ARTICLES:
            return Share(float(samples[0]), note=f"fewer than {_LEAST_ARTICLES} articles")
        from scipy.special import stdtrit  # takes a while to import

        degrees = max(1.0, self.effective_articles - 1)
        expanded = np.sqrt(1 + 1 / degrees) * stdtrit(degrees, 0.975) / 1.96
        return Share.elsewhere(samples[0] + expanded * (samples - samples[0]))

    def probabilities(self) -> np.ndarray:
        """Return the probability of relevance in each bin, at the dev set's share of relevant pairs: samples × bins.

        It rises with the bins and is a property of the calibration alone: the same for any posts that it is used on.
        """
        relevant = self.relevant * self.relevant_pairs
        pairs = relevant + self.others * (self.pairs - self.relevant_pairs)
        return np.stack([smoothed_rates(*counts) for counts in zip(relevant, pairs)])

    def check(self, fingerprint: str) -> None:
        """Check that the calibration was made with this model.

        Raises:
            DataError: if it was not.
        """
        if fingerprint != self.fingerprint:
            raise DataError(
                f"the calibration was made with another model ({self.model}); make one with `linker calibrate`"
            )

    def reported_words(self) -> Statistics:
        """Return the counts of words to score posts with; one line reports them."""
        if self.words:
            posts = max(statistics.posts for statistics in self.words.values())
            info(
                f"words are as rare as in the {posts:,} posts of the calibration, so that a score means the same in "
                "any file"
            )
        return self.words

    def write(self, path: str | Path) -> None:
        """Write the calibration as JSON."""
        values = asdict(replace(self, words={}))
        values["words"] = {stop_words: statistics.as_json() for stop_words, statistics in self.words.items()}
        for name, digits in (("edges", 9), ("relevant", 5), ("others", 5)):
            values[name] = _rounded(values[name], digits)
        table = [asdict(threshold) for threshold in self.table()]
        with atomic_write(path) as file:
            json.dump({"format": FORMAT, "linker_version": __version__, **values, "table": table}, file)
            file.write("\n")

    @classmethod
    def read(cls, path: str | Path) -> Calibration:
        """Read a calibration file.

        Raises:
            DataError: if the file cannot be read, is not a calibration, or has a newer format.
        """
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
            if not isinstance(values["format"], int):
                raise TypeError
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror})") from error
        except (ValueError, RecursionError, TypeError, KeyError) as error:
            raise DataError(f"{path}: not a calibration file; make one with `linker calibrate`") from error
        if values["format"] > FORMAT:
            raise DataError(
                f"{path}: written by linker {values.get('linker_version')} in a newer format; upgrade linker"
            )
        try:
            quality = values["reliability"]
            arrays = {name: np.array(values[name], np.float64) for name in ("edges", "relevant", "others")}
            simple = (
                "model", "fingerprint", "articles", "effective_articles", "posts", "pairs", "relevant_pairs"
            )  # fmt: skip
            fields: dict[str, Any] = {name: values[name] for name in simple} | arrays
            calibration = cls(
                **fields,
                reliability=Reliability(
                    [Bin(**bin_) for bin_ in quality["bins"]],
                    float(quality["calibration_error"]),
                    float(quality["brier_score"]),
                ),
                scale=ScoreScale.from_json(values["scale"]),
                words={name: WordStatistics.from_json(words) for name, words in values["words"].items()},
            )
            shape = (max(2, len(calibration.relevant)), len(calibration.edges) + 1)
            whole = calibration.relevant.shape == calibration.others.shape == shape
            finite = all(np.isfinite(array).all() for array in arrays.values())
            if not whole or not finite or not 0 < calibration.relevant_pairs < calibration.pairs:
                raise ValueError
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, DataError) as error:
            raise DataError(
                f"{path}: damaged calibration file; make it again with `linker calibrate`"
            ) from error
        return calibration


def _rounded(values: Any, digits: int) -> Any:
    """Return nested lists of rounded numbers; 9 digits distinguish all float32."""
    return [_rounded(item, digits) for item in values] if np.ndim(values) else float(f"{values:.{digits}g}")
