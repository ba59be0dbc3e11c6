"""Measure how many labels each query strategy needs on labeled posts; write annotation.md, .csv and .svg to results/.

    python -m benchmarks.annotation --crisislex DIR --trec DIR --work WORK --asreview PYTHON

CRISISLEX holds t6.tsv.gz and seed_headlines.tsv.gz, TREC judged_2011.jsonl.gz, judged_2012.jsonl.gz and topics.tsv.gz;
PYTHON is an interpreter with asreview installed, which linker does not
need. WORK keeps the result of each task, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.annotation.opponents import PRESETS, AutoTar, asreview_runs
from benchmarks.annotation.report import write_report
from linker.annotation.build_pool import build_pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.simulate import Task, simulate
from linker.annotation.simulation.study import Outcome
from linker.common.files import atomic_write
from linker.config import build
from linker.data.types import Article, Post
from linker.models.model import Model, embedding_submodel
from linker.models.pretrained import BEST
from linker.models.resolve import resolve_model

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
STRATEGIES = ("random", "keywords", "lexical", "seed_similarity", "hybrid", "rocchio", "learning", "autotar")
# No headline of these events is among the seeds: a query with the event's name is used instead.
QUERIES = {"2012_Sandy_Hurricane": "Hurricane Sandy", "2013_Queensland_Floods": "Queensland floods"}
FIRST = 100
LEARNING = ("learning", "autotar")
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


def subsampled(task: Task, prevalence: float, most: float = 0.95) -> Task | None:
    """Return the task with fewer relevant or fewer other posts, drawn at random, so that this share is relevant.

    None if fewer than three posts would be relevant, fewer than 60 would be left, or more than the share `most`, since
    almost nothing would change.
    """
    generator = np.random.default_rng(list(f"{task.name} {prevalence:g}".encode()))
    relevant, others = np.flatnonzero(task.relevant), np.flatnonzero(~task.relevant)
    wanted = round(prevalence * len(others) / (1 - prevalence))
    if wanted <= len(relevant):
        kept, rest = generator.choice(relevant, wanted, replace=False), others
    else:
        fewer = round(len(relevant) * (1 - prevalence) / prevalence)
        kept, rest = relevant, generator.choice(others, fewer, replace=False)
    places = np.sort(np.concatenate([kept, rest]))
    if len(kept) < 3 or len(places) < 60 or len(places) > most * len(task.pool):
        return None
    pool = task.pool
    posts, copies = [pool.posts[i] for i in places], [pool.copies[i] for i in places]
    part = replace(
        pool,
        posts=posts,
        copies=copies,
        scores=pool.scores[places],
        lexical_scores=pool.lexical_scores[places],
        words=pool.words[places],
        vectors=None if pool.vectors is None else pool.vectors[places],
    )
    gains = task.gains[places]
    return Task(
        f"{task.name}@{prevalence:g}",
        part,
        task.relevant[places],
        gains,
        int(gains.sum()),  # copies with another label than their representative are left out
        len(part) + sum(map(len, copies)),
        0,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--crisislex", type=Path)
    parser.add_argument("--trec", type=Path)
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
    sources = [("CrisisLexT6", one) for one in (crises(given.crisislex) if given.crisislex else ())]
    sources += [("TREC", one) for one in list(topics(given.trec) if given.trec else ())[:: given.every]]
    model = resolve_model(given.model).load()
    keep_vectors(model, vectors)
    done: list[dict[str, Any]] = []
    for start in range(0, len(sources), AT_ONCE):
        tasks: list[tuple[str, Task]] = []
        for kind, (title, seeds, posts, relevant) in sources[start : start + AT_ONCE]:
            whole = Task.of(title, build_pool(seeds, posts, model), relevant)
            tasks.append((kind, whole))
            for prevalence in given.prevalences if kind == "TREC" else ():
                if (part := subsampled(whole, prevalence)) is not None:
                    tasks.append((f"TREC at {prevalence:.1%}", part))
        done += measured(tasks, results, others, given)
        print(f"{min(start + AT_ONCE, len(sources))} of {len(sources)}", flush=True)
    options = [f"--model {given.model}", f"--growth {given.growth:g}", f"--seeds {given.seeds}"]
    if given.prevalences:
        options.append(" ".join(["--prevalences", *(f"{share:g}" for share in given.prevalences)]))
    print(write_report(done, given.out, name, given.growth, " ".join(options)))


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
        whole = kind in ("TREC", "CrisisLexT6")
        names = [one for one in given.strategies if whole or one in LEARNING]
        wanted = [(one, seed) for one in names for seed in range(given.seeds if whole else 1)]
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
                if kind == "TREC" or (preset == "asreview" and (kind == "CrisisLexT6" or not seed))
            ]
            missing = [task for task in asked if (preset, seed) not in ready(kept[task.name])]
            runs = asreview_runs(missing, preset, given.asreview, given.growth, others, seed)
            for task in missing:
                outcome = asdict(Outcome.of(task, preset, seed, runs[task.name], FIRST))
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
