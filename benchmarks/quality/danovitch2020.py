"""The encoders of Danovitch 2020 in the paper's setting: figures over seeds, and AST minus each other encoder."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.quality.models import METRICS, Scores, in_percent, siamese
from benchmarks.quality.runs import PAPER, SEEDS
from benchmarks.quality.tables import Cells
from linker.evaluation.comparison import RESAMPLES
from linker.evaluation.evaluate import ARTICLE_METRICS, measure
from linker.evaluation.significance import bootstrap_weights, percentile_interval, resample_pair_metrics

COMPARED = ("pair AP", "mRP", "AUC", "MAP")
LABELS = {"ast": "AST", "cnn": "CNN", "gru": "GRU", "bigru": "BiGRU", "mean": "mean of the word vectors"}


class Encoder:
    """Figures of one encoder for each seed.

    Args:
        scores: what it is measured on.
        name: the encoder.
        seeds: of the runs that exist.
    """

    def __init__(self, scores: Scores, name: str, seeds: list[int]) -> None:
        linked = scores.linked
        relevance = linked.relevance()
        ids = [article.id for article in linked.articles], [post.id for post in linked.posts]
        has_posts = relevance.any(axis=1)
        # The same articles are drawn for every encoder, so that differences are paired.
        weights = bootstrap_weights(len(relevance), RESAMPLES)
        mean_weights = bootstrap_weights(int(has_posts.sum()), RESAMPLES)
        self.values: dict[str, list[float]] = {}
        samples: dict[str, list[np.ndarray]] = {}
        for seed in seeds:
            run = f"paper-{name}-{seed}"
            own = scores.kept(run, partial(siamese, scores.place, run))
            evaluation = measure(own, relevance, *ids)
            drawn = resample_pair_metrics(own, relevance, *ids, weights)
            for metric in METRICS:
                self.values.setdefault(metric, []).append(evaluation.metrics[metric])
                if metric in ARTICLE_METRICS:
                    of_articles = evaluation.per_article[metric][has_posts]
                    samples.setdefault(metric, []).append(mean_weights @ of_articles / len(of_articles))
                else:
                    samples.setdefault(metric, []).append(drawn[metric])
        self.samples = {metric: np.mean(own, axis=0) for metric, own in samples.items()}

    def mean(self, metric: str) -> float:
        """The mean over the seeds."""
        return float(np.mean(self.values[metric]))


def encoders(scores: Scores) -> dict[str, Encoder]:
    """Return every encoder with a finished run; a run's folder exists after its first epoch."""
    found = {}
    for name in ("ast", *(other for other in reversed(PAPER) if other != "ast")):
        seeds = [seed for seed in SEEDS if scores.place.seconds(f"paper-{name}-{seed}") is not None]
        if seeds:
            found[name] = Encoder(scores, name, seeds)
    return found


def rows(found: dict[str, Encoder]) -> dict[str, Cells]:
    """Mean ± standard deviation over the seeds."""
    return {
        LABELS[name]: {"seeds": str(len(one.values["pair AP"]))}
        | {m: in_percent(one.values[m]) for m in METRICS}
        for name, one in found.items()
    }


def differences(found: dict[str, Encoder]) -> dict[str, Cells]:
    """AST minus each other encoder, means over the seeds with 95 % bootstrap intervals over articles."""
    cells: dict[str, Cells] = {}
    for name, other in found.items():
        if name == "ast" or "ast" not in found:
            continue
        cells[LABELS[name]] = {}
        for metric in COMPARED:
            low, high = percentile_interval(found["ast"].samples[metric] - other.samples[metric])
            points = found["ast"].mean(metric) - other.mean(metric)
            points, low, high = (
                round(100 * value, 1) + 0.0 for value in (points, low, high)
            )  # no minus zero
            cells[LABELS[name]][metric] = f"{points:+.1f} [{low:+.1f}, {high:+.1f}]"
    return cells


def verdict(found: dict[str, Encoder]) -> str:
    """Whether AST is above CNN, GRU and BiGRU, as in the paper, metric by metric."""
    others = [name for name in ("cnn", "gru", "bigru") if name in found]
    if "ast" not in found or not others:
        return "Not all runs have been made yet."
    above: list[str] = []
    below: list[str] = []
    for metric in ("pair AP", "mRP", "AUC"):
        higher = [LABELS[name] for name in others if found[name].mean(metric) >= found["ast"].mean(metric)]
        if higher:
            below.append(f"{metric} ({' and '.join(higher)} above AST)")
        else:
            above.append(metric)
    names = ", ".join(LABELS[name] for name in others)
    parts = [f"AST is above {names}, as in the paper, in {', '.join(above)}"] if above else []
    parts += [f"the paper's order does not show in {', '.join(below)}"] if below else []
    sentence = "; ".join(parts) + "."
    return sentence[0].upper() + sentence[1:]
