"""Scores of the trained models that the quality benchmark measures; computed once and cached."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.minilm import minilm_folder
from benchmarks.quality.runs import ENCODERS, SEEDS, Workplace
from benchmarks.quality.sets import Source, dev_set
from linker.config import build
from linker.data.types import LinkedPosts
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.elapsed_time import ElapsedTimeModel
from linker.models.features.feature import Feature
from linker.models.files.archive import load_model
from linker.models.model import Model, all_submodels
from linker.models.sentence_transformer import SentenceTransformerModel
from linker.models.siamese.siamese import SiameseModel

# As in configs/minilm/base.jsonnet and configs/lib/distilled.libsonnet. Without TF-IDF, scores spread less.
TEMPERATURE, OF_VECTORS, NONE, KINSHIP = 0.06, 0.05, 0.3, 0.3
METRICS = ("pair AP", "mRP", "AUC", "MAP", "R-precision", "MRR", "nDCG@10", "P@1", "recall@10")
AT_1, AT_5 = "P@1 of posts", "MAP@5 of posts"


class Given(Feature, Model):
    """Precomputed scores, articles × posts, whether articles are scored alone or together."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix

    def features(self) -> Sequence[Feature]:
        return [self]

    def scores(self, *given: object, **named: object) -> np.ndarray:
        return self.matrix


@dataclass(frozen=True)
class Row:
    """A table row: a name, and the scores of each seed."""

    name: str
    scores: list[np.ndarray]


class Scores:
    """All models on the dev posts of one source."""

    def __init__(self, place: Workplace, source: Source) -> None:
        self.place, self.source = place, source

    @cached_property
    def linked(self) -> LinkedPosts:
        """The articles and posts."""
        return dev_set(self.place.work, self.source)

    def rows(self) -> Iterator[Row]:
        """Score all articles together: the encoders, `best` seed by seed, and `best` without each ingredient."""
        words = self.kept("TF-IDF", lambda: build(Model, "tfidf"))
        if self.place.has("mean"):
            mean = self._inner("mean")
            yield Row("distilled vectors, their mean, softmax over articles", [competing(mean, OF_VECTORS)])
            yield Row(
                "distilled vectors, their mean, TF-IDF, softmax over articles", [competing(mean + words)]
            )
        for encoder in ENCODERS:
            own = [self._inner(f"{encoder}-{seed}") for seed in SEEDS if self.place.has(f"{encoder}-{seed}")]
            if own:
                yield Row(
                    f"{encoder.upper()}, softmax over articles",
                    [competing(scores, OF_VECTORS) for scores in own],
                )
            if own and encoder == "ast":
                yield Row("AST", own)
                yield Row("AST, TF-IDF, softmax over articles", [competing(scores + words) for scores in own])
        yield from self.best(words)

    def best(self, words: np.ndarray) -> Iterator[Row]:
        """Score `best`, and `best` without each of its ingredients."""
        seeds = [seed for seed in SEEDS if self.place.has(f"best-{seed}")]
        if not seeds:
            return
        own = [self._inner(f"best-{seed}") for seed in seeds]
        whole = [scores + words for scores in own]
        yield Row("best", [competing(scores) for scores in whole])
        yield Row("best without random-walk smoothing", [competing(scores, kinship=0) for scores in whole])
        yield Row("best without the softmax over articles", whole)
        yield Row("best without TF-IDF", [competing(scores - words, OF_VECTORS) for scores in whole])
        yield Row("its transformer alone", own)
        two = [self._inner(f"two_layers-{seed}") for seed in SEEDS if self.place.has(f"two_layers-{seed}")]
        if two:
            yield Row("best with two layers", [competing(scores + words) for scores in two])
        for name, label in (
            ("six_layers", "best with all six layers"),
            ("best-student", "best without links"),
            (f"without-{self.source.name}", "best without links of this source"),
            ("best-untaught", "best without a teacher"),
        ):
            if self.place.has(name):
                yield Row(label, [competing(self._inner(name) + words)])
        if self.source.every_article_is_a_candidate:  # too many for the rest
            return
        for label, settings in (
            ("best without the titles' share", {"title_weight": 0.0}),
            ("best with hashtags as they are", {"normalization": "none"}),
        ):
            other = [self._inner(f"best-{seed}", **settings) for seed in seeds]
            yield Row(label, [competing(scores + words) for scores in other])
        yield Row("best with dates", [with_dates(self.linked, scores) for scores in whole])

    def _inner(self, name: str, **settings: object) -> np.ndarray:
        kept = "-".join([name, *(f"{setting}={value}" for setting, value in settings.items())])
        return self.kept(kept, lambda: siamese(self.place, name, **settings))

    def kept(
        self, name: str, model: Callable[[], Model], alone: bool = False, linked: LinkedPosts | None = None
    ) -> np.ndarray:
        """Scores of all pairs, computed once: of all articles together, or of each alone as `linker rank` does."""
        linked = linked or self.linked
        file = self.place.work / "scores" / self.source.name / f"{name}.npy"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            ready = model()
            scores = (ready.score_independently if alone else ready.score)(linked.articles, linked.posts)
            new = file.with_name(f"{name}.new.npy")
            np.save(new, scores)
            os.replace(new, file)
            print(f"{time.strftime('%H:%M:%S')} {self.source.name}: {name}", flush=True)
        return np.load(file)


def siamese(place: Workplace, name: str, **settings: object) -> SiameseModel:
    """Load the part of a model folder that has weights, and change some of its settings."""
    part = next(one for one in all_submodels(load_model(place.model(name))) if isinstance(one, SiameseModel))
    for setting, value in settings.items():
        assert hasattr(part, setting)
        setattr(part, setting, value)
    return part


def sentence_transformer() -> SentenceTransformerModel:
    """Load MiniLM as sentence-transformers does."""
    return SentenceTransformerModel(str(minilm_folder()))


def competing(
    scores: np.ndarray, temperature: float = TEMPERATURE, none: float = NONE, kinship: float = KINSHIP
) -> np.ndarray:
    """Return the log-odds of a softmax over the articles: float32, articles × posts."""
    return ArticleSoftmaxModel(Given(scores), temperature, none, kinship).score([None] * len(scores), [])  # type: ignore[list-item]


def with_dates(
    linked: LinkedPosts,
    scores: np.ndarray,
    temperature: float = TEMPERATURE,
    none: float = NONE,
    alone: bool = False,
) -> np.ndarray:
    """Return the log-odds of a softmax over the articles with elapsed time: float32, articles × posts."""
    model = ArticleSoftmaxModel(Given(scores), temperature, none, KINSHIP, time=ElapsedTimeModel())
    return (model.score_independently if alone else model.score)(linked.articles, linked.posts)


def in_percent(values: Sequence[float]) -> str:
    """Return the mean, with ± the standard deviation if there are several values."""
    spread = f" ± {100 * statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{100 * statistics.mean(values):.1f}{spread}"
