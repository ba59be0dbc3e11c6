"""Measure how many labels each query strategy needs on labeled posts; write annotation.md, .csv and .svg to results/.

    python -m benchmarks.annotation --crisislex DIR --trec DIR --articles DATA --work WORK --asreview PYTHON

CRISISLEX holds t6.tsv.gz and seed_headlines.tsv.gz, TREC judged_2011.jsonl.gz, judged_2012.jsonl.gz and topics.tsv.gz,
DATA fnc1_headlines, plazz_commentary and politifact_tweets. PYTHON is an interpreter with asreview installed, which
linker does not need. WORK keeps the result of each task, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.annotation import article_seeds
from benchmarks.annotation.article_seeds import ARTICLES, AS_THEY_ARE, PREVALENCES
from benchmarks.annotation.opponents import PRESETS, AutoTar, Rocchio, asreview_runs
from benchmarks.annotation.report import WHOLE, write_report
from benchmarks.annotation.tasks import VectorFiles, crises, subsampled, topics
from linker.annotation.build_pool import build_pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.outcomes import Outcome
from linker.annotation.simulation.simulate import simulate
from linker.annotation.simulation.task import Task
from linker.common.files import atomic_write
from linker.config import build
from linker.models.files.resolve import resolve_model
from linker.models.model import Model
from linker.models.pretrained import BEST

HERE = Path(__file__).resolve().parent
STRATEGIES = (
    *("random", "keywords", "lexical", "seed_similarity", "hybrid", "rocchio"),
    *("active_learning", "autotar"),
)
#: Relative growth of the labels after which a classifier is retrained; runs of what is random or learns.
GROWTH, SEEDS = 0.1, 5
OPPONENTS = {"autotar": AutoTar, "rocchio": Rocchio}
LEARNING = ("active_learning", "autotar")
#: Strategies on topics whose seed is a whole article.
FOR_ARTICLES = ("seed_similarity", *LEARNING)
AT_ONCE = 12


def linker_runs(task: Task, wanted: Sequence[tuple[str, int]]) -> Iterator[dict[str, Any]]:
    for name, seed in wanted:
        began = time.process_time()
        run = simulate(
            task, OPPONENTS[name]() if name in OPPONENTS else build(QueryStrategy, name), seed, GROWTH
        )
        seconds = round(time.process_time() - began, 2)
        yield {**asdict(Outcome.of(task, name, seed, run)), "seconds": seconds}


def facts(task: Task, kind: str) -> dict[str, Any]:
    best = np.cumsum(-np.sort(-task.gains))
    return {
        "set": kind,
        "name": task.name,
        "seeds": [article.title for article in task.pool.articles],
        "posts": task.posts,
        "distinct": len(task.pool),
        "relevant": task.total,
        "relevant_distinct": int(task.relevant.sum()),
        "disagreeing": task.disagreeing,
        "least_labels_95": int(np.searchsorted(best, 0.95 * task.total - 1e-9)) + 1,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("crisislex", "trec", "articles"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--asreview", help="Python interpreter with asreview installed")
    given = parser.parse_args()
    results, vectors, others = given.work / BEST, given.work / f"{BEST}-vectors", given.work / "asreview"
    for folder in (results, vectors, others):
        folder.mkdir(parents=True, exist_ok=True)
    model = resolve_model(BEST).load()
    kept = VectorFiles(vectors)
    done: list[dict[str, Any]] = []
    every = tasks_of(model, kept, given)
    while tasks := list(islice(every, AT_ONCE)):
        done += measured([one for group in tasks for one in group], results, others, given.asreview)
        print(f"{len(done)} tasks", flush=True)
    print(write_report(done, HERE / "results/annotation", BEST, GROWTH))


def tasks_of(model: Model, kept: VectorFiles, given: argparse.Namespace) -> Iterator[list[tuple[str, Task]]]:
    """Yield each topic's versions, with the names of their sets."""
    for title, seeds, posts, relevant in crises(given.crisislex) if given.crisislex else ():
        yield [("CrisisLexT6", Task.of(title, build_pool(seeds, posts, model, kept), relevant))]
    for title, seeds, posts, relevant in topics(given.trec) if given.trec else ():
        whole = Task.of(title, build_pool(seeds, posts, model, kept), relevant)
        parts = [(share, subsampled(whole, share)) for share in PREVALENCES]
        yield [
            ("TREC", whole),
            *((f"TREC at {share:.1%}", part) for share, part in parts if part is not None),
        ]
    if given.articles:
        yield from article_seeds.tasks_of(given.articles, model)


def contenders(kind: str) -> list[tuple[str, int]]:
    """Return linker's contenders on the topics of a set, with their seeds: one run of sets that were changed."""
    names = FOR_ARTICLES if kind.startswith(ARTICLES) else STRATEGIES if kind in WHOLE else LEARNING
    return [(name, seed) for name in names for seed in range(runs_for(kind))]


def runs_for(kind: str) -> int:
    return SEEDS if kind in WHOLE or kind.endswith(AS_THEY_ARE) else 1


def measured(
    tasks: Sequence[tuple[str, Task]], results: Path, others: Path, asreview: str | None
) -> list[dict[str, Any]]:
    """Return the outcomes of all contenders on each task; those in `results` are not computed again."""
    kept: dict[str, dict[str, Any]] = {}
    paths = {task.name: results / f"{task.name}-{GROWTH:g}.json" for _, task in tasks}
    for kind, task in tasks:
        path = paths[task.name]
        known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        kept[task.name] = known = known or {**facts(task, kind), "outcomes": []}
        known["outcomes"] += linker_runs(task, [one for one in contenders(kind) if one not in ready(known)])
        save(path, known)
        print(f"{task.name}: {sum(o.get('seconds', 0) for o in known['outcomes']):.0f} s", flush=True)
    for preset, seed in product(PRESETS if asreview else (), range(SEEDS)):
        # On thousands of posts the SVM of a preset with embeddings takes hours.
        missing = [
            task
            for kind, task in tasks
            if (kind == "TREC" or preset == "asreview")
            and seed < runs_for(kind)
            and (preset, seed) not in ready(kept[task.name])
        ]
        runs_of = asreview_runs(missing, preset, str(asreview), GROWTH, others, seed)
        for task in missing:
            outcome = asdict(Outcome.of(task, preset, seed, runs_of[task.name]))
            kept[task.name]["outcomes"].append(outcome)
            save(paths[task.name], kept[task.name])
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths.values()]


def ready(known: dict[str, Any]) -> set[tuple[str, int]]:
    """Return the contenders and seeds whose outcomes are known."""
    return {(outcome["strategy"], outcome["seed"]) for outcome in known["outcomes"]}


def save(path: Path, known: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        json.dump(known, file)


if __name__ == "__main__":
    main()
