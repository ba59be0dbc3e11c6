"""How many labels each ordering needs on real labelled posts: makes benchmarks/annotation.md, .csv and .svg.

    python benchmarks/annotation.py --crisislex DIR --trec DIR --model MODEL --work WORK --asreview PYTHON

CRISISLEX holds t6.tsv.gz and seed_headlines.tsv.gz, TREC judged_2011.jsonl.gz, judged_2012.jsonl.gz and topics.tsv.gz;
MODEL is what `linker rank --model` takes; PYTHON is an interpreter that has asreview, which linker does not need.
WORK keeps the result of each task: an interrupted run goes on where it stopped.
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
from annotation_report import write_report

from linker.annotation.building import build_pool
from linker.annotation.labels import Labels
from linker.annotation.ordering import OrderingStrategy
from linker.annotation.outcomes import Outcome
from linker.annotation.simulation import Run, Task, simulate
from linker.config import build
from linker.data.types import Article, Post
from linker.files import atomic_write
from linker.models.model import Model
from linker.ranking.linker import find_model

HERE = Path(__file__).resolve().parent
STRATEGIES = ("random", "keywords", "lexical", "seed_similarity", "hybrid", "rocchio", "learning")
# No headline of these events is among the seeds: a query with the event's name stands in.
QUERIES = {"2012_Sandy_Hurricane": "Hurricane Sandy", "2013_Queensland_Floods": "Queensland floods"}
FIRST = 100
AT_ONCE = 12
Source = tuple[str, list[Article], list[Post], set[str]]


class Remembered(Model):
    """A model whose vectors are kept in files."""

    def __init__(self, model: Model, folder: Path) -> None:
        self.model, self.folder = model, folder

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        return self.model.score(articles, posts)

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray | None:
        return self.model.article_vectors(articles)

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray | None:
        key = sha256("\0".join(post.text for post in posts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
        path = self.folder / f"{key}.npy"
        if path.is_file():
            return np.load(path).astype(np.float32)
        vectors = self.model.post_vectors(posts)
        if vectors is not None:
            with atomic_write(path, "wb") as file:
                np.save(file, vectors.astype(np.float16))
            return vectors.astype(np.float16).astype(np.float32)  # the same the next time
        return None


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


def linker_runs(task: Task, growth: float, seeds: int) -> list[dict[str, Any]]:
    outcomes = []
    for name in STRATEGIES:
        strategy = build(OrderingStrategy, name)
        began = time.process_time()
        for seed in range(5 if name == "random" else seeds if name == "learning" else 1):
            outcome = Outcome.of(task, name, seed, simulate(task, strategy, seed, growth), FIRST)
            outcomes.append({**asdict(outcome), "seconds": round(time.process_time() - began, 2)})
    return outcomes


def asreview_runs(
    tasks: Sequence[Task], python: str, growth: float, folder: Path
) -> dict[str, dict[str, Any]]:
    """ASReview's outcome on each task; one process does all that are not there yet."""
    orders = {task.name: folder / f"{task.name}-{growth:g}.json" for task in tasks}
    missing = [task for task in tasks if not orders[task.name].is_file()]
    if missing:
        source, target = folder / f"{missing[0].name}-in.csv", folder / f"{missing[0].name}-out.csv"
        with atomic_write(source) as file:
            writer = csv.writer(file)
            writer.writerow(["task", "place", "text", "relevant"])
            for task in missing:
                writer.writerows([task.name, -1, article.full_text, 1] for article in task.pool.articles)
                # ASReview begins from the top, and the posts of TREC come ranked.
                for place in np.random.default_rng(1).permutation(len(task.pool)):
                    writer.writerow(
                        [task.name, place, task.pool.posts[place].text, int(task.relevant[place])]
                    )
        script = HERE / "annotation_asreview.py"
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
        task.name: _outcome(task, json.loads(orders[task.name].read_text(encoding="utf-8"))) for task in tasks
    }


def _outcome(task: Task, order: list[int]) -> dict[str, Any]:
    rest = np.setdiff1d(np.arange(len(task.pool)), order)  # it ends when all relevant posts are found
    places = np.concatenate([np.array(order, dtype=np.int64), rest])
    run = Run(Labels(places, task.relevant[places], np.zeros(len(places), dtype=bool)))
    return asdict(Outcome.of(task, "asreview", 0, run, FIRST))


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
        "--model", required=True, help="bm25, tfidf, a model folder, or a config of a ready model"
    )
    parser.add_argument("--name", help="what the model is called in the report")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--asreview", help="a Python interpreter that has asreview installed")
    parser.add_argument("--growth", type=float, default=0.1, help="a new order after so many more labels")
    parser.add_argument("--seeds", type=int, default=1, help="runs of learning")
    parser.add_argument("--every", type=int, default=1, help="only each n-th TREC topic")
    parser.add_argument(
        "--out", type=Path, default=HERE / "annotation", help="the report's path without ending"
    )
    given = parser.parse_args()
    name = given.name or Path(given.model).stem
    results, vectors, others = given.work / name, given.work / f"{name}-vectors", given.work / "asreview"
    for folder in (results, vectors, others):
        folder.mkdir(parents=True, exist_ok=True)
    sources = [("CrisisLexT6", one) for one in (crises(given.crisislex) if given.crisislex else ())]
    sources += [("TREC", one) for one in list(topics(given.trec) if given.trec else ())[:: given.every]]
    model = Remembered(find_model(given.model).load().model, vectors)
    done: list[dict[str, Any]] = []
    for start in range(0, len(sources), AT_ONCE):
        tasks: dict[str, Task] = {}
        kept: list[tuple[Path, dict[str, Any]]] = []
        for kind, (title, seeds, posts, relevant) in sources[start : start + AT_ONCE]:
            path = results / f"{title}-{given.growth:g}.json"
            known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
            ready = {outcome["strategy"] for outcome in known.get("outcomes", ())}
            if not ready >= {*STRATEGIES, *(["asreview"] if given.asreview else [])}:
                task = tasks[title] = Task.of(title, build_pool(seeds, posts, model), relevant)
                if not known:
                    known = {**facts(task, kind), "outcomes": linker_runs(task, given.growth, given.seeds)}
            kept.append((path, known))
        if given.asreview and tasks:
            outcomes = asreview_runs(list(tasks.values()), given.asreview, given.growth, others)
            for _, known in kept:
                if known["name"] in outcomes:
                    known["outcomes"].append(outcomes[known["name"]])
        for path, known in kept:
            with atomic_write(path) as file:
                json.dump(known, file)
        done += [json.loads(path.read_text(encoding="utf-8")) for path, _ in kept]
        print(f"{len(done)} of {len(sources)}", flush=True)
    write_report(done, given.out, name, given.growth)


if __name__ == "__main__":
    main()
