"""The scale of scores: the logistic curve of the bundled models, fitted to dev posts where one post in 20 is relevant.

`python -m benchmarks.quality.scale --data DATA --work WORK` prints `score_center` and `score_width` (decision 169).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.quality.sets import SOURCES, dev_set, prepare
from linker.models.elapsed_time import without_dates
from linker.models.files.archive import load_model
from linker.models.model import Model
from linker.models.pretrained import FOLDERS

_PREVALENCE = 0.05
_MOST_PAIRS = 200_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    prepare(options.data, options.work)
    for name, folder in FOLDERS.items():
        center, width, quantiles = fitted(load_model(folder, for_scoring=True), options.work)
        shown = ", ".join(f"{value:.0f}" for value in quantiles)
        print(
            f"{name}: score_center {center:.1f}, score_width {width:.1f}; quartiles of linked pairs {shown}"
        )


def fitted(model: Model, work: Path) -> tuple[float, float, np.ndarray]:
    """Return center and width in log-odds, and the quartiles of the scores of linked pairs, 0 to 100."""
    scores, labels, weights = [], [], []
    for source in SOURCES:
        dev = dev_set(work, source)
        relevant = dev.relevance().ravel()
        for articles in (dev.articles, without_dates(dev.articles)):
            raw = model.score_independently(articles, dev.posts).ravel()
            linked, others = raw[relevant], raw[~relevant]
            others = others[:: max(1, len(others) // _MOST_PAIRS)]
            scores += [linked, others]
            labels += [np.ones(len(linked)), np.zeros(len(others))]
            # Every source counts the same, with and without dates.
            weights += [
                np.full(len(linked), _PREVALENCE / len(linked)),
                np.full(len(others), (1 - _PREVALENCE) / len(others)),
            ]
    pairs, relevance = np.concatenate(scores), np.concatenate(labels)
    curve = LogisticRegression(C=1e6).fit(pairs[:, None], relevance, 1e5 * np.concatenate(weights))
    slope, offset = float(curve.coef_[0, 0]), float(curve.intercept_[0])
    quartiles = np.quantile(pairs[relevance == 1], [0.25, 0.5, 0.75])
    return -offset / slope, 1 / slope, 100 / (1 + np.exp(-(slope * quartiles + offset)))


if __name__ == "__main__":
    main()
