"""What scores meant on a labelled dev set, kept in a file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linker.calibration.probabilities import Bin, isotonic
from linker.calibration.thresholds import Share, Threshold
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.common.stats import shortest_float
from linker.version import __version__

FORMAT = 1


@dataclass(frozen=True)
class Reliability:
    """Whether probabilities held what they said for articles that the curve had not seen (five-fold).

    Attributes:
        bins: see `linker.calibration.probabilities.Bin`.
        calibration_error: the mean distance of probability and share, each bin by its pairs.
        brier_score: the mean squared distance of probability and truth.
    """

    bins: list[Bin]
    calibration_error: float
    brier_score: float


@dataclass(frozen=True)
class Calibration:
    """What scores meant on a dev set.

    Scores are divided into bins. The first of the rows of `relevant` and `others` is the dev set, each further one a
    bootstrap sample of its articles.

    Attributes:
        model: whose scores, as messages call it.
        fingerprint: tells this model from others.
        passages: how it read the articles.
        articles: how many the dev set has.
        posts: how many it has.
        pairs: how many pairs of them there are.
        relevant_pairs: how many of these are relevant.
        edges: where bins begin, but for the first: float32 values, ascending.
        relevant: the share of the relevant pairs that is in each bin, samples × bins.
        others: the share of the other pairs, samples × bins.
        reliability: see there.
    """

    model: str
    fingerprint: str
    passages: str
    articles: int
    posts: int
    pairs: int
    relevant_pairs: int
    edges: np.ndarray
    relevant: np.ndarray
    others: np.ndarray
    reliability: Reliability

    @property
    def prior(self) -> float:
        """The share of relevant pairs in the dev set."""
        return self.relevant_pairs / self.pairs

    def table(self) -> list[Threshold]:
        """Thresholds that find 10, 20, … 90 % of the dev set's relevant posts, with what they keep there."""
        found: list[Threshold] = []
        recalls, falls = shares_above(self.relevant), shares_above(self.others)
        for wish in np.arange(1, 10) / 10:
            edge = int(np.abs(recalls[0] - wish).argmin())
            if edge == 0 or any(one.score == self.edges[edge - 1] for one in found):
                continue
            kept = self.prior * recalls[:, edge] + (1 - self.prior) * falls[:, edge]
            precision = self.prior * recalls[:, edge] / np.maximum(kept, 1e-300)
            found.append(
                Threshold(
                    shortest_float(np.float32(self.edges[edge - 1])),
                    round(float(kept[0]) * self.pairs),
                    Share.elsewhere(precision),
                    Share.elsewhere(recalls[:, edge]),
                )
            )
        return found

    def ratios(self) -> np.ndarray:
        """How much likelier each bin is for relevant posts than for others, rising: samples × bins."""
        relevant = self.relevant * self.relevant_pairs + 0.5
        others = self.others * (self.pairs - self.relevant_pairs) + 0.5
        relevant /= relevant.sum(axis=1, keepdims=True)
        others /= others.sum(axis=1, keepdims=True)
        places = np.arange(relevant.shape[1], dtype=np.float64)
        shares, weights = relevant / (relevant + others), relevant + others
        rising = np.stack([isotonic(places, one, weight)(places) for one, weight in zip(shares, weights)])
        rising = np.clip(rising, 1e-9, 1 - 1e-9)
        return np.asarray(rising / (1 - rising))

    def check(self, fingerprint: str | None = None, passages: str | None = None) -> None:
        """See that it was made with this model, and reading articles so.

        Raises:
            DataError: it was not.
        """
        if fingerprint not in (None, self.fingerprint):
            raise DataError(
                f"the calibration was made with another model ({self.model}); make one with `linker calibrate`"
            )
        if passages not in (None, self.passages):
            raise DataError(
                f"the calibration was made with --passages {self.passages}; rank so, or make another one"
            )

    def write(self, path: str | Path) -> None:
        """Write it as JSON."""
        values = asdict(self)
        for name, digits in (("edges", 9), ("relevant", 5), ("others", 5)):
            values[name] = _rounded(values[name], digits)
        table = [asdict(one) for one in self.table()]
        with atomic_write(path) as file:
            json.dump({"format": FORMAT, "linker_version": __version__, **values, "table": table}, file)
            file.write("\n")

    @classmethod
    def read(cls, path: str | Path) -> Calibration:
        """Read what `write` wrote.

        Raises:
            DataError: it cannot be read, is something else, or was written in a newer format.
        """
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror})") from error
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}: is no calibration; make one with `linker calibrate`") from error
        return _checked(path, values)


def _checked(path: str | Path, values: Any) -> Calibration:
    if not isinstance(values, dict) or not isinstance(values.get("format"), int):
        raise DataError(f"{path}: is no calibration; make one with `linker calibrate`")
    if values["format"] > FORMAT:
        raise DataError(
            f"{path}: written by linker {values.get('linker_version')} in a newer format; upgrade linker"
        )
    try:
        told = values["reliability"]
        reliability = Reliability(
            [Bin(**one) for one in told["bins"]], float(told["calibration_error"]), float(told["brier_score"])
        )
        arrays = {name: np.array(values[name], np.float64) for name in ("edges", "relevant", "others")}
        names = ("model", "fingerprint", "passages")
        counts = ("articles", "posts", "pairs", "relevant_pairs")
        fields: dict[str, Any] = {name: str(values[name]) for name in names}
        fields |= {name: int(values[name]) for name in counts}
        calibration = Calibration(**{**fields, **arrays}, reliability=reliability)
        bins = len(calibration.edges) + 1
        rows = calibration.relevant.shape[0]
        whole = calibration.relevant.shape == calibration.others.shape == (rows, bins) and rows > 1
        finite = all(np.isfinite(array).all() for array in arrays.values())
        if not whole or not finite or not 0 < calibration.relevant_pairs < calibration.pairs:
            raise ValueError
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DataError(f"{path}: is damaged; make the calibration again") from error
    return calibration


def shares_above(shares: np.ndarray) -> np.ndarray:
    """The share of pairs in each bin and all higher ones: samples × bins."""
    return np.cumsum(shares[:, ::-1], axis=1)[:, ::-1]


def _rounded(values: np.ndarray, digits: int) -> Any:
    """As nested lists; 9 digits tell every float32 from the others."""

    def short(value: Any) -> Any:
        return [short(one) for one in value] if isinstance(value, list) else float(f"{value:.{digits}g}")

    return short(values.tolist())
