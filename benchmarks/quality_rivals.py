"""The bundled models and what a user would use instead, with articles scored alone and all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from quality_kept import Cells
from quality_models import (
    AT_1,
    METRICS,
    OF_VECTORS,
    TEMPERATURE,
    Given,
    Scores,
    competing,
    in_percent,
    right_at_1,
    sentence_transformer,
)

from linker.config import build
from linker.evaluation.comparison import Comparison, Difference
from linker.models.folder import load_model
from linker.models.hybrid import HybridModel
from linker.models.model import Model, all_parts
from linker.models.shipped import BEST, DISTILLED, FOLDERS
from linker.models.siamese import SiameseModel

DEFAULT = "`best` (the default)"
# Temperature, and the score of "none of them", for sums of z-scores: the best MAP on plazz (dev) of a grid.
OF_Z_SCORES = (1.5, 10.0)
COMPARED = ("mAP", "mRP", "AUC", "MAP", "P@1")


@dataclass(frozen=True)
class Rival:
    """One row of both tables: scores of articles alone and together (articles × posts)."""

    name: str
    alone: np.ndarray
    together: np.ndarray


def alone(title: str) -> str:
    """The name of a source's table of articles that are scored one at a time."""
    return f"{title}: each article alone"


def together(title: str) -> str:
    """The name of a source's table of articles that are scored together."""
    return f"{title}: all articles together"


def rivals(scores: Scores) -> Iterator[Rival]:
    """Everything that is ready to use, the default last."""
    words_alone, words = _both(scores, "TF-IDF", lambda: build(Model, "tfidf"))
    bm25_alone, bm25 = _both(scores, "BM25", lambda: build(Model, "bm25"))
    mini = scores.kept("MiniLM", sentence_transformer)
    z_alone, z = _z_scores(words_alone, mini), _z_scores(words, mini)
    cosines_alone, cosines = mini + words_alone, mini + words
    yield Rival("TF-IDF", words_alone, words)
    yield Rival("BM25", bm25_alone, bm25)
    yield Rival("MiniLM", mini, mini)
    yield Rival("TF-IDF + MiniLM, z-scores", z_alone, z)
    yield Rival("TF-IDF + MiniLM, cosines", cosines_alone, cosines)
    # With a single article, the softmax over it and "none of them" changes no order, so these are the same alone.
    yield Rival("MiniLM, softmax over articles", mini, competing(mini, OF_VECTORS))
    yield Rival("TF-IDF + MiniLM, z-scores, softmax over articles", z_alone, competing(z, *OF_Z_SCORES))
    yield Rival(
        "TF-IDF + MiniLM, cosines, softmax over articles", cosines_alone, competing(cosines, TEMPERATURE)
    )
    for label, name in (("`distilled`", DISTILLED), (DEFAULT, BEST)):
        yield Rival(label, *_both(scores, f"bundled-{name}", cache(lambda name=name: _bundled(scores, name))))


def _z_scores(*parts: np.ndarray) -> np.ndarray:
    """Scores of each article's posts brought to mean 0 and standard deviation 1, and added."""
    return HybridModel([Given(part) for part in parts]).score([], [])


def _bundled(scores: Scores, name: str) -> Model:
    """Load a bundled model whose network encodes the texts of a source only once."""
    model = load_model(FOLDERS[name])
    for part in all_parts(model):
        if isinstance(part, SiameseModel):
            known = part.score(scores.linked.articles, scores.linked.posts)
            part.score = lambda articles, posts, known=known: known  # type: ignore[method-assign]
    return model


def _both(scores: Scores, name: str, model: Callable[[], Model]) -> tuple[np.ndarray, np.ndarray]:
    """Scores alone, and together."""
    return scores.kept(f"{name}-alone", model, alone=True), scores.kept(name, model)


@dataclass(frozen=True)
class Measured:
    """The rows of one of the two tables, and each rival's differences from the default."""

    rows: dict[str, Cells]
    differences: dict[str, dict[str, Difference]]


def measured(scores: Scores, one_at_a_time: bool) -> Measured:
    """Measure every rival and compare it with the default."""
    comparison = Comparison(scores.linked, one_at_a_time=one_at_a_time)
    rows: dict[str, Cells] = {}
    for rival in rivals(scores):
        own = rival.alone if one_at_a_time else rival.together
        metrics = comparison.add(rival.name, own).metrics
        metrics = metrics | {AT_1: float(right_at_1(own, scores.linked).mean())}
        rows[rival.name] = {"seeds": "1"} | {m: in_percent([metrics[m]]) for m in (*METRICS, AT_1)}
    differences: dict[str, dict[str, Difference]] = {}
    for difference in comparison.differences(DEFAULT):
        differences.setdefault(difference.model, {})[difference.metric] = difference
    return Measured(rows, differences)


def difference_lines(alone: Measured, together: Measured) -> list[str]:
    """A Markdown table: the default minus each rival, with 95 % intervals; then a sentence on where it is behind."""
    lines = ["| `best` minus | scored | " + " | ".join(COMPARED) + " |", "|---" * (len(COMPARED) + 2) + "|"]
    behind: list[str] = []
    for rival in alone.differences:
        for scored, own in (("alone", alone), ("together", together)):
            found = own.differences[rival]
            cells = [_minus(found[metric]) for metric in COMPARED]
            lines.append(f"| {rival} | {scored} | " + " | ".join(cells) + " |")
            behind += [
                f"{scored} in {m} to {rival} ({_minus(found[m])})"
                for m in COMPARED
                if found[m].difference > 5e-4
            ]
    verdict = f"The default loses {'; '.join(behind)}." if behind else "The default is behind none of them."
    return [*lines, "", verdict]


def _minus(difference: Difference) -> str:
    """The default's figure minus the rival's, which is what the difference holds the other way round."""
    values = difference.difference, difference.high, difference.low
    points, low, high = (round(-100 * value, 1) + 0.0 for value in values)  # + 0.0: no minus zero
    return f"{points:+.1f} [{low:+.1f}, {high:+.1f}]"
