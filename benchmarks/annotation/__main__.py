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
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.annotation import article_seeds
from benchmarks.annotation.article_seeds import ARTICLES, AS_THEY_ARE
from benchmarks.annotation.opponents import PRESETS, AutoTar, asreview_runs
from benchmarks.annotation.report import WHOLE, write_report
from benchmarks.annotation.tasks import crises, keep_vectors, subsampled, topics
from linker.annotation.build_pool import build_pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.simulate import Task, simulate
from linker.annotation.simulation.study import Outcome
from linker.common.files import atomic_write
from linker.config import build
from linker.models.files.resolve import resolve_model
from linker.models.model import Model
from linker.models.pretrained import BEST

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
STRATEGIES = (
    "random",
    "keywords",
    "lexical",
    "seed_similarity",
    "hybrid",
    "rocchio",
    "active_learning",
    "autotar",
)
FIRST = 100
LEARNING = ("active_learning", "autotar")
#: Strategies on topics whose seed is a whole article.
FOR_ARTICLES = ("seed_similarity", *LEARNING)
AT_ONCE = 12


def linker_runs(task: Task, growth: float, wanted: Sequence[tuple[str, int]]) -> Iterator[dict[str, Any]]:
    for name, seed in wanted:
        began = time.process_time()
        run = simulate(task, AutoTar() if name == "autotar" else build(QueryStrategy, name), seed, growth)
        seconds = round(time.process_time() - began, 2)
        yield {**asdict(Outcome.of(task, name, seed, run, FIRST)), "seconds": seconds}


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
    parser.add_argument("--crisislex", type=Path)
    parser.add_argument("--trec", type=Path)
    parser.add_argument(
        "--articles", type=Path, help="sets with links, for topics whose seed is a whole article"
    )
    parser.add_argument(
        "--model",
        default=BEST,
        help="model to rank with: bm25, tfidf, a model folder, or a config of a model without training",
    )
    parser.add_argument("--name", help="name of the model in the report")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--asreview", help="Python interpreter with asreview installed")
    parser.add_argument(
        "--presets",
        nargs="+",
        default=list(PRESETS),
        choices=PRESETS,
        help="presets of ASReview; all but the first use the embeddings of MODEL",
    )
    parser.add_argument(
        "--strategies", nargs="+", default=list(STRATEGIES), help="linker's query strategies, and autotar"
    )
    parser.add_argument(
        "--prevalences",
        nargs="*",
        type=float,
        default=[],
        help="shares of relevant posts to which each TREC topic is subsampled as well, for one run of what learns",
    )
    parser.add_argument(
        "--growth",
        type=float,
        default=0.1,
        help="relative growth of the labels after which the classifier is retrained",
    )
    parser.add_argument("--seeds", type=int, default=5, help="number of runs of what is random or learns")
    parser.add_argument("--every", type=int, default=1, help="use each N-th TREC topic only")
    parser.add_argument(
        "--out", type=Path, default=RESULTS / "annotation", help="path of the report without its ending"
    )
    given = parser.parse_args()
    name = given.name or Path(given.model).stem
    results, vectors, others = given.work / name, given.work / f"{name}-vectors", given.work / "asreview"
    for folder in (results, vectors, others):
        folder.mkdir(parents=True, exist_ok=True)
    model = resolve_model(given.model).load()
    keep_vectors(model, vectors)
    done: list[dict[str, Any]] = []
    every = tasks_of(model, given)
    while tasks := list(islice(every, AT_ONCE)):
        done += measured([one for group in tasks for one in group], results, others, given)
        print(f"{len(done)} tasks", flush=True)
    options = [f"--model {given.model}", f"--growth {given.growth:g}", f"--seeds {given.seeds}"]
    if given.prevalences:
        options.append(" ".join(["--prevalences", *(f"{share:g}" for share in given.prevalences)]))
    print(write_report(done, given.out, name, given.growth, " ".join(options)))


def tasks_of(model: Model, given: argparse.Namespace) -> Iterator[list[tuple[str, Task]]]:
    """Yield each topic's versions, with the names of their sets."""
    for title, seeds, posts, relevant in crises(given.crisislex) if given.crisislex else ():
        yield [("CrisisLexT6", Task.of(title, build_pool(seeds, posts, model), relevant))]
    for title, seeds, posts, relevant in list(topics(given.trec) if given.trec else ())[:: given.every]:
        whole = Task.of(title, build_pool(seeds, posts, model), relevant)
        parts = [(share, subsampled(whole, share)) for share in given.prevalences]
        yield [
            ("TREC", whole),
            *((f"TREC at {share:.1%}", part) for share, part in parts if part is not None),
        ]
    if given.articles:
        yield from article_seeds.tasks_of(given.articles, model)


def strategies_for(kind: str, given: argparse.Namespace) -> Sequence[str]:
    """Return linker's contenders on the topics of a set."""
    if kind.startswith(ARTICLES):
        return FOR_ARTICLES
    return given.strategies if kind in WHOLE else LEARNING


def runs_for(kind: str, given: argparse.Namespace) -> int:
    """Return the number of runs on each topic of a set: one of those that were changed."""
    return given.seeds if kind in WHOLE or kind.endswith(AS_THEY_ARE) else 1


def measured(
    tasks: Sequence[tuple[str, Task]], results: Path, others: Path, given: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the outcomes of all contenders on each task; those in `results` are not computed again."""
    kept: dict[str, dict[str, Any]] = {}
    paths = {task.name: results / f"{task.name}-{given.growth:g}.json" for _, task in tasks}
    for kind, task in tasks:
        path = paths[task.name]
        known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        kept[task.name] = known = known or {**facts(task, kind), "outcomes": []}
        names, runs = strategies_for(kind, given), runs_for(kind, given)
        wanted = [(one, seed) for one in names for seed in range(runs)]
        known["outcomes"] += linker_runs(
            task, given.growth, [one for one in wanted if one not in ready(known)]
        )
        save(path, known)
        print(f"{task.name}: {sum(o.get('seconds', 0) for o in known['outcomes']):.0f} s", flush=True)
    for preset in given.presets if given.asreview else ():
        for seed in range(given.seeds):
            asked = [
                task
                for kind, task in tasks
                # On thousands of posts the SVM of a preset with embeddings takes hours.
                if (kind == "TREC" or preset == "asreview") and seed < runs_for(kind, given)
            ]
            missing = [task for task in asked if (preset, seed) not in ready(kept[task.name])]
            runs_of = asreview_runs(missing, preset, given.asreview, given.growth, others, seed)
            for task in missing:
                outcome = asdict(Outcome.of(task, preset, seed, runs_of[task.name], FIRST))
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
