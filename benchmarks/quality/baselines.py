"""The bundled models and their baselines, with each article scored independently and all articles together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.quality.models import (
    AT_1,
    AT_5,
    METRICS,
    NONE,
    OF_VECTORS,
    TEMPERATURE,
    Given,
    Scores,
    competing,
    in_percent,
    sentence_transformer,
    with_dates,
)
from benchmarks.quality.tables import Cells
from benchmarks.quality.unseen import best_with
from linker.config import build
from linker.data.types import LinkedPosts
from linker.evaluation.comparison import Comparison, Difference
from linker.models.elapsed_time import without_dates
from linker.models.ensemble import EnsembleModel
from linker.models.files.archive import load_model
from linker.models.files.resolve import resolve_model
from linker.models.model import Model
from linker.models.pretrained import BEST, DISTILLED, FOLDERS

DEFAULT = "`best` (the default)"
DATES_IGNORED = "`best`, dates ignored"
DATES = "with dates"
# Temperature, and the score of "none of them", for sums of z-scores: the best MAP on plazz (dev) of a grid.
OF_Z_SCORES = (1.5, 10.0)
SOFTMAX = "softmax over articles"
COMPARED = ("pair AP", "mRP", "AUC", "MAP", "P@1")


@dataclass(frozen=True)
class Rival:
    """A row of both tables: scores with articles independent and together (articles × posts)."""

    name: str
    alone: np.ndarray
    together: np.ndarray


def alone(title: str) -> str:
    """Return the name of a source's table with articles scored independently."""
    return f"{title}: each article alone"


def together(title: str) -> str:
    """Return the name of a source's table with articles scored together."""
    return f"{title}: all articles together"


def rivals(scores: Scores) -> Iterator[Rival]:
    """Yield everything that needs no training, the default last."""
    words_alone, words = _both(scores, "TF-IDF", lambda: build(Model, "tfidf"))
    yield Rival("TF-IDF", words_alone, words)
    yield Rival("BM25", *_both(scores, "BM25", lambda: build(Model, "bm25")))
    networks = {path.stem: resolve_model(str(path)).load for path in scores.place.rivals}
    for name, network in {"MiniLM": sentence_transformer, **networks}.items():
        own = scores.kept(name, network)
        yield Rival(name, own, own)
        yield Rival(f"{name}, {SOFTMAX}", own, competing(own, OF_VECTORS))
        for way, settings, (single, every) in (
            ("z-scores", OF_Z_SCORES, (_z_scores(words_alone, own), _z_scores(words, own))),
            ("cosines", (TEMPERATURE, NONE), (own + words_alone, own + words)),
        ):
            both = f"TF-IDF + {name}, {way}"
            yield Rival(both, single, every)
            yield Rival(f"{both}, {SOFTMAX}", single, competing(every, *settings))
            dated = (with_dates(scores.linked, s, *settings, alone=s is single) for s in (single, every))
            yield Rival(f"{both}, {SOFTMAX}, {DATES}", *dated)
    undated = replace(scores.linked, articles=without_dates(scores.linked.articles))
    for label, name in (("`distilled`", DISTILLED), (DEFAULT, BEST)):
        kept = f"bundled-{name}"
        ready = cache(lambda name=name: load_model(FOLDERS[name], for_scoring=True))
        if name == BEST:
            # By text, its multilingual part ranks the first posts again, and was trained on links of these sources.
            with TemporaryDirectory() as folder:
                unseen = cache(lambda: best_with(scores.place.work / "multilingual", Path(folder, BEST)))
                yield Rival(DATES_IGNORED, *_both(scores, f"{kept}-undated", unseen, undated))
        yield Rival(label, *_both(scores, kept, ready))


def _z_scores(*parts: np.ndarray) -> np.ndarray:
    """Return the sum of scores standardized per article."""
    return EnsembleModel([Given(part) for part in parts]).score([], [])


def _both(
    scores: Scores, name: str, model: Callable[[], Model], linked: LinkedPosts | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Scores alone, and together."""
    return scores.kept(f"{name}-alone", model, True, linked), scores.kept(name, model, False, linked)


@dataclass(frozen=True)
class Measured:
    """Rows of one of the two tables, and each rival's differences from the default."""

    rows: dict[str, Cells]
    differences: dict[str, dict[str, Difference]]


def measured(scores: Scores) -> tuple[Measured, Measured]:
    """Measure every rival and compare it with the default: each article alone, and all together."""
    one, every = (Comparison(scores.linked, one_at_a_time=alone) for alone in (True, False))
    for rival in rivals(scores):
        if not rival.name.endswith(SOFTMAX):  # over one article and "none of them", it changes no order
            one.add(rival.name, rival.alone)
        every.add(rival.name, rival.together)
    return _compared(one), _compared(every)


def _compared(comparison: Comparison) -> Measured:
    rows: dict[str, Cells] = {}
    for name in comparison.evaluations:
        metrics = comparison.metrics(name)
        rows[name] = {"seeds": "1"} | {m: in_percent([metrics[m]]) for m in (*METRICS, AT_1, AT_5)}
    differences: dict[str, dict[str, Difference]] = {}
    for difference in comparison.differences(DEFAULT):
        differences.setdefault(difference.model, {})[difference.metric] = difference
    return Measured(rows, differences)


def difference_lines(alone: Measured, together: Measured, of_posts: bool = False) -> list[str]:
    """Return a Markdown table of the default minus each rival, and where the default loses.

    Args:
        alone: of articles scored one at a time.
        together: of articles scored together.
        of_posts: add a column on posts.
    """
    columns = (*COMPARED, AT_1) if of_posts else COMPARED
    table = ["| `best` minus | scored | " + " | ".join(columns) + " |", "|---" * (len(columns) + 2) + "|"]
    behind: list[str] = []
    for rival in together.differences:
        for scored, own in (("alone", alone), ("together", together)):
            if not (found := own.differences.get(rival)):
                continue
            cells = {metric: _minus(found[metric]) for metric in columns}
            table.append(f"| {rival} | {scored} | " + " | ".join(cells.values()) + " |")
            if losses := [f"{metric} {cell}" for metric, cell in cells.items() if cell.startswith("-")]:
                behind.append(f"- to {rival}, {scored}: {', '.join(losses)}")
    if not behind:
        return [*table, "", "The default is behind none of them."]
    return [*table, "", "Where the default loses:", "", *behind]


def _minus(difference: Difference) -> str:
    """Return the default minus the rival in points, from a difference with the opposite sign."""
    minus = (-difference.difference, -difference.high, -difference.low)
    value, low, high = (round(100 * one, 1) + 0.0 for one in minus)  # + 0.0: no minus zero
    return f"{value:+.1f} [{low:+.1f}, {high:+.1f}]"
