"""Measure how many labels each query strategy needs on labeled posts; write annotation.md, .csv and .svg to results/.

    python -m benchmarks.annotation --crisislex DIR --trec DIR --model MODEL --work WORK --asreview PYTHON

CRISISLEX holds t6.tsv.gz and seed_headlines.tsv.gz, TREC judged_2011.jsonl.gz, judged_2012.jsonl.gz and topics.tsv.gz;
MODEL is any value of `linker rank --model`; PYTHON is an interpreter with asreview installed, which linker does not
need. WORK keeps the result of each task, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.annotation.report import write_report
from linker.annotation.build_pool import build_pool
from linker.annotation.pool import Labels
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.simulate import Run, Task, simulate
from linker.annotation.simulation.study import Outcome
from linker.common.files import atomic_write
from linker.config import build
from linker.data.types import Article, Post
from linker.models.model import Model, embedding_submodel
from linker.models.resolve import resolve_model

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
STRATEGIES = ("random", "keywords", "lexical", "seed_similarity", "hybrid", "rocchio", "learning")
# No headline of these events is among the seeds: a query with the event's name is used instead.
QUERIES = {"2012_Sandy_Hurricane": "Hurricane Sandy", "2013_Queensland_Floods": "Queensland floods"}
FIRST = 100
SEEDS = 5
AT_ONCE = 12
Source = tuple[str, list[Article], list[Post], set[str]]


def keep_vectors(model: Model, folder: Path) -> None:
    """Let a model keep the embeddings of posts in files, so that an interrupted run does not encode them again."""
    part = embedding_submodel(model)
    if part is None:
        return
    encode = part.post_vectors

    def kept(posts: Sequence[Post]) -> np.ndarray | None:
        key = sha256("\0".join(post.text for post in posts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
        path = folder / f"{key}.npy"
        if not path.is_file():
            vectors = encode(posts)
            if vectors is None:
                return None
            with atomic_write(path, "wb") as file:
                np.save(file, vectors.astype(np.float16))
        return np.load(path).astype(np.float32)  # in 16 bits the first time, too

    vars(part)["post_vectors"] = kept


def table(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def crises(folder: Path) -> Iterator[Source]:
    headlines = [row for row in table(folder / "seed_headlines.tsv.gz") if row["release"] == "t6"]
    events: dict[str, dict[str, dict[str, str]]] = {}
    for row in table(folder / "t6.tsv.gz"):
        events.setdefault(row["event"], {}).setdefault(row["tweet_id"], row)
    for name, rows in sorted(events.items()):
        seeds = [
            Article(row["plazz_article_id"], row["caption"] or "", row["title"])
            for row in headlines
            if row["event"] == name
        ] or [Article(name, "", QUERIES[name])]
        posts = [Post(key, row["text"]) for key, row in rows.items()]
        yield name, seeds, posts, {key for key, row in rows.items() if row["on_topic"] == "1"}


def topics(folder: Path) -> Iterator[Source]:
    queries = {row["topic_id"]: row["query"] for row in table(folder / "topics.tsv.gz")}
    judged: dict[str, dict[str, dict[str, Any]]] = {}
    for year in (2011, 2012):
        with gzip.open(folder / f"judged_{year}.jsonl.gz", "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                judged.setdefault(row["topic_id"], {}).setdefault(row["tweet_id"], row)
    for name, rows in judged.items():
        posts = [Post(key, row["text"]) for key, row in rows.items()]
        relevant = {key for key, row in rows.items() if row["relevant"]}
        if relevant:
            yield f"trec-{name}", [Article(name, "", queries[name])], posts, relevant


def seeds_of(name: str, learning: int) -> int:
    """Return the number of runs of a strategy; learning strategies are slow, the others are cheap."""
    return learning if name == "learning" else SEEDS


def linker_runs(task: Task, growth: float, wanted: Sequence[tuple[str, int]]) -> Iterator[dict[str, Any]]:
    for name, seed in wanted:
        began = time.process_time()
        run = simulate(task, build(QueryStrategy, name), seed, growth)
        seconds = round(time.process_time() - began, 2)
        yield {**asdict(Outcome.of(task, name, seed, run, FIRST)), "seconds": seconds}


def asreview_runs(
    tasks: Sequence[Task], python: str, growth: float, folder: Path, seed: int
) -> dict[str, dict[str, Any]]:
    """Return ASReview's outcome on each task; one process computes all missing ones."""
    orders = {task.name: folder / f"{task.name}-{growth:g}-{seed}.json" for task in tasks}
    missing = [task for task in tasks if not orders[task.name].is_file()]
    if missing:
        source, target = folder / f"{missing[0].name}-in.csv", folder / f"{missing[0].name}-out.csv"
        with atomic_write(source) as file:
            writer = csv.writer(file)
            writer.writerow(["task", "place", "text", "relevant"])
            for task in missing:
                writer.writerows([task.name, -1, article.full_text, 1] for article in task.pool.articles)
                # ASReview begins from the top of the file, so its order must be random.
                for place in np.random.default_rng(seed).permutation(len(task.pool)):
                    writer.writerow(
                        [task.name, place, task.pool.posts[place].text, int(task.relevant[place])]
                    )
        script = HERE / "asreview_order.py"
        paths = [str(path.resolve()) for path in (script, source, target)]
        # ASReview leaves a cache where it runs.
        subprocess.run([python, *paths, str(growth)], check=True, cwd=folder)
        places: dict[str, list[int]] = {}
        with target.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                places.setdefault(row["task"], []).append(int(row["place"]))
        for name, order in places.items():
            with atomic_write(orders[name]) as file:
                json.dump(order, file)
        source.unlink()
        target.unlink()
    return {
        task.name: _outcome(task, seed, json.loads(orders[task.name].read_text(encoding="utf-8")))
        for task in tasks
    }


