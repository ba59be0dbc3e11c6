"""Quality outside English: ``python -m benchmarks.quality.languages``.

Prints how well models rank invented stories in German and Spanish, how the weights for other languages were chosen, and
how often the language of posts is identified.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.quality.models import sentence_transformer
from linker.config import build
from linker.data import read_articles, read_posts
from linker.data.languages import language_name, languages_of
from linker.data.types import LinkedPosts, Post
from linker.evaluation.evaluate import evaluate
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.ensemble import EnsembleModel
from linker.models.files.archive import load_model
from linker.models.model import Model
from linker.models.pretrained import BEST, FOLDERS
from linker.models.tfidf import TfidfModel

TEXTS = Path(__file__).parent / "texts"
SAMPLE = Path(__file__).parents[2] / "data"
LANGUAGES = ("german", "spanish")
METRICS = ("MAP", "AUC", "P@1")
#: Weights of the transformer and of the word vectors; TF-IDF has 1.
GRID = list(product((0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0), (0.0, 0.1, 0.2)))


class Stories:
    """Articles and posts in one language, and the scores of every pair.

    Args:
        language: name of the folder.
    """

    def __init__(self, language: str) -> None:
        folder = TEXTS / language
        self.language = language
        self.linked = LinkedPosts(
            read_articles(str(folder / "articles.jsonl")), read_posts(str(folder / "posts.jsonl"))
        )

    def scores(self, model: Model) -> np.ndarray:
        """Score every article alone: articles × posts."""
        return model.score_independently(self.linked.articles, self.linked.posts)

    def figures(self, scores: np.ndarray) -> list[float]:
        """Return `METRICS` in percent."""
        measured = evaluate(scores, self.linked)
        return [100 * measured[metric] for metric in METRICS]

    @cached_property
    def parts(self) -> list[np.ndarray]:
        """Scores of the parts of `best`."""
        return [self.scores(part) for part in _ensemble(_best()).submodels()]

    def weighted(self, transformer: float, vectors: float) -> np.ndarray:
        """Return the sum of the parts' scores with these weights."""
        of_transformer, of_words, of_vectors = self.parts
        return transformer * of_transformer + of_words + vectors * of_vectors


def _best() -> Model:
    return load_model(FOLDERS[BEST], for_scoring=True)


def _ensemble(model: Model) -> EnsembleModel:
    assert isinstance(model, ArticleSoftmaxModel)
    assert isinstance(model.model, EnsembleModel)
    return model.model


def _in_english() -> Model:
    """Load `best` as it scores English articles."""
    model = _best()
    ensemble = _ensemble(model)
    ensemble.other_weights = None
    for part in ensemble.submodels():
        if isinstance(part, TfidfModel):
            part.stop_words = "english"
    return model


MODELS: dict[str, Callable[[], Model]] = {
    "TF-IDF, English stop words": lambda: build(Model, "tfidf"),
    "TF-IDF, no stop words": lambda: TfidfModel("none"),
    "TF-IDF, stop words of the language": lambda: TfidfModel("by_language"),
    "MiniLM": sentence_transformer,
    "`best` as for English articles": _in_english,
    "`best`": _best,
}


def quality(stories: list[Stories]) -> list[str]:
    """Return the table of models."""
    heads = [f"{one.language}: {metric}" for one in stories for metric in METRICS]
    rows = [f"|  | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for name, model in MODELS.items():
        loaded = model()
        values = [value for one in stories for value in one.figures(one.scores(loaded))]
        rows.append(f"| {name} | {' | '.join(f'{value:.1f}' for value in values)} |")
    return rows


def choice_of_weights(stories: list[Stories]) -> list[str]:
    """Return the best weights by the MAP of each language, with their figures on all."""
    rows = [
        f"| weights of transformer, TF-IDF, word vectors | {' | '.join(f'{one.language}: MAP' for one in stories)} |",
        "|---" * (len(stories) + 1) + "|",
    ]
    maps = {weights: [one.figures(one.weighted(*weights))[0] for one in stories] for weights in GRID}
    shown = {max(GRID, key=lambda weights: maps[weights][place]): f"best of {len(GRID)} on {one.language}"
             for place, one in enumerate(stories)}  # fmt: skip
    transformer, words, vectors = _ensemble(_best()).other_weights or (0, 1, 0)
    shown[transformer / words, vectors / words] = "bundled"
    for weights, note in shown.items():
        values = " | ".join(f"{value:.1f}" for value in maps.get(weights, []))
        rows.append(f"| {weights[0]}, 1, {weights[1]} ({note}) | {values} |")
    return rows


def identification() -> list[str]:
    """Return how often the language of single posts is identified."""
    files = [TEXTS / "identification.jsonl", *(TEXTS / name / "posts.jsonl" for name in LANGUAGES)]
    posts = [post for file in [*files, SAMPLE / "posts.jsonl"] for post in read_posts(str(file))]
    found: dict[str, Counter[str]] = {}
    for post in posts:
        languages = languages_of([Post(post.id, post.text)])
        found.setdefault(post.language or "", Counter()).update([next(iter(languages), "unknown")])
    rows = ["| posts in | number | identified | taken for English | unknown |", "|---" * 5 + "|"]
    for language, counts in sorted(found.items(), key=lambda pair: -pair[1].total()):
        if counts.total() < 50:
            continue
        shares = [f"{100 * counts[key] / counts.total():.1f}" for key in (language, "en", "unknown")]
        rows.append(f"| {language_name(language)} | {counts.total():,} | {' | '.join(shares)} |")
    return rows


def lines() -> list[str]:
    """Return the tables."""
    stories = [Stories(language) for language in LANGUAGES]
    return [*quality(stories), "", *choice_of_weights(stories), "", *identification()]


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    print("\n".join(lines()))
