"""Mine, train and measure Twitter4SSE on real tweets; write results/twitter4sse.md.

    python -m benchmarks.papers.twitter4sse --pairs PAIRS --objects OBJECTS --pit PIT --turl TURL --sts STS
        --vectors VECTORS --model MODEL --work WORK

PAIRS are pairs of tweets (`kind, text, parent_text`), OBJECTS an archive of tweet objects; PIT, TURL and STS the test
sets as TSV. VECTORS are 300-d word vectors, MODEL the folder of a sentence-transformers model. WORK receives what is
mined and trained; a second run resumes there. Each figure comes from the commands `linker mine`, `linker train
configs/papers/twitter4sse.jsonnet` and `linker evaluate`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from linker.common.files import atomic_write
from linker.config import build
from linker.data.types import LinkedPosts, Post
from linker.evaluation.benchmarks.graded_pairs import PairColumns, read_pairs
from linker.evaluation.benchmarks.reranking import read_reranking
from linker.models.archive import save_model, write_json
from linker.models.model import Model

RESULTS = Path(__file__).parent / "results"
REPORT, NOTES = RESULTS / "twitter4sse.md", RESULTS / "twitter4sse-notes.md"
LOSSES = {"mn": (), "triplet": ("-o", "miner=balanced", "-o", "loss=triplet_margin")}
SETS = {"dq": "one", "dr": "five", "cr": "five"}
GRADES = {"pit": "expert_score_0_5", "turl": "votes_of_6", "sts": "score"}
NAMES = {
    "bm25": "BM25",
    "tfidf": "TF-IDF",
    "mean": "mean of word vectors",
    "before": "MiniLM",
    "mn": "MiniLM, multiple negatives",
    "triplet": "MiniLM, triplet loss",
}
COLUMNS = (
    ("DQ", "dq", "nDCG"),
    ("DR", "dr", "nDCG"),
    ("CR", "cr", "nDCG"),
    ("PIT r", "pit", "Pearson"),
    ("PIT AP", "pit", "AP"),
    ("PIT F1", "pit", "best F1"),
    ("TURL r", "turl", "Pearson"),
    ("TURL AP", "turl", "AP"),
    ("TURL F1", "turl", "best F1"),
    ("STSb r", "sts", "Pearson"),
    ("STSb ρ", "sts", "Spearman"),
)


def linker(*arguments: object) -> None:
    """Run a command of linker to its end."""
    subprocess.run([sys.executable, "-m", "linker.cli.main", *map(str, arguments)], check=True)


def tweet_objects(pairs: Path, kind: str) -> Iterator[dict[str, Any]]:
    """Return the pairs of a kind as v1.1 objects with separate ids, to be mined like an archive."""
    parents: dict[str, str] = {}
    with gzip.open(pairs, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            pair = json.loads(line)
            if pair["kind"] != kind:
                continue
            new = pair["parent_text"] not in parents
            parent = {
                "id_str": parents.setdefault(pair["parent_text"], str(10**10 + len(parents))),
                "text": pair["parent_text"],
                "lang": "en",
                "truncated": bool(pair["parent_truncated"]),
            }
            child = {
                "id_str": str(2 * 10**10 + number),
                "text": pair["text"],
                "lang": "en",
                "truncated": bool(pair["truncated"]),
                "created_at": pair["created_at"],
            }
            if kind == "quote":
                yield child | {"quoted_status": parent}
            else:
                if new:
                    yield parent
                yield child | {"in_reply_to_status_id_str": parent["id_str"]}


def mine(options: argparse.Namespace) -> tuple[Path, int]:
    """Mine benchmarks, then training pairs without their tweets; return the file and the number of all pairs."""
    work: Path = options.work
    work.mkdir(parents=True, exist_ok=True)
    objects = {kind: work / f"{kind}.objects.jsonl.gz" for kind in ("quote", "reply")}
    for kind, path in objects.items():
        with atomic_write(path, "wb") as file, gzip.open(file, "wt", encoding="utf-8") as packed:
            packed.writelines(json.dumps(one) + "\n" for one in tweet_objects(options.pairs, kind))
    archives = [*objects.values(), options.objects]
    for name in ("quotes", "replies"):
        linker("mine", name, *archives, "--out", work / f"{name}.jsonl.gz")
    pairs = [work / "quotes.jsonl.gz", work / "replies.jsonl.gz"]
    # Hardly a tweet here has several quotes, so a query of DQ has one of its own among its candidates.
    for out, of, positives in (("five", archives, 5), ("one", [objects["quote"], options.objects], 1)):
        train = [argument for path in pairs for argument in ("--train", path)]
        linker("mine", "benchmarks", *of, "--out", work / out, "--positives", positives, *train)
        pairs = [work / out / "train" / path.name for path in pairs]
    lines = [line for path in pairs for line in gzip.decompress(path.read_bytes()).splitlines(keepends=True)]
    train_file = work / "train.jsonl.gz"
    with atomic_write(train_file, "wb") as file:
        # Mined pairs are in random order, so the first ones are a random sample.
        file.write(gzip.compress(b"".join(lines[: options.train_pairs]), mtime=0))
    return train_file, len(lines)


def word_vector_mean(options: argparse.Namespace, sets: dict[str, Path]) -> Path:
    """Write a model folder that averages word vectors, without training."""
    config = {
        "type": "siamese",
        "encoder": "mean",
        "embedder": {"type": "word_vectors", "dim": 300},
        "vectors": {"source": str(options.vectors)},
    }
    texts = [text for path in sets.values() for text in _texts(path)]
    model = build(Model, config)
    model.prepare(LinkedPosts([], [Post(str(n), text) for n, text in enumerate(dict.fromkeys(texts))]))
    folder: Path = options.work / "mean"
    save_model(model, folder, {"model": config}, {}, "Means of word vectors, not trained.\n")
    return folder


def _texts(path: Path) -> Iterator[str]:
    if path.suffixes[-2:] == [".jsonl", ".gz"]:
        for query in read_reranking(path):
            yield from (query.query, *(one.text for one in query.candidates))
    else:
        for pair in read_pairs(path, PairColumns()).texts:
            yield from pair


def evaluated(models: dict[str, Path], sets: dict[str, Path], folder: Path) -> dict[str, Any]:
    """Return set → its size and the figures of every model; results in the folder are reused."""
    folder.mkdir(exist_ok=True)
    found: dict[str, Any] = {}
    for name, path in sets.items():
        what: tuple[object, ...] = ("--reranking", path)
        if name in GRADES:
            what = ("--similarity", path, "--grade", GRADES[name])
        if name in ("pit", "turl"):
            what += ("--label", "label")
        found[name] = {"models": {}}
        for model, place in models.items():
            out = folder / f"{name}-{model}.json"
            if not out.exists():
                linker("benchmark", place, *what, "--json", out)
            (result,) = json.loads(out.read_text(encoding="utf-8"))["benchmarks"]
            found[name]["size"] = result["size"]
            found[name]["models"] |= {
                one if one in ("bm25", "tfidf") else model: figures
                for one, figures in result["models"].items()
            }
    return found


def table(found: dict[str, Any]) -> str:
    """Return a Markdown table in percent, with the display names of the models."""
    head = " | ".join(column for column, _, _ in COLUMNS)
    lines = [f"| % | {head} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name, shown in NAMES.items():
        values = (found[name_of]["models"][name][metric] for _, name_of, metric in COLUMNS)
        lines.append(f"| {shown} | " + " | ".join(f"{100 * value:.1f}" for value in values) + " |")
    return "\n".join(lines)


def main() -> None:
    """Mine, train, measure, write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("pairs", "objects", "pit", "turl", "sts", "vectors", "model", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--train-pairs", type=int, default=2500, help="number of training pairs")
    parser.add_argument("--max-tokens", type=int, default=64)
    options = parser.parse_args()
    work: Path = options.work
    train_file, possible = mine(options)
    cut = [f"model.max_{of}_tokens={options.max_tokens}" for of in ("article", "post")]
    models = {}
    for name, overrides in LOSSES.items():
        models[name] = work / "runs" / name
        changes = [argument for override in cut for argument in ("-o", override)]
        inputs = ("--data", train_file, "-o", f"model.path={options.model}")
        linker(
            "train", "configs/papers/twitter4sse.jsonnet", *inputs, "-o", "trainer.checkpoint_seconds=120", *changes,
            "--out", models[name], "--resume", *overrides,
        )  # fmt: skip
    sets = {name: work / folder / f"{name}.jsonl.gz" for name, folder in SETS.items()}
    sets |= {"pit": options.pit, "sts": options.sts, "turl": options.turl}
    models["mean"] = word_vector_mean(options, sets)
    models["before"] = work / "before.jsonnet"
    write_json(models["before"], {"type": "transformer", "path": str(options.model)})
    found = evaluated(models, sets, work / f"figures-{options.train_pairs}-{options.max_tokens}")
    lines = [
        "# Twitter4SSE on real tweets\n",
        "Made by `python -m benchmarks.papers.twitter4sse --pairs PAIRS --objects OBJECTS --pit PIT --turl TURL"
        f" --sts STS --vectors VECTORS --model MODEL --work WORK --train-pairs {options.train_pairs} --max-tokens"
        f" {options.max_tokens}` (Python {platform.python_version()}, torch {torch.__version__}).\n",
        "DQ, DR, CR: nDCG of the whole ranking by `linker benchmark --reranking`. r: Pearson, ρ: Spearman of scores and"
        " grades; AP and best F1 for the pairs labeled the same: `linker benchmark --similarity`.\n",
        table(found) + "\n",
        *(f"- {name.upper()}: {found[name]['size']}." for name in sets),
        f"- Trained on {min(options.train_pairs, possible):,} of {possible:,} mined pairs, one epoch, batches of 50.\n",
        NOTES.read_text(encoding="utf-8") if NOTES.is_file() else "",
    ]
    with atomic_write(REPORT) as file:
        file.write("\n".join(lines).rstrip() + "\n")
    print(REPORT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
