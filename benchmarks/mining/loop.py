"""Measure what a training set of links gains: `mine links`, `train`, `evaluate`, as a user runs them.

    python -m benchmarks.mining.loop --data DATA --work WORK [--set tweets|comments]

DATA holds tweet_objects_v11 and plazz_commentary; WORK receives inputs, training sets and models. Each set is evaluated
once, on its own dev part, with the defaults of the commands and one epoch: nothing is chosen by the figures.

- tweets: v1.1 objects of tweets about stocks with the links that they have; the words in an address are the title of
  its article, since no text is known.
- comments: comments on the news of 2014-07 and 2014-08, on which `best` was not trained but chosen, each with the
  address of the headline that it was shown under. Headlines that `best` was trained on are left out with `--not-in`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.measurement import say
from linker.common.concurrency import cores
from linker.common.files import atomic_write, write_lines
from linker.data.files.line_errors import BadLines
from linker.data.io.columns import PostColumns
from linker.data.io.records import stream_posts
from linker.mining.linked_post import Link, linked
from linker.mining.options import MiningOptions

ROOT = Path(__file__).parents[2]
METRICS = ("MAP", "MRR", "recall@10", "pair AP", "mRP", "AUC")
_WORD = re.compile(r"[A-Za-z]{2,}|\d{4}")
Row = dict[str, Any]
MINE = "mine links posts.jsonl.gz --articles articles.jsonl --dev 0.3 --out set"
TRAIN = f"train {ROOT / 'configs/minilm/finetune.jsonnet'} --data set -o trainer.epochs=1 --out adapted"
EVALUATE = (
    "evaluate --model best adapted --articles set/articles.jsonl --posts set/posts.jsonl --split dev --ignore-dates "
    "--json metrics.json"
)


def rows(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write(path: Path, records: Iterable[Row]) -> None:
    write_lines(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in records))


def tweets(data: Path, work: Path) -> None:
    """Prepare the tweet objects as they are, and articles with the words of their addresses as titles."""
    source = data / "tweet_objects_v11" / "stocknet_sample.jsonl.gz"
    shutil.copyfile(source, work / "posts.jsonl.gz")
    with BadLines("skip") as bad_lines:
        links = [
            linked(post, MiningOptions()) for post in stream_posts(str(source), PostColumns(), bad_lines)
        ]
    urls = {link.key: link.url for link in reversed(links) if isinstance(link, Link) and link.key}
    titles = {key: " ".join(_WORD.findall(key.partition("/")[2])) for key in urls}
    write(
        work / "articles.jsonl",
        ({"id": key, "url": urls[key], "title": title} for key, title in titles.items() if title),
    )


def comments(data: Path, work: Path) -> None:
    """Prepare the comments of dev with the addresses of their headlines; those of train are not to be in the set."""
    folder = data / "plazz_commentary"
    articles, posts = rows(folder / "articles.jsonl.gz"), rows(folder / "posts.jsonl.gz")
    url = {article["id"]: article["url"] for article in articles}
    write(
        work / "posts.jsonl.gz",
        (
            {"id": p["id"], "text": f"{p['text']} {url[p['article_id']]}", "created_at": p.get("created_at")}
            for p in posts
            if p["split"] == "dev"
        ),
    )
    columns = ("id", "url", "title", "text", "published")
    for name, split in (("articles", "dev"), ("not-in", "train")):
        of_split = ({c: a[c] for c in columns if c in a} for a in articles if a["split"] == split)
        write(work / f"{name}.jsonl", of_split)


SOURCES = {
    "tweets": ("Tweets about stocks, links of their own", tweets),
    "comments": ("Comments on the news, links added", comments),
}


def run(work: Path, command: str) -> None:
    """Run a command as a user does, in the folder; its output goes to loop.log there."""
    say(f"linker {command}")
    with open(work / "loop.log", "a", encoding="utf-8") as log:
        print("$ linker", command, file=log, flush=True)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        arguments = [sys.executable, "-m", "linker", *command.split()]
        if subprocess.run(arguments, cwd=work, stdout=log, stderr=log, env=environment).returncode:
            raise SystemExit(f"linker {command}: failed, see {work / 'loop.log'}")


def measured(name: str, data: Path, work: Path) -> list[str]:
    """Run the loop of a set; return its section: commands, sizes, the metrics of both models, their difference."""
    title, prepare = SOURCES[name]
    work = work.resolve() / name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    prepare(data, work)
    held_out = " --not-in not-in.jsonl" if (work / "not-in.jsonl").exists() else ""
    commands = (MINE + held_out, TRAIN, EVALUATE)
    for command in commands:
        run(work, command)
    report = json.loads((work / "set" / "report.json").read_text(encoding="utf-8"))
    metrics = json.loads((work / "metrics.json").read_text(encoding="utf-8"))
    best, adapted = (
        next(figures for model, figures in metrics["models"].items() if wanted in model)
        for wanted in ("best", "adapted")
    )
    changes = {change["metric"]: change for change in metrics["differences"] if "adapted" in change["model"]}
    counts = {**report["posts"], **report["linked posts"]}
    parts = "; ".join(f"{split} {report['articles'][split]:,} articles" for split in ("train", "dev"))
    lines = ["```bash", *(f"linker {command}".replace(f"{ROOT}/", "") for command in commands), "```", ""]
    lines += ["; ".join(f"{count:,} {fate}" for fate, count in counts.items()) + f". {parts}.", ""]
    lines += ["| dev, % | best | adapted | difference | 95 % interval | p |", "|---|---|---|---|---|---|"]
    for metric in METRICS:
        change = changes[metric]
        low, difference, high = (f"{100 * change[end]:+.1f}" for end in ("low", "difference", "high"))
        lines.append(
            f"| {metric} | {100 * best[metric]:.1f} | {100 * adapted[metric]:.1f} | {difference} | {low} … {high} | "
            f"{change['p']:.3f} |"
        )
    verdict = "beats" if changes["MAP"]["low"] > 0 else "does not beat"
    return [f"## {title}", "", *lines, "", f"The adapted model {verdict} `best` in MAP."]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--set", choices=tuple(SOURCES), action="append", help="repeatable; default: all")
    arguments = parser.parse_args()
    for name in arguments.set or SOURCES:
        lines = measured(name, arguments.data, arguments.work)
        print("\n".join(lines), flush=True)
        with atomic_write(Path(__file__).parent / "results" / f"loop-{name}.md") as page:
            page.write(
                "# The loop from links to a model\n\n"
                f"Made by `python -m benchmarks.mining.loop --set {name}` on {date.today()}: {cores()} cores, "
                "other work beside it. One run, one epoch, dev evaluated once, both models by text alone.\n\n"
                + "\n".join([*lines, ""])
            )


if __name__ == "__main__":
    main()
