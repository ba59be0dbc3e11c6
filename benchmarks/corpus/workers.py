"""Measure a build by workers: the driver's CPU time per post, two workers against one, growth to 64 workers.

    OMP_NUM_THREADS=1 python -m benchmarks.corpus.workers posts/*.jsonl.gz --model distilled --work DIR

`benchmarks.corpus.posts` makes the posts. Costs are CPU time, which hardly depends on the load of the machine, of the
calls in workers and of the driver. Builds of a quarter of the files and of all of them separate what the driver needs
per post from what it needs once; the first build in the process also imports packages. The build with one worker and
with two is simulated from the costs of each call: every worker takes the next chunk that is read, in the order of the
files; posts are compared, and files committed, in that order too; near-duplicates are grouped at the end, a call for
each band (and range of its values). A quarter of the files is also built with the default model, by the clock.
"""

from __future__ import annotations

import argparse
import heapq
import os
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measurement import machine
from linker.common.files import atomic_write
from linker.corpus.builder import add_posts
from linker.corpus.encoding import check_parts
from linker.corpus.engines.ray import RayEngine
from linker.corpus.indexes import near_duplicates
from linker.corpus.storage.data_files import DataFile
from linker.corpus.storage.reader import schema, table_of
from linker.corpus.storage.store import CorpusMetadata, Store
from linker.data.io.columns import PostColumns
from linker.data.near_duplicates import BANDS
from linker.data.types import Post
from linker.models.pretrained import BEST
from linker.ranking.ranker import load

ROOT = Path(__file__).resolve().parents[2]
WORKERS = (1, 2, 4, 8, 16, 32, 64)
FILES = (100, 1_000, 10_000, 40_000)
#: Chunks of a build of 10^8 posts.
CHUNKS = 4_000


@dataclass(frozen=True)
class _Timed:
    """A function that also returns its CPU seconds; of a generator, those of each pair."""

    function: Callable[..., Any]

    def __call__(self, *item: Any) -> tuple[float, Any]:
        begun = time.process_time()
        result = self.function(*item)
        return time.process_time() - begun, result


@dataclass(frozen=True)
class _TimedPairs(_Timed):
    def __call__(self, *item: Any) -> Iterator[Any]:  # type: ignore[override]
        begun = time.process_time()
        for first, second in self.function(*item):
            yield (time.process_time() - begun, first), second
            begun = time.process_time()


