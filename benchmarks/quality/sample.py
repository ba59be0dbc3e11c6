"""Measure how well the default model and its baselines rank the sample in data/, each article independently.

    python -m benchmarks.quality.sample

Prints Markdown. Six articles of the sample cover each story, and only one of them owns a post. Therefore two kinds of
relevance are measured: the article's own posts, and all posts of its story, which a reader would accept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.quality.models import sentence_transformer
from linker.config import build
from linker.data import read_articles, read_posts
from linker.data.types import LinkedPosts
from linker.models.elapsed_time import without_dates
from linker.models.files.archive import load_model
from linker.models.model import Model
from linker.models.order import rank_posts
from linker.models.pretrained import BEST, DISTILLED, FOLDERS

DATA = Path(__file__).resolve().parents[2] / "data"
DEFAULT = "`best` (the default)"
UNDATED = "`best`, dates ignored"
WORDS = ("TF-IDF", "BM25")
CUTS = (10, 20)
# The first article, the one that every measure favors, and the one that data/article.html holds.
SHOWN = ("s01-a1", "s08-a4", "s16-a5")


class Sample:
    """The sample, its two kinds of relevance labels, and the scores of every pair.

    Args:
        folder: where scores are kept from one run to the next; None: nowhere.
    """

    def __init__(self, folder: Path | None = None) -> None:
        articles, posts = read_articles(str(DATA / "articles.jsonl")), read_posts(str(DATA / "posts.jsonl"))
        self.linked = linked = LinkedPosts(articles, posts)
        self.folder = folder
        story = {article.id: article.story for article in linked.articles}
        self.own = linked.relevance() > 0
        self.story = np.array(
            [
                [any(story[i] == article.story for i in post.article_ids) for post in linked.posts]
                for article in linked.articles
            ]
        )

    @cached_property
    def scores(self) -> dict[str, np.ndarray]:
        """Scores of every article alone, articles × posts, by the name of the model."""
        models: dict[str, Callable[[], Model]] = {
            "TF-IDF": lambda: build(Model, "tfidf"),
            "BM25": lambda: build(Model, "bm25"),
            "MiniLM": sentence_transformer,
            "`distilled`, dates ignored": lambda: load_model(FOLDERS[DISTILLED]),
            UNDATED: lambda: load_model(FOLDERS[BEST]),
            DEFAULT: lambda: load_model(FOLDERS[BEST]),
        }
        found = {
            name: self._kept(str(number), model, dates=name == DEFAULT)
            for number, (name, model) in enumerate(models.items())
        }
        fused = found["TF-IDF"] + found["MiniLM"]
        return dict([*list(found.items())[:3], ("TF-IDF + MiniLM, cosines", fused), *list(found.items())[3:]])

    def _kept(self, name: str, model: Callable[[], Model], dates: bool) -> np.ndarray:
        file = self.folder / f"{name}.npy" if self.folder else None
        if file and file.exists():
            return np.load(file)
        articles = self.linked.articles if dates else without_dates(self.linked.articles)
        scores = model().score_independently(articles, self.linked.posts)
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            np.save(file, scores)
        return scores


def figures(
    scores: np.ndarray, relevance: np.ndarray, post_ids: Sequence[str], pool: np.ndarray | None = None
) -> np.ndarray:
    """Average precision and the precision at each of `CUTS`: float64, articles × figures.

    Args:
        scores: articles × posts.
        relevance: bool, articles × posts, a relevant post in each row.
        post_ids: they break ties.
        pool: bool, articles × posts: which posts are ranked for each article; None: all of them.
    """
    rows = []
    for row, relevant in enumerate(relevance):
        posts = np.arange(len(post_ids)) if pool is None else np.flatnonzero(pool[row])
        order = rank_posts(scores[row : row + 1, posts], [post_ids[i] for i in posts.tolist()])[0]
        hits = relevant[posts][order]
        precisions = hits.cumsum() / np.arange(1, len(hits) + 1)
        rows.append([precisions[hits].mean(), *(hits[:cut].sum() / cut for cut in CUTS)])
    return np.array(rows)


def lines(sample: Sample) -> list[str]:
    """The tables and sentences of the page."""
    ids = [post.id for post in sample.linked.posts]
    kinds = {"own posts": sample.own, "posts of its story": sample.story}
    measured = {
        kind: {name: figures(scores, relevance, ids) for name, scores in sample.scores.items()}
        for kind, relevance in kinds.items()
    }
    within = {n: figures(s, sample.own, ids, pool=sample.story)[:, 0] for n, s in sample.scores.items()}
    table = [
        "|  | own posts: MAP | P@10 | P@20 | its story's posts: MAP | P@10 | P@20 | own among its story's: MAP |",
        "|---" * 8 + "|",
    ]
    for name in sample.scores:
        means = [f"{100 * value:.1f}" for kind in kinds for value in measured[kind][name].mean(axis=0)]
        table.append(f"| {name} | {' | '.join(means)} | {100 * within[name].mean():.1f} |")
    return [*table, "", *_wins(measured), "", *_shown(sample, measured)]


def _wins(measured: dict[str, dict[str, np.ndarray]]) -> list[str]:
    """Return for how many articles the default, by text alone, beats both TF-IDF and BM25."""
    sentences = []
    for kind, of in measured.items():
        above = [
            (of[UNDATED] > np.maximum(of[WORDS[0]], of[WORDS[1]]))[:, i].sum() for i in range(len(CUTS) + 1)
        ]
        level = [
            (of[UNDATED] >= np.maximum(of[WORDS[0]], of[WORDS[1]]))[:, i].sum() for i in range(len(CUTS) + 1)
        ]
        sentences.append(
            f"With the {kind} as relevant, `best --ignore-dates` is above both TF-IDF and BM25 for {above[0]} of "
            f"{len(of[UNDATED])} articles in average precision, "
            f"for {above[1]} in P@10 (not below: {level[1]}), for {above[2]} in P@20 "
            f"(not below: {level[2]})."
        )
    return sentences


def _shown(sample: Sample, measured: dict[str, dict[str, np.ndarray]]) -> list[str]:
    """Figures of single articles."""
    table = [
        "| article | model | own posts: AP | P@10 | P@20 | its story's posts: AP | P@10 | P@20 |",
        "|---" * 8 + "|",
    ]
    places = {article.id: place for place, article in enumerate(sample.linked.articles)}
    for one in SHOWN:
        for name in (*WORDS, UNDATED):
            values = [f"{100 * v:.0f}" for of in measured.values() for v in of[name][places[one]]]
            table.append(f"| {one} | {name} | {' | '.join(values)} |")
    return table


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    print("\n".join(lines(Sample())))
