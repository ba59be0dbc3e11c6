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
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measurement import say
from linker.common.concurrency import cores
from linker.common.files import atomic_write
from linker.data.files.line_errors import BadLines
from linker.data.io.columns import PostColumns
from linker.data.io.records import stream_posts
from linker.mining.linked_post import Link, linked
from linker.mining.options import MiningOptions

RESULTS = Path(__file__).parent / "results"
CONFIG = Path(__file__).parents[2] / "configs" / "minilm" / "finetune.jsonnet"
METRICS = ("MAP", "MRR", "recall@10", "mAP", "mRP", "AUC")
_WORD = re.compile(r"[A-Za-z]{2,}|\d{4}")
Row = dict[str, Any]


class Source(NamedTuple):
    """Posts and articles of one set.

    Attributes:
        title: heading of its table.
        prepare: writes posts.jsonl.gz, articles.jsonl and not-in.jsonl (if there are any) to a folder.
        dev: share of the articles in dev.
    """

    title: str
    prepare: Callable[[Path, Path], None]
    dev: float


def rows(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _write(path: Path, records: Iterator[Row] | list[Row]) -> None:
    with atomic_write(path) as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in records)


def tweets(data: Path, work: Path) -> None:
    """Prepare the tweet objects as they are, and articles with the words of their addresses as titles."""
    source = data / "tweet_objects_v11" / "stocknet_sample.jsonl.gz"
    shutil.copyfile(source, work / "posts.jsonl.gz")
    urls: dict[str, str] = {}
    with BadLines("skip") as bad_lines:
        for post in stream_posts(str(source), PostColumns(), bad_lines):
            link = linked(post, MiningOptions())
            if isinstance(link, Link) and link.key:
                urls.setdefault(link.key, link.url)
    titles = ((key, url, " ".join(_WORD.findall(key.partition("/")[2]))) for key, url in urls.items())
    _write(
        work / "articles.jsonl", [{"id": k, "url": url, "title": title} for k, url, title in titles if title]
    )


def comments(data: Path, work: Path) -> None:
    """Prepare the comments of dev with the addresses of their headlines; those of train are not to be in the set."""
    folder = data / "plazz_commentary"
    articles, posts = rows(folder / "articles.jsonl.gz"), rows(folder / "posts.jsonl.gz")
    url = {article["id"]: article["url"] for article in articles}
    kept = [
        {"id": p["id"], "text": f"{p['text']} {url[p['article_id']]}", "created_at": p.get("created_at")}
        for p in posts
        if p["split"] == "dev"
    ]
    with gzip.open(work / "posts.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(post, ensure_ascii=False) + "\n" for post in kept)
    columns = ("id", "url", "title", "text", "published")
    for name, split in (("articles", "dev"), ("not-in", "train")):
        of_split = [{c: a[c] for c in columns if c in a} for a in articles if a["split"] == split]
        _write(work / f"{name}.jsonl", of_split)


SOURCES = {
    "tweets": Source("Tweets about stocks, links of their own", tweets, 0.3),
    "comments": Source("Comments on the news, links added", comments, 0.3),
}


def run(work: Path, *arguments: str) -> float:
    """Run a command as a user does, in the folder; its output goes to loop.log there.

    Returns:
        seconds.
    """
    say("linker " + " ".join(arguments))
    began = time.monotonic()
    with open(work / "loop.log", "a", encoding="utf-8") as log:
        print("$ linker", *arguments, file=log, flush=True)
        code = subprocess.run(
            [sys.executable, "-m", "linker", *arguments],
            cwd=work,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        ).returncode
    if code:
        lines = (work / "loop.log").read_text(encoding="utf-8").splitlines()
        raise SystemExit("\n".join([*lines[-20:], f"linker {arguments[0]} ended with {code}"]))
    return time.monotonic() - began


def measured(name: str, data: Path, work: Path) -> list[str]:
    """Run the loop of a set and return its section of the page."""
    source = SOURCES[name]
    work = work.resolve() / name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    source.prepare(data, work)
    mine = ["mine", "links", "posts.jsonl.gz", "--articles", "articles.jsonl", "--dev", str(source.dev)]
    if (work / "not-in.jsonl").exists():
        mine += ["--not-in", "not-in.jsonl"]
    train = ["train", str(CONFIG), "--data", "set", "-o", "trainer.epochs=1", "--out", "adapted"]
    evaluate = [
        "evaluate",
        "best",
        "adapted",
        "--articles",
        "set/articles.jsonl",
        "--posts",
        "set/posts.jsonl",
    ]
    evaluate += ["--split", "dev", "--ignore-dates", "--json", "metrics.json"]
    commands = ([*mine, "--out", "set"], train, evaluate)
    seconds = [run(work, *command) for command in commands]
    report = json.loads((work / "set" / "report.json").read_text(encoding="utf-8"))
    found = json.loads((work / "metrics.json").read_text(encoding="utf-8"))
    return [f"## {source.title}", "", *section(commands, seconds, report, found)]


def section(commands: tuple[list[str], ...], seconds: list[float], report: Row, found: Row) -> list[str]:
    """Return the lines of a set: commands, sizes, the metrics of both models and their difference, and a verdict."""
    linked_posts, parts = report["linked posts"], report["parts"]
    shown = [
        " ".join(command).replace(str(CONFIG), "configs/minilm/finetune.jsonnet") for command in commands
    ]
    sizes = "; ".join(
        f"{name} {part['articles']:,} articles, {part['pairs']:,} pairs" for name, part in parts.items()
    )
    fates = ", ".join(
        f"{count:,} {fate}" for fate, count in linked_posts.items() if fate not in ("found", "pairs")
    )
    lines = [
        "```bash",
        *(f"linker {command}  # {taken:.0f} s" for command, taken in zip(shown, seconds)),
        "```",
        "",
        f"{report['posts']['read']:,} posts, {linked_posts['found']:,} linked to one article, "
        f"{linked_posts['pairs']:,} pairs ({fates}). {sizes}.",
        "",
        "| dev, % | best | adapted | difference | 95 % interval | p |",
        "|---|---|---|---|---|---|",
    ]
    names = {name: "adapted" if "adapted" in name else name for name in found["models"]}
    of = {names[name]: metrics for name, metrics in found["models"].items()}
    better = {}
    for metric in METRICS:
        change = next(
            d for d in found["differences"] if names.get(d["model"]) == "adapted" and d["metric"] == metric
        )
        better[metric] = change["low"] > 0
        lines.append(
            f"| {metric} | {100 * of['best'][metric]:.1f} | {100 * of['adapted'][metric]:.1f} | "
            f"{100 * change['difference']:+.1f} | {100 * change['low']:+.1f} … {100 * change['high']:+.1f} | "
            f"{change['p']:.3f} |"
        )
    verdict = "beats" if better["MAP"] else "does not beat"
    return [
        *lines,
        "",
        f"The adapted model {verdict} `best` in MAP.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--set", choices=tuple(SOURCES), action="append", help="repeatable; default: all")
    arguments = parser.parse_args()
    for name in arguments.set or SOURCES:
        lines = measured(name, arguments.data, arguments.work)
        print("\n".join(lines), flush=True)
        with atomic_write(RESULTS / f"loop-{name}.md") as page:
            page.write(
                "# The loop from links to a model\n\n"
                f"Made by `python -m benchmarks.mining.loop --set {name}` on {date.today()}: {cores()} cores, "
                "other work beside it. One run, one epoch, dev evaluated once, both models by text alone.\n\n"
                + "\n".join(lines)
                + "\n"
            )


if __name__ == "__main__":
    main()
