"""Measure what counts of words of other posts cost; write results/kept_words.md.

    python -m benchmarks.calibration.kept_words [--articles FILE --posts FILE]

Each half of the posts is ranked for every article: by counts of words in itself, and by those of the other half, as a
calibration keeps them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from linker.common.files import atomic_write
from linker.data.readers.articles_and_posts import ArticlesAndPosts
from linker.data.types import LinkedPosts
from linker.evaluation.metrics.ranking import per_article
from linker.models.lexical import word_statistics
from linker.models.word_statistics import counted_in
from linker.ranking.ranker import load

OUT = Path(__file__).resolve().parent / "results" / "kept_words.md"
MODELS = ("best", "tfidf", "bm25")


def halves(linked: LinkedPosts, by_story: bool) -> list[np.ndarray]:
    """Return the places of the posts in each half: at random, or the stories whose ids are odd and even."""
    if by_story:
        other = np.array([int(post.id[1:3]) % 2 if post.id[1:3].isdigit() else 0 for post in linked.posts])
    else:
        other = np.random.default_rng(13).permutation(len(linked.posts)) % 2
    return [np.flatnonzero(other == side) for side in (0, 1)]


def measured(name: str, linked: LinkedPosts, by_story: bool) -> list[float]:
    """Return MAP by counts of words in the ranked half and in the other half; means over the halves."""
    model, relevance, found = load(name).model, linked.relevance(), []
    sides = halves(linked, by_story)
    for half, other in (sides, sides[::-1]):
        posts = [linked.posts[place] for place in half]
        chosen = np.flatnonzero(relevance[:, half].any(axis=1))
        articles = [linked.articles[place] for place in chosen]
        truth, ids = relevance[np.ix_(chosen, half)], [post.id for post in posts]
        words = word_statistics(model, articles, [linked.posts[place] for place in other])
        own = model.score_independently(articles, posts)
        with counted_in(words):
            kept = model.score_independently(articles, posts)
        found.append([float(per_article(scores, truth, ids)["MAP"].mean()) for scores in (own, kept)])
    return np.mean(found, axis=0).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--articles", default="data/articles.jsonl")
    parser.add_argument("--posts", default="data/posts.jsonl")
    given = parser.parse_args()
    linked = ArticlesAndPosts(given.articles, given.posts).read()
    lines = [
        "# Words counted in other posts",
        "",
        "Made by `python -m benchmarks.calibration.kept_words`, November 2026.",
        "",
        f"MAP of {len(linked.articles):,} articles, each scored alone, over halves of {len(linked.posts):,} posts.",
        "Words are counted in the ranked half, or in the other one. That half has posts on the same stories (divided",
        "at random), or about other ones.",
        "",
        "| model | the other half has | words of the ranked half | words of the other half |",
        "|---|---|---|---|",
    ]
    for name in MODELS:
        for by_story, label in ((False, "the same stories"), (True, "other stories")):
            own, kept = measured(name, linked, by_story)
            lines.append(f"| {name} | {label} | {100 * own:.1f} | {100 * kept:.1f} |")
    with atomic_write(OUT) as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
