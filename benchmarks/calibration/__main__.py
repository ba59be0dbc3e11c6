"""Measure the coverage of thresholds and their intervals; write results/thresholds.md.

    python -m benchmarks.calibration --model MODEL --crisislex DIR --trec DIR --dev DIR [--dev DIR]

CRISISLEX and TREC are the folders of `benchmarks.annotation`; each DEV holds articles.jsonl.gz and posts.jsonl.gz with
a split `dev`; MODEL is a trained model folder that was trained on none of them. BM25 and TF-IDF are measured as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.annotation.tasks import crises, topics
from linker.calibration.calibrate import calibrate
from linker.calibration.calibrated_thresholds import CalibratedThresholds
from linker.calibration.calibration import Calibration
from linker.calibration.labeled_thresholds import LabeledThresholds
from linker.calibration.thresholds import Thresholds
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.data.readers.articles_and_posts import ArticlesAndPosts
from linker.evaluation.outputs import only_split
from linker.ranking.ranker import load

OUT = Path(__file__).resolve().parent / "results" / "thresholds.md"
KEPT = (0.02, 0.05, 0.1, 0.2, 0.5, 0.9)
LABELS = (50, 100, 200)
WAYS = {"random": "drawn at random", "top": "the best-ranked", "both": "half the best-ranked, half at random"}
HALVES = 8


@dataclass(frozen=True)
class Collection:
    """Posts of one topic, best first."""

    scores: np.ndarray
    relevant: np.ndarray

    def keeping(self, share: float) -> float:
        """Return the score of the last post that is kept with this share of all."""
        return float(self.scores[max(int(share * len(self.scores)) - 1, 0)])


def measured(thresholds: Thresholds, score: float, scores: np.ndarray, relevant: np.ndarray) -> list[float]:
    """Return coverage and width of the intervals, NaN without one, and errors: of precision, then of recall."""
    one, kept = thresholds.at(score), scores >= np.float32(score)
    truths = float(relevant[kept].mean()), float(relevant[kept].sum() / relevant.sum())
    found = []
    for share, true in zip((one.precision, one.recall), truths):
        if share.low is None or share.high is None:
            held, width = float("nan"), float("nan")
        else:
            held = float(share.low - 1e-6 <= true <= share.high + 1e-6)
            width = share.high - share.low
        found += [held, width, abs(share.value - true)]
    return found


def drawn(way: str, count: int, posts: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Ranks that get labels, and whether each was drawn at random."""
    best = {"random": 0, "top": count, "both": count // 2}[way]
    others = rng.choice(np.arange(best, posts), count - best, replace=False)
    return np.concatenate([np.arange(best), others]), np.arange(count) >= best


def with_labels(collections: list[Collection], draws: int) -> Iterable[str]:
    yield "| labels | which | posts | precision: in the interval | width | off by | recall: in it | width | off by |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for way, label in WAYS.items():
        for count in LABELS:
            rng, rows, refused = np.random.default_rng(1), [], 0
            for collection in collections:
                if count >= 0.6 * len(collection.scores):
                    continue
                for _ in range(1 if way == "top" else draws):
                    at, random = drawn(way, count, len(collection.scores), rng)
                    try:
                        thresholds = LabeledThresholds(
                            collection.scores, at, collection.relevant[at], random=random
                        )
                    except DataError:
                        refused += 1
                        continue
                    for share in KEPT:
                        score = collection.keeping(share)
                        rows.append(measured(thresholds, score, collection.scores, collection.relevant))
            yield line([str(count), label, f"{len(rows) // len(KEPT)} + {refused}"], rows)


def line(names: list[str], rows: list[list[float]]) -> str:
    held_p, wide_p, off_p, held_r, wide_r, off_r = np.nanmean(rows, axis=0)
    numbers = [
        f"{100 * held_p:.0f} %",
        f"{wide_p:.2f}",
        f"{off_p:.2f}",
        f"{100 * held_r:.0f} %",
        f"{wide_r:.2f}",
        f"{off_r:.2f}",
    ]
    return f"| {' | '.join([*names, *numbers])} |"


def on_halves(scores: np.ndarray, relevance: np.ndarray, keep: float) -> list[str]:
    """Calibrate on half of the articles and test on the other half, with a sample of its irrelevant pairs."""
    rng, figures, by_dev = np.random.default_rng(3), [], []
    share = 0.0
    for _ in range(HALVES):
        order = rng.permutation(len(scores))
        first, second = order[: len(order) // 2], order[len(order) // 2 :]
        calibration = calibrate(scores[first], relevance[first])
        kept = relevance[second] | (rng.random(relevance[second].shape) < keep)
        collection, true = scores[second][kept], relevance[second][kept]
        share += float(true.mean()) / HALVES
        thresholds = CalibratedThresholds(calibration, collection)
        table = calibration.table()
        for row in table:
            figures.append(measured(thresholds, row.score, collection, true))
            by_dev.append(abs(row.precision.value - float(true[collection >= np.float32(row.score)].mean())))
    return [f"{100 * share:.2g} %", f"{np.mean(by_dev):.2f}", line([], figures).strip("| ")]


def on_collections(calibration: Calibration, collections: list[Collection]) -> list[str]:
    """Test a calibration on collections of other origin, gathered by keywords."""
    rows, guessed = [], []
    for collection in collections:
        thresholds = CalibratedThresholds(calibration, collection.scores)
        guessed.append(float(thresholds.of_raw(collection.scores).mean()))
        for share in KEPT[:-1]:
            score = collection.keeping(share)
            rows.append(measured(thresholds, score, collection.scores, collection.relevant))
    true = float(np.median([collection.relevant.mean() for collection in collections]))
    return [f"{100 * true:.0f} %", f"{100 * float(np.median(guessed)):.0f} %", line([], rows).strip("| ")]


def piles_of(model: str, crisislex: Path, trec: Path) -> dict[str, list[Collection]]:
    ranker, found = load(model), {}
    for name, sources in (("TREC Microblog", topics(trec)), ("CrisisLexT6", crises(crisislex))):
        collections = []
        for _, seeds, posts, relevant in sources:
            if len(relevant) < 20:
                continue
            ranking = ranker.rank(seeds, posts)
            scores = ranking.scale.least_raw([one.score for one in ranking])
            scores = np.where(np.isneginf(scores), np.float32(0), scores)  # no word in common
            collections.append(Collection(scores, np.array([one.post.id in relevant for one in ranking])))
        found[name] = collections
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    for name in ("--crisislex", "--trec"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--dev", type=Path, action="append", required=True)
    given = parser.parse_args()
    lines = [
        "# Coverage of the intervals of thresholds",
        "",
        "Made by `python -m benchmarks.calibration`. Intervals are of 95 %. Figures are means over thresholds that",
        "keep 2, 5, 10, 20, 50 and 90 % of the posts. Width and distance from the truth are shares: 0.10 is ten points",
        "of percent.",
        "",
        "## A few labels of the same posts",
        "",
        "TREC Microblog 2011 and 2012, topics with 20 relevant tweets or more, the topic's title as the article (half",
        "of the topics have over 880 tweets, of which 6 % are relevant); CrisisLexT6, four events of 10,000 tweets,",
        "55 % relevant. Sets with labels of one kind only are refused; their number follows the +.",
    ]
    known: dict[str, dict[str, list[Collection]]] = {}
    for name, model in (("the trained model", given.model), ("BM25", "bm25")):
        known[name] = piles_of(model, given.crisislex, given.trec)
        for source, collections in known[name].items():
            draws = 10 if len(collections) < 10 else 1
            lines += ["", f"**{source}, {name}**", "", *with_labels(collections, draws)]
    lines += [
        "",
        "## A calibration on a dev set",
        "",
        f"Learned from half of a dev set's articles, asked of all pairs of the other half ({HALVES} divisions;",
        "thresholds with a recall of 10 to 90 %). So that another share is relevant, pairs that are not are left out",
        "of the other half. The precision on the first half (before the share is guessed) is off by the number in",
        "the fifth column.",
        "",
        "| dev set | model | other pairs kept | relevant | dev precision off by | precision: in the interval | width "
        "| off by | recall: in it | width | off by |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    calibrations: dict[str, Calibration] = {}
    for folder in given.dev:
        read = ArticlesAndPosts(str(folder / "articles.jsonl.gz"), str(folder / "posts.jsonl.gz")).read()
        linked = only_split(read, "dev")
        for name, model in (("trained", given.model), ("TF-IDF", "tfidf")):
            # As `linker calibrate` and `linker rank`.
            scores = load(model).model.score_independently(linked.articles, linked.posts)
            if name == "trained":
                calibrations[folder.name] = calibrate(scores, linked.relevance())
            for keep in (1, 0.1, 0.005):
                cells = on_halves(scores, linked.relevance(), keep)
                lines.append(f"| {folder.name} | {name} | {100 * keep:g} % | {' | '.join(cells)} |")
    lines += [
        "",
        "The same calibrations of the trained model, asked of collections that were gathered by keywords:",
        "",
        "| dev set | collections | relevant (median) | guessed (median) | precision: in the interval | width | off by "
        "| recall: in it | width | off by |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for folder_name, calibration in calibrations.items():
        for source, collections in known["the trained model"].items():
            cells = on_collections(calibration, collections)
            lines.append(f"| {folder_name} | {source} | {' | '.join(cells)} |")
    with atomic_write(OUT) as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
