"""Quality outside English: ``python -m benchmarks.quality.languages [DATA]``.

Prints how well models rank invented stories in German and Spanish, and how often the language of posts is identified;
or, with a folder of the sets below, how well models rank them.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.quality.models import sentence_transformer
from linker.config import build
from linker.data import read_articles, read_posts
from linker.data.languages import language_name, languages_of
from linker.data.types import LinkedPosts, Post
from linker.evaluation.evaluate import evaluate
from linker.evaluation.metrics.ranking import per_article
from linker.evaluation.significance import mean_intervals
from linker.models.elapsed_time import without_dates
from linker.models.files.archive import load_model
from linker.models.model import Model
from linker.models.pretrained import BEST, DISTILLED, FOLDERS
from linker.models.tfidf import TfidfModel

TEXTS = Path(__file__).parent / "texts"
SAMPLE = Path(__file__).parents[2] / "data"
LANGUAGES = ("german", "spanish")
METRICS = ("MAP", "AUC", "P@1")
#: Folder of a real set → what it is. `best` was trained on none of them; the mean embeddings of its multilingual part
#: include theirs.
SETS = {
    "facebook_xling_zh_tl_en": "Chinese and Tagalog posts, English headlines",
    "checkthat25_claims": "claims in 14 languages",
    "derstandard_de": "German comments",
    "turnbackhoax_id": "Indonesian hoaxes",
    "korean_news_comments": "Korean comments",
    "vsolscsum_vi": "Vietnamese comments",
}
_ARTICLES, _POSTS_OF_EACH, _POSTS = 400, 40, 3_000


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


def _best() -> Model:
    return load_model(FOLDERS[BEST], for_scoring=True)


SET_MODELS: dict[str, Callable[[], Model]] = {
    "`best`": _best,
    "`distilled`": lambda: load_model(FOLDERS[DISTILLED], for_scoring=True),
    "TF-IDF of words": lambda: TfidfModel("by_language"),
    "TF-IDF of characters": lambda: TfidfModel(terms="characters"),
}
MODELS: dict[str, Callable[[], Model]] = {
    "TF-IDF, English stop words": lambda: build(Model, "tfidf"),
    "TF-IDF, no stop words": lambda: TfidfModel("none"),
    "TF-IDF, stop words of the language": lambda: TfidfModel("by_language"),
    "MiniLM": sentence_transformer,
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


def drawn(linked: LinkedPosts) -> LinkedPosts:
    """Return up to 400 of the articles that posts discuss, up to 40 posts of each, and others, 3,000 or more in all."""
    chance = random.Random(0)
    of_each: dict[str, list[Post]] = {}
    for post in linked.posts:
        for article in post.article_ids:
            of_each.setdefault(article, []).append(post)
    articles = [article for article in linked.articles if article.id in of_each]
    articles = chance.sample(articles, min(_ARTICLES, len(articles)))
    of_articles = (of_each[article.id] for article in articles)
    samples = (chance.sample(posts, min(_POSTS_OF_EACH, len(posts))) for posts in of_articles)
    chosen = {post.id: post for posts in samples for post in posts}
    rest = [post for post in linked.posts if post.id not in chosen]
    others = chance.sample(rest, min(len(rest), max(0, _POSTS - len(chosen))))
    return LinkedPosts(articles, [*chosen.values(), *others])


def of_sets(data: Path) -> list[str]:
    """Return the table of MAP, each article alone, by text, with intervals of 95 % by bootstrap over articles."""
    rows = [f"| | {' | '.join(SET_MODELS)} |", "|---" * (len(SET_MODELS) + 1) + "|"]
    for name, description in SETS.items():
        files = (str(data / name / f"{part}.jsonl.gz") for part in ("articles", "posts"))
        linked = drawn(LinkedPosts(read_articles(next(files)), read_posts(next(files))))
        ids = [post.id for post in linked.posts]
        row = f"| {description} | "
        for model in SET_MODELS.values():
            scores = model().score_independently(without_dates(linked.articles), linked.posts)
            precisions = 100 * per_article(scores, linked.relevance(), ids)["MAP"]
            low, high = mean_intervals(precisions[:, None], 1_000, seed=0)
            row += f"{precisions.mean():.1f} ({low[0]:.1f} to {high[0]:.1f}) | "
        rows.append(row.strip())
    return rows


def lines() -> list[str]:
    """Return the tables of texts of our own."""
    return [*quality([Stories(language) for language in LANGUAGES]), "", *identification()]


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    print("\n".join(of_sets(Path(sys.argv[1])) if sys.argv[1:] else lines()))