def _outcome(task: Task, seed: int, order: list[int]) -> dict[str, Any]:
    rest = np.setdiff1d(np.arange(len(task.pool)), order)  # it ends when all relevant posts are found
    places = np.concatenate([np.array(order, dtype=np.int64), rest])
    run = Run(Labels(places, task.relevant[places], np.zeros(len(places), dtype=bool)))
    return asdict(Outcome.of(task, "asreview", seed, run, FIRST))


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
        "--model",
        required=True,
        help="model to rank with: bm25, tfidf, a model folder, or a config of a model without training",
    )
    parser.add_argument("--name", help="name of the model in the report")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--asreview", help="Python interpreter with asreview installed")
    parser.add_argument(
        "--growth",
        type=float,
        default=0.1,
        help="relative growth of the labels after which the classifier is retrained",
    )
    parser.add_argument("--seeds", type=int, default=5, help="number of runs of the strategy learning")
    parser.add_argument("--asreview-seeds", type=int, default=1, help="number of runs of ASReview")
    parser.add_argument("--every", type=int, default=1, help="use each N-th TREC topic only")
    parser.add_argument(
        "--out", type=Path, default=RESULTS / "annotation", help="path of the report without its ending"
    )
    given = parser.parse_args()
    name = given.name or Path(given.model).stem
    results, vectors, others = given.work / name, given.work / f"{name}-vectors", given.work / "asreview"
    for folder in (results, vectors, others):
        folder.mkdir(parents=True, exist_ok=True)
    sources = [("CrisisLexT6", one) for one in (crises(given.crisislex) if given.crisislex else ())]
    sources += [("TREC", one) for one in list(topics(given.trec) if given.trec else ())[:: given.every]]
    model = resolve_model(given.model).load()
    keep_vectors(model, vectors)
    rivals = given.asreview_seeds if given.asreview else 0
    planned = [(strategy, seed) for strategy in STRATEGIES for seed in range(seeds_of(strategy, given.seeds))]
    done: list[dict[str, Any]] = []
    for start in range(0, len(sources), AT_ONCE):
        tasks: dict[str, Task] = {}
        kept: list[tuple[Path, dict[str, Any]]] = []
        for kind, (title, seeds, posts, relevant) in sources[start : start + AT_ONCE]:
            path = results / f"{title}-{given.growth:g}.json"
            known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
            ready = {(outcome["strategy"], outcome["seed"]) for outcome in known.get("outcomes", ())}
            own = [one for one in planned if one not in ready]
            if own or not ready >= {("asreview", seed) for seed in range(rivals)}:
                task = tasks[title] = Task.of(title, build_pool(seeds, posts, model), relevant)
                known = known or {**facts(task, kind), "outcomes": []}
                known["outcomes"] += linker_runs(task, given.growth, own)
                save(path, known)
            kept.append((path, known))
            print(f"{title}: {sum(o.get('seconds', 0) for o in known['outcomes']):.0f} s", flush=True)
        for seed in range(rivals if tasks else 0):
            outcomes = asreview_runs(list(tasks.values()), given.asreview, given.growth, others, seed)
            for path, known in kept:
                ready = {(outcome["strategy"], outcome["seed"]) for outcome in known["outcomes"]}
                if known["name"] in outcomes and ("asreview", seed) not in ready:
                    known["outcomes"].append(outcomes[known["name"]])
                    save(path, known)
        done += [json.loads(path.read_text(encoding="utf-8")) for path, _ in kept]
        print(f"{len(done)} of {len(sources)}", flush=True)
    command = f"--model {given.model} --growth {given.growth:g} --seeds {given.seeds}"
    write_report(done, given.out, name, given.growth, f"{command} --asreview-seeds {rivals}")


def save(path: Path, known: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        json.dump(known, file)


if __name__ == "__main__":
    main()