class MeasuredEngine(RayEngine):
    """Ray engine that adds up the CPU seconds of all calls, by the name of the function."""

    def __init__(self, cpus: int) -> None:
        super().__init__(cpus=cpus)
        self.calls: dict[str, list[float]] = defaultdict(list)

    def map(self, function: Callable[..., Any], items: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield what `RayEngine.map` yields."""
        for seconds, result in super().map(_Timed(function), items):
            self.calls[_name(function)].append(seconds)
            yield result

    def stream(
        self, function: Callable[..., Iterator[Any]], items: Iterable[tuple[Any, ...]]
    ) -> Generator[tuple[Any, Any], None, None]:
        """Yield what `RayEngine.stream` yields."""
        for (seconds, first), second in super().stream(_TimedPairs(function), items):
            self.calls[_name(function)].append(seconds)
            yield first, second


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


@dataclass(frozen=True)
class Costs:
    """Costs of a build.

    Attributes:
        posts: number of posts.
        driver: CPU seconds of the driver in the build, without its start.
        all_workers: CPU seconds of the worker processes, with the transport of the chunks.
        elapsed: seconds by the clock.
        calls: CPU seconds of each call in workers, by function.
    """

    posts: int
    driver: float
    all_workers: float
    elapsed: float
    calls: dict[str, list[float]]


def built(paths: Sequence[str], model_name: str, folder: Path, cpus: int) -> Costs:
    """Build a corpus with Ray and return the costs."""
    model = load(model_name).model
    empty = check_parts(model).post_vectors([])
    assert empty is not None, "a model of embeddings"
    shutil.rmtree(folder, ignore_errors=True)
    store = Store.create(folder, CorpusMetadata(model_name, "", "cosine", empty.shape[1]))
    engine = MeasuredEngine(cpus)
    with engine:
        list(engine.map(len, [("",)] * cpus))  # workers begin
        engine.calls.clear()
        workers, driver, clock = _workers_cpu(), time.process_time(), time.perf_counter()
        added = add_posts(store, model, paths, PostColumns(), "strict", engine)
        return Costs(
            added.new,
            time.process_time() - driver,
            _workers_cpu() - workers,
            time.perf_counter() - clock,
            dict(engine.calls),
        )


def _workers_cpu() -> float:
    """Return the CPU seconds of the worker processes below this process, from `/proc` of Linux."""
    parents, seconds = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            name, _, fields = (path / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue  # it has ended
        columns = fields.split()
        parents[int(path.name)] = int(columns[1])
        if name.startswith("ray::"):
            seconds[int(path.name)] = (int(columns[11]) + int(columns[12])) / os.sysconf("SC_CLK_TCK")

    def is_below(process: int) -> bool:
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    return sum(spent for process, spent in seconds.items() if is_below(process))


def makespan(
    workers: int, read: Sequence[float], write: Sequence[float], driver: float, group: Sequence[float]
) -> float:
    """Return the seconds that a build takes by simulation.

    Args:
        workers: number of workers of one core.
        read: seconds to read each chunk; chunks are read one after another by each of half as many readers as workers.
        write: seconds to encode and write each chunk.
        driver: seconds of the driver per chunk.
        group: seconds of each call that groups near-duplicates, at the end.
    """
    cores = [0.0] * workers
    heapq.heapify(cores)
    answered = committed = 0.0
    for reading, writing in zip(read, write):
        read_at = heapq.heappop(cores) + reading
        heapq.heappush(cores, read_at)
        answered = max(answered, read_at) + driver / 2
        end = max(heapq.heappop(cores), answered) + writing
        heapq.heappush(cores, end)
        committed = max(committed, end) + driver / 2
    cores = [committed] * workers
    for grouping in group:
        heapq.heappush(cores, heapq.heappop(cores) + grouping)
    return max(cores)


def commit_costs(folder: Path) -> dict[int, float]:
    """Return the CPU seconds of a commit into a store, checksums included, by its number of data files."""
    shutil.rmtree(folder, ignore_errors=True)
    store = Store.create(folder, CorpusMetadata("none", "", "cosine", 1))
    file = DataFile.write(
        folder, table_of([Post("a", "b")]), {"vectors": {"values": np.ones((1, 1), dtype=np.float32)}}
    )
    dataset, there, found = None, 0, {}
    for count in FILES:
        dataset = store.append([file] * (count - there), dataset, schema())
        begun = time.process_time()
        for _ in range(5):
            dataset = store.append([file], dataset, schema())
        found[count] = (time.process_time() - begun) / 5
        there = count + 5
    shutil.rmtree(folder)
    return found


def report(
    builds: dict[str, Costs], by_default: dict[int, Costs], commits: dict[int, float], command: str
) -> str:
    """Return the results as Markdown.

    Args:
        builds: costs of the builds, by name.
        by_default: costs of builds with the default model, by the number of workers.
        commits: CPU seconds of a commit, by the number of data files.
        command: the command that was run.
    """
    first, small, full = builds["first"], builds["quarter"], builds["all"]
    slope = (full.driver - small.driver) / (full.posts - small.posts)
    once = small.driver - slope * small.posts
    lines = [
        "# Corpora built by workers",
        "",
        f"`{command}` on {machine()}, {time.strftime('%Y-%m-%d')}.",
        "",
    ]
    lines += [
        f"**The driver takes {1e6 * slope:.2f} µs of CPU time per post**, from the difference of two builds with two "
        f"workers, of {small.posts:,} and {full.posts:,} posts; {once:.2f} s per build besides, and "
        f"{first.driver - small.driver:.2f} s once per process, mostly to import packages.",
        "",
        "CPU µs per post, two workers:",
        "",
        f"| | {small.posts:,} posts, first build | {small.posts:,} posts | {full.posts:,} posts |",
        "|---|---|---|---|",
    ]
    every = (first, small, full)

    def row(name: str, seconds: Iterable[float]) -> None:
        cells = (f"{1e6 * own / costs.posts:,.2f}" for costs, own in zip(every, seconds))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")

    row("driver", (costs.driver for costs in every))
    for name in full.calls:
        row(f"`{name}`, in workers", (sum(costs.calls[name]) for costs in every))
    row("all of the worker processes", (costs.all_workers for costs in every))
    alone = builds["one worker"]
    one, two = by_default[1], by_default[2]
    lines += [
        "",
        f"By the clock, start and driver included: {', '.join(f'{costs.elapsed:,.0f} s' for costs in every)}; "
        f"with one worker {alone.elapsed:,.0f} s for {alone.posts:,} posts, which two build "
        f"{alone.elapsed / full.elapsed:.2f} times as fast.",
        "",
        f"With `{BEST}`, the default model, {two.posts:,} posts take {two.elapsed:,.0f} s by the clock with two "
        f"workers and {one.elapsed:,.0f} s with one, start and driver included: two are "
        f"**{one.elapsed / two.elapsed:.2f} times as fast** on two cores.",
    ]
    write = full.calls["ChunkWriter"]
    chunks = len(write)
    read, group = full.calls["ChunkReader"][:chunks], full.calls["SharedBands"]
    transport = max(full.all_workers - sum(map(sum, full.calls.values())), 0.0) / chunks
    write = [one + transport for one in write]
    driver = slope * full.posts / chunks
    slow, fast = (makespan(count, read, write, driver, group) for count in (1, 2))
    lines += [
        "",
        f"Two workers against one, simulated from the costs of the {chunks} chunks: {slow / fast:.2f} times as fast.",
        "",
        f"10⁸ posts, simulated from the mean costs ({CHUNKS:,} chunks of {full.posts // chunks:,} posts):",
        "",
        "| workers | hours | against one | driver busy | of the time, grouping |",
        "|---|---|---|---|---|",
    ]
    posts = CHUNKS * full.posts / chunks
    calls = BANDS * -(-round(posts) // near_duplicates._POSTS_AT_ONCE)
    groups = [sum(group) * CHUNKS / chunks / calls] * calls
    reads, writes = [float(np.mean(read))] * CHUNKS, [float(np.mean(write))] * CHUNKS
    spans = {count: makespan(count, reads, writes, driver, groups) for count in WORKERS}
    for count, seconds in spans.items():
        grouping = seconds - makespan(count, reads, writes, driver, [])
        lines.append(
            f"| {count} | {seconds / 3600:.2f} | {spans[1] / seconds:.1f} | {driver * CHUNKS / seconds:.0%} | "
            f"{grouping / seconds:.1%} |"
        )
    lines += ["", "| data files in the store | CPU ms of a commit |", "|---|---|"]
    lines += [f"| {count:,} | {1e3 * seconds:.1f} |" for count, seconds in commits.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("posts", nargs="+", help="files of posts, four or more of like sizes")
    parser.add_argument("--model", default="distilled")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "corpus" / "results" / "workers.md")
    options = parser.parse_args()
    os.environ.setdefault("PYTHONPATH", str(ROOT))  # workers import this module
    options.work.mkdir(parents=True, exist_ok=True)
    folder, quarter = options.work / "workers", options.posts[: max(1, len(options.posts) // 4)]
    builds = {
        name: built(paths, options.model, folder, cpus)
        for name, paths, cpus in (
            ("first", quarter, 2),
            ("quarter", quarter, 2),
            ("all", options.posts, 2),
            ("one worker", options.posts, 1),
        )
    }
    by_default = {cpus: built(quarter, BEST, folder, cpus) for cpus in (2, 1)}
    commits = commit_costs(options.work / "commits")
    command = f"python -m benchmarks.corpus.workers POSTS --model {options.model}"
    found = report(builds, by_default, commits, command)
    with atomic_write(options.out) as file:
        file.write(found)
    print(found)


if __name__ == "__main__":
    main()
