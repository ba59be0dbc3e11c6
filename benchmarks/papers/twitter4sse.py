"""Mine, train and measure Twitter4SSE on real tweets; write results/twitter4sse.md.

    python -m benchmarks.papers.twitter4sse --pairs PAIRS --objects OBJECTS --pit PIT --turl TURL --sts STS
        --vectors VECTORS --model MODEL --work WORK

PAIRS are pairs of tweets (`kind, text, parent_text`), OBJECTS an archive of tweet objects; PIT, TURL and STS the test
sets as TSV. VECTORS are 300-d word vectors, MODEL the folder of a sentence-transformers model. WORK receives what is
mined and trained; a second run resumes there. The page is written after every run, from the runs that are finished.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.papers.twitter4sse_figures import (
    TestSets,
    Values,
    draw_curves,
    gain_rows,
    gains,
    kept,
    rows_of,
    verdict,
)
from linker.common.files import atomic_write
from linker.config import build, load_config
from linker.contrib.twitter4sse.tweets import Tweet, TweetFilter, tweets_in
from linker.data.types import LinkedPosts, Post
from linker.models.files.archive import load_model
from linker.models.model import Model
from linker.models.pretrained import FOLDERS
from linker.training.experiment import Experiment

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
REPORT, NOTES, PICTURE = (
    RESULTS / name for name in ("twitter4sse.md", "twitter4sse-notes.md", "twitter4sse.svg")
)
LOSSES = {"mn": (), "triplet": ("miner=balanced", "loss=triplet_margin")}
LOSS_NAMES = {"mn": "multiple negatives", "triplet": "triplet loss"}
SIZES = (1000, 2500, 5000, 10_000)
SEED = 13
MINERS = ("replies", "quotes", "coreplies", "coquotes")
# Fine-tuned word vectors, averaged.
WORDS: dict[str, Any] = {
    "type": "siamese",
    "tokenizer": "social",
    "vectors": {"max_words": 20_000},
    "embedder": {"type": "word_vectors", "trainable": True, "unknown": "zero"},
    "encoder": "mean",
}
NAMES = {
    "bundled": "bundled transformer (4 layers)",
    "minilm": "MiniLM (6 layers)",
    "words": "mean of word vectors",
}


def linker(*arguments: object) -> None:
    """Run a command of linker to its end."""
    subprocess.run([sys.executable, "-m", "linker.cli.main", *map(str, arguments)], check=True)


def tweet_objects(pairs: Path, kind: str) -> Iterator[dict[str, Any]]:
    """Return the pairs of a kind as v1.1 objects with ids that no other kind has, to be mined like an archive."""
    first_parent = {"reply": 1, "quote": 3}[kind] * 10**10
    parents: dict[str, str] = {}
    with gzip.open(pairs, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            pair = json.loads(line)
            if pair["kind"] != kind:
                continue
            new = pair["parent_text"] not in parents
            parent = {
                "id_str": parents.setdefault(pair["parent_text"], str(first_parent + len(parents))),
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


@dataclass(frozen=True)
class Run:
    """A training run, or an untrained model if `pairs` is 0."""

    model: str
    loss: str = "mn"
    pairs: int = 0
    seed: int = SEED

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.model}-{self.loss}-{self.pairs}-{self.seed}" if self.pairs else self.model


def every_pair(archives: list[Path], out: Path) -> None:
    """Write every quote and every reply with its tweet, in random order.

    `linker mine` writes at most one pair of a tweet and each text once, as the paper does; this drops both rules, but
    not the filter.
    """
    accepted, tweets = TweetFilter(), dict[str, Tweet]()
    for archive in archives:
        with gzip.open(archive, "rt", encoding="utf-8") as file:
            for line in file:
                tweets |= {tweet.id: tweet for tweet in tweets_in(json.loads(line))}
    usable = {number: tweet for number, tweet in tweets.items() if accepted.fault(tweet) is None}
    pairs = {}
    for tweet in tweets.values():
        for kind, parent in (("quote", tweet.quotes), ("reply", tweet.replies_to)):
            if parent not in usable or tweet.id not in usable:
                continue
            anchor, other = usable[parent], usable[tweet.id]
            if anchor.text != other.text:
                pairs[anchor.text, other.text] = {
                    "kind": kind,
                    "parent_id": parent,
                    "anchor_id": parent,
                    "anchor_text": anchor.text,
                    "id": tweet.id,
                    "text": other.text,
                }
    lines = [json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs.values()]
    random.Random(0).shuffle(lines)
    with atomic_write(out, "wb") as file:
        file.write(gzip.compress("".join(lines).encode(), mtime=0))


def mine(options: argparse.Namespace) -> tuple[list[bytes], list[bytes]]:
    """Mine benchmarks, then training pairs without their tweets.

    Returns:
        The pairs of the paper's kind, at most one of a tweet, in random order; and all others.
    """
    work: Path = options.work
    work.mkdir(parents=True, exist_ok=True)
    objects = {kind: work / f"{kind}.objects.jsonl.gz" for kind in ("quote", "reply")}
    names = [f"{miner}.jsonl.gz" for miner in MINERS] + ["every.jsonl.gz"]
    if not all((work / "one" / "train" / name).is_file() for name in names):
        for kind, path in objects.items():
            with atomic_write(path, "wb") as file, gzip.open(file, "wt", encoding="utf-8") as packed:
                packed.writelines(json.dumps(one) + "\n" for one in tweet_objects(options.pairs, kind))
        archives = [*objects.values(), options.objects]
        for miner in MINERS:
            linker("mine", miner, *archives, "--out", work / f"{miner}.jsonl.gz")
        every_pair(archives, work / "every.jsonl.gz")
        pairs = [work / name for name in names]
        # Hardly a tweet here has several quotes, so a query of DQ has one of its own among its candidates.
        for out, of, positives in (("five", archives, 5), ("one", [objects["quote"], options.objects], 1)):
            train = [argument for path in pairs for argument in ("--train", path)]
            linker("mine", "benchmarks", *of, "--out", work / out, "--positives", positives, *train)
            pairs = [work / out / "train" / path.name for path in pairs]
    *mined, every = [
        gzip.decompress((work / "one" / "train" / name).read_bytes()).splitlines(keepends=True)
        for name in names
    ]
    paper = [line for lines in mined for line in lines]
    random.Random(0).shuffle(paper)
    return paper, further_pairs(every, paper)


def further_pairs(every: list[bytes], paper: list[bytes]) -> list[bytes]:
    """Return the pairs whose two texts are no pair of the paper's kind, with new ids.

    Two replies to one tweet are a pair of the paper's kind; each of them with the tweet is a further pair of the same
    post, whose id would occur twice.
    """
    met = {_texts(line) for line in paper}
    further = [json.loads(line) for line in every if _texts(line) not in met]
    for number, pair in enumerate(further):
        pair["id"] = f"further-{number}"
    return [json.dumps(pair, ensure_ascii=False).encode() + b"\n" for pair in further]


def _texts(line: bytes) -> tuple[str, str]:
    pair = json.loads(line)
    return pair["anchor_text"], pair["text"]


def plan(sizes: list[int], seeds: int) -> list[Run]:
    """Return the runs, the most telling ones first.

    Args:
        sizes: numbers of training pairs, ascending; the last is all of them.
        seeds: number of seeds of the word vectors, which are cheap.
    """
    *smaller, largest = sizes
    runs = [Run("bundled", "mn", largest), Run("words", "mn", largest), Run("words", "triplet", largest)]
    runs += [Run("words", "mn", size) for size in smaller]
    runs += [Run("words", loss, largest, SEED + k) for k in range(1, seeds) for loss in LOSSES]
    # Small samples of every transformer come before large ones of any.
    runs += [Run(model, "mn", size) for size in smaller[:2] for model in ("bundled", "minilm")]
    runs += [Run(model, "triplet", size) for size in smaller[1:2] for model in ("bundled", "minilm")]
    runs += [Run("bundled", "mn", size) for size in smaller[2:]]
    runs += [Run("minilm", "mn", largest)]
    runs += [Run(model, "triplet", largest) for model in ("bundled", "minilm")]
    runs += [Run("minilm", "mn", size) for size in smaller[2:]]
    return runs + [Run("bundled", "mn", largest, SEED + k) for k in range(1, seeds)]


def config_of(options: argparse.Namespace, run: Run, train: Path) -> Any:
    """Return the config of a run, or for its `model` only."""
    if run.model == "words":
        overrides = [
            f"model={json.dumps(WORDS | {'vectors': {'source': str(options.vectors)} | WORDS['vectors']})}"
        ]
        # The rate of the transformers does not move word vectors.
        overrides += ["trainer.optimizer.lr=1e-3"]
    else:
        path = FOLDERS["best"] / "part-0" / "transformer" if run.model == "bundled" else options.model
        overrides = [f"model.path={path}", "trainer.precision=auto", "model.precision=auto"]
    overrides += [f"model.max_{of}_tokens={options.max_tokens}" for of in ("article", "post")]
    overrides += [f"data.reader.files={train}", f"seed={run.seed}", "trainer.checkpoint_seconds=120"]
    return load_config(
        ROOT / "configs" / "papers" / "twitter4sse.jsonnet", overrides=[*overrides, *LOSSES[run.loss]]
    )


def model_of(options: argparse.Namespace, run: Run, pairs: list[bytes]) -> Model:
    """Return the model of a run, trained unless WORK has it."""
    train = options.work / f"train-{len(pairs)}.jsonl.gz"
    with atomic_write(train, "wb") as file:
        file.write(gzip.compress(b"".join(pairs), mtime=0))
    config = config_of(options, run, train)
    if not run.pairs:
        model = build(Model, config["model"])
        model.prepare(_all_texts(pairs))
        return model
    out = options.work / "runs" / run.name
    if not (out / "done").is_file():
        if build(Experiment, config).run(out, resume=(out.parent / f"{out.name}-log").is_dir()).stopped_by:
            raise SystemExit(f"{out}: interrupted; give the same command to resume")
        (out / "done").touch()
    return load_model(out)


def _all_texts(pairs: list[bytes]) -> LinkedPosts:
    texts = dict.fromkeys(text for line in pairs for text in _texts(line))
    return LinkedPosts([], [Post(str(number), text) for number, text in enumerate(texts)])


def test_sets(options: argparse.Namespace) -> TestSets:
    """Return the sets to measure on."""
    work: Path = options.work
    places = {"DQ": "one", "DR": "five", "CR": "five"}
    rerankings = {name: work / folder / f"{name.lower()}.jsonl.gz" for name, folder in places.items()}
    pairs = {"PIT": options.pit, "TURL": options.turl, "STSb": options.sts}
    return TestSets.read(rerankings, pairs, options.most)


def report(
    sets: TestSets, measured: dict[Run, Any], lexical: dict[str, Any], counts: tuple[int, int], command: str
) -> str:
    """Return the page of the runs that are finished."""

    def values(model: str, loss: str = "mn", pairs: int = 0) -> Values | None:
        found = [
            own
            for run, own in measured.items()
            if (run.model, run.pairs) == (model, pairs) and run.loss == loss
        ]
        return Values(sets, found) if found else None

    sizes = sorted({run.pairs for run in measured if run.pairs})
    largest = sum(counts)
    rows = {name: Values(sets, [own]) for name, own in lexical.items()}
    over: dict[str, Any] = {}
    losses: dict[str, Any] = {}
    curves: dict[str, dict[int, Any]] = {}
    curve_rows: dict[str, Any] = {}
    for model, label in NAMES.items():
        untrained = values(model)
        if untrained is None:
            continue
        rows[label] = untrained
        of_loss = {
            loss: {size: own for size in sizes if (own := values(model, loss, size))} for loss in LOSSES
        }
        for loss, of_size in of_loss.items():
            if of_size:
                size = max(of_size)
                name = f"{label}, {LOSS_NAMES[loss]}, {size:,}"
                rows[name] = of_size[size]
                over[name] = gains(of_size[size], untrained)
        if both := of_loss["mn"].keys() & of_loss["triplet"].keys():
            size = max(both)
            losses[f"{label}, {size:,}"] = gains(of_loss["mn"][size], of_loss["triplet"][size])
        for size in sizes:
            if own := values(model, "mn", size):
                curves.setdefault(label, {})[size] = curve_rows[f"{label}, {size:,}"] = gains(own, untrained)
    draw_curves(curves, PICTURE)
    seeds = ", ".join(
        f"{label} {count}"
        for model, label in NAMES.items()
        if (count := len({run.seed for run in measured if run.model == model and run.pairs == largest}))
    )
    paper, further = counts
    lines = [
        "# Twitter4SSE on real tweets\n",
        f"Made by `{command}` (Python {platform.python_version()}, torch {torch.__version__}).\n",
        NOTES.read_text(encoding="utf-8") if NOTES.is_file() else "",
        "## Figures\n",
        "DQ, DR, CR: nDCG of the whole ranking. PIT, TURL, STSb: Pearson's r with the grades. A trained model is that"
        f" of the most pairs it was trained on, of {largest:,}; seeds on all of them: {seeds}; ±: their standard"
        " deviation.\n",
        rows_of(rows) + "\n",
        "## Gain over the untrained model\n",
        "Difference in points, with its 95 % interval by a paired bootstrap over queries or pairs (2,000 samples); *:"
        " significant after Holm's correction over the six sets.\n",
        gain_rows(over) + "\n",
        *(verdict(label, own) for label, own in over.items()),
        "\n## Multiple negatives minus triplet loss\n",
        gain_rows(losses) + "\n" if losses else "Not both losses are trained yet.\n",
        *(verdict(label, own) for label, own in losses.items()),
        "\n## By number of training pairs\n",
        "![Gain over the untrained model by the number of training pairs](twitter4sse.svg)\n",
        gain_rows(curve_rows) + "\n",
        "## Data\n",
        *sets.sizes(),
        f"- Training pairs without the tweets of DQ, DR and CR: {paper:,} of the paper's kind (quotes, replies, two"
        f" replies or quotes of one tweet; at most one of a tweet, each text once), and {further:,} further quotes and"
        " replies that these two rules leave out. Smaller sizes are samples of the former.",
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Mine, train, measure; write the report after each run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("pairs", "objects", "pit", "turl", "sts", "vectors", "model", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--max-tokens", type=int, default=32, help="texts are truncated to this many tokens")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds")
    parser.add_argument("--most", type=int, default=3000, help="maximum number of pairs of a graded set")
    parser.add_argument("--runs", type=int, help="make only the first N runs")
    options = parser.parse_args()
    paper, further = mine(options)
    everything = [*paper, *further]
    sizes = [*(size for size in SIZES if size <= len(paper)), len(everything)]
    sets = test_sets(options)
    folder = options.work / f"scores-{options.max_tokens}-{options.most}"
    lexical = {
        label: kept(folder / f"{name}.npz", lambda name=name: build(Model, name), sets)  # type: ignore[misc]
        for name, label in (("bm25", "BM25"), ("tfidf", "TF-IDF"))
    }
    changed = "".join(
        f" --{name.replace('_', '-')} {getattr(options, name)}"
        for name in ("max_tokens", "seeds", "most")
        if getattr(options, name) != parser.get_default(name)
    )
    command = (
        "python -m benchmarks.papers.twitter4sse --pairs PAIRS --objects OBJECTS --pit PIT --turl TURL --sts STS"
        f" --vectors VECTORS --model MODEL --work WORK{changed}"
    )
    measured: dict[Run, Any] = {}
    runs = plan(sizes, options.seeds)[: options.runs]
    for run in runs:
        known = (folder / f"{run.name}.npz").exists()
        for own in (Run(run.model), run):
            if own not in measured:
                trained = everything[: own.pairs] if own.pairs else everything
                measured[own] = kept(
                    folder / f"{own.name}.npz",
                    lambda own=own, trained=trained: model_of(options, own, trained),  # type: ignore[misc]
                    sets,
                )
        if not known or run == runs[-1]:
            with atomic_write(REPORT) as file:
                file.write(report(sets, measured, lexical, (len(paper), len(further)), command))
            print(f"{run.name}: {REPORT}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
