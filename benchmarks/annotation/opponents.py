"""Opponents of linker's query strategies: ASReview in a process of its own, AutoTAR, and Rocchio."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy, rank_unlabeled, unlabeled
from linker.annotation.simulation.simulate import Run
from linker.annotation.simulation.task import Task
from linker.common.files import atomic_write
from linker.common.stats import zscore

HERE = Path(__file__).resolve().parent
#: Name in the report → preset of ASReview; those beyond the first get the embeddings of the benchmark's model.
PRESETS = {"asreview": "elas_u4", "asreview_h3": "elas_h3", "asreview_l2": "elas_l2"}


class AutoTar(QueryStrategy):
    """AutoTAR (Cormack and Grossman 2015): logistic regression on TF-IDF, 100 unlabeled posts presumed not relevant.

    The seed articles are relevant from the start. The batches grow by a tenth, which is the pace of the simulation.
    """

    def __init__(self) -> None:
        self._posts: list[object] = []

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Rank by the regression's decision."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        if self._posts is not pool.posts:
            texts = [article.full_text for article in pool.articles] + [post.text for post in pool.posts]
            self._words = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
            self._posts = pool.posts  # type: ignore[assignment]
        seeds, free = len(pool.articles), unlabeled(pool, labels)
        presumed = generator.choice(free, size=min(100, len(free)), replace=False)
        examples = np.concatenate([np.arange(seeds), seeds + labels.posts, seeds + presumed])
        relevant = np.concatenate(
            [np.ones(seeds, dtype=bool), labels.relevant, np.zeros(len(presumed), dtype=bool)]
        )
        regression = LogisticRegression(C=1.0, max_iter=1000).fit(self._words[examples], relevant)
        return rank_unlabeled(regression.decision_function(self._words[seeds:]), pool, labels)


class Rocchio(QueryStrategy):
    """Rocchio's relevance feedback (1971) on TF-IDF vectors and on the model's embeddings; the z-scores are added."""

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Rank by similarity to mean seed + 0.75 mean relevant post − 0.15 mean irrelevant post."""
        scores = np.zeros(len(pool), dtype=np.float32)
        for vectors, seeds in ((pool.words, pool.article_words), (pool.vectors, pool.article_vectors)):
            if vectors is None or seeds is None:
                continue
            query = np.asarray(seeds.mean(axis=0)).ravel()
            for weight, places in (
                (0.75, labels.posts[labels.relevant]),
                (-0.15, labels.posts[~labels.relevant]),
            ):
                if len(places):
                    query = query + weight * np.asarray(vectors[places].mean(axis=0)).ravel()
            scores = scores + zscore(vectors @ query)
        return rank_unlabeled(scores, pool, labels)


def asreview_runs(
    tasks: Sequence[Task], name: str, python: str, growth: float, folder: Path, seed: int
) -> dict[str, Run]:
    """Return a preset's run on each task; one process computes all missing ones.

    Args:
        tasks: the tasks.
        name: key of `PRESETS`.
        python: interpreter with asreview installed.
        growth: relative growth of the labels after which the classifier is retrained.
        folder: keeps the orders, so that they are computed once.
        seed: seed of the order of the records.
    """
    orders = {task.name: folder / f"{name}-{task.name}-{growth:g}-{seed}.json" for task in tasks}
    missing = [task for task in tasks if not orders[task.name].is_file()]
    if missing:
        source, target = folder / f"{name}-in.csv", folder / f"{name}-out.csv"
        vectors = folder / f"{name}-in.npy"
        rows: list[np.ndarray] = []
        with atomic_write(source) as file:
            writer = csv.writer(file)
            writer.writerow(["task", "place", "text", "relevant"])
            for task in missing:
                # ASReview begins from the top of the file, so its order must be random.
                order = np.random.default_rng(seed).permutation(len(task.pool))
                writer.writerows([task.name, -1, article.full_text, 1] for article in task.pool.articles)
                writer.writerows(
                    [task.name, place, task.pool.posts[place].text, int(task.relevant[place])]
                    for place in order
                )
                if task.pool.vectors is not None and task.pool.article_vectors is not None:
                    rows += [task.pool.article_vectors, task.pool.vectors[order]]
        command = [python, *(str(path.resolve()) for path in (HERE / "asreview_order.py", source, target))]
        command += [str(growth), PRESETS[name]]
        if name != "asreview":
            with atomic_write(vectors, "wb") as file:
                np.save(file, np.concatenate(rows))
            command.append(str(vectors.resolve()))
        # ASReview leaves a cache where it runs.
        subprocess.run(command, check=True, cwd=folder)
        places: dict[str, list[int]] = {}
        with target.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                places.setdefault(row["task"], []).append(int(row["place"]))
        for title, found in places.items():
            with atomic_write(orders[title]) as file:
                json.dump(found, file)
        for path in (source, target, vectors):
            path.unlink(missing_ok=True)
    return {
        task.name: _run(task, json.loads(orders[task.name].read_text(encoding="utf-8"))) for task in tasks
    }


def _run(task: Task, order: list[int]) -> Run:
    rest = np.setdiff1d(np.arange(len(task.pool)), order)  # it ends when all relevant posts are found
    places = np.concatenate([np.array(order, dtype=np.int64), rest])
    return Run(Labels(places, task.relevant[places], np.zeros(len(places), dtype=bool)))
