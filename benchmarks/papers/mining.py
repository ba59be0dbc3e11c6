"""Measure throughput and memory of `linker mine` on a generated archive.

    python -m benchmarks.papers.mining [--objects 2000000] [--packing gz] [--workers 1 2] [--ways quotes replies]
        [--work FOLDER]

The archive consists of v1.1 objects (1.9 kB on average, 600 bytes compressed; an eighth are quotes, a fifth replies, a
third retweets; a third is not English), 20,000 a file. Each pair miner runs in a process of its own on an eighth, half
and all of the files, to show growth of memory. `lines/s a core` is lines by elapsed time and workers; on a busy machine
see `CPU µs a line`, the processor time of all processes. Peak memory is that of the largest single process, with the
parent and the workers apart.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

A_FILE = 20_000
PACKING = {"bz2": bz2.compress, "gz": lambda content: gzip.compress(content, 6, mtime=0), "json": bytes}

PROGRAM = """
import json, resource, sys, time
from linker.contrib.twitter4sse.pair_miners import PairMiner
from linker.contrib.twitter4sse.mine_pairs import mine_pairs
if __name__ == "__main__":
    way, out, workers, *files = sys.argv[1:]
    began = time.monotonic()
    report = mine_pairs(files, PairMiner.by_name(way)(), out, workers=int(workers))
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({
        "seconds": time.monotonic() - began,
        "cpu": own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime,
        "first": own.ru_maxrss / 1024, "worker": others.ru_maxrss / 1024,
        "lines": report.lines.total(), "pairs": report.results["pairs"]["written"],
    }))
"""


def words(rng: random.Random) -> str:
    return " ".join(f"w{int(rng.paretovariate(0.6)) % 50_000}" for _ in range(rng.randint(4, 22)))


def tweet(rng: random.Random, number: int) -> dict[str, Any]:
    return {
        "created_at": "Thu Jan 02 16:52:48 +0000 2014",
        "id": number,
        "id_str": str(number),
        "text": words(rng),
        "truncated": False,
        "lang": rng.choice(["en", "en", "ja"]),
        # Of what else there is in an object some packs well and some does not.
        "user": {"id_str": str(rng.getrandbits(30)), "description": words(rng), "profile": "profile " * 40},
        "rest": f"{rng.getrandbits(2400):x}",
        "entities": {"hashtags": [], "urls": [], "user_mentions": []},
    }


def line(rng: random.Random, number: int, objects: int) -> bytes:
    value = tweet(rng, number)
    # Some tweets are much quoted and answered, most never.
    target = 1 + int(objects * rng.random() ** 2)
    draw = rng.random()
    if draw < 0.125:
        value |= {"quoted_status_id_str": str(target), "quoted_status": tweet(random.Random(target), target)}
    elif draw < 0.325:
        value["in_reply_to_status_id_str"] = str(target)
    elif draw < 0.65:
        value["retweeted_status"] = tweet(random.Random(target), target)
    return json.dumps(value).encode() + b"\n"


def generate(path: Path, begin: int, end: int, objects: int) -> None:
    rng = random.Random(begin)
    content = b"".join(line(rng, number, objects) for number in range(begin, end))
    path.write_bytes(PACKING[path.suffix[1:]](content))


def archive(folder: Path, objects: int, packing: str) -> list[Path]:
    """Return the files, creating missing ones."""
    folder = folder / f"{objects}-{packing}"
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    with ProcessPoolExecutor() as pool:
        for begin in range(1, objects + 1, A_FILE):
            files.append(folder / f"{begin:09}.{packing}")
            if not files[-1].exists():
                pool.submit(generate, files[-1], begin, min(begin + A_FILE, objects + 1), objects)
    return files


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--objects", type=int, default=2_000_000)
    parser.add_argument("--packing", choices=list(PACKING), default="gz")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--ways", nargs="+", default=["quotes", "replies"])
    parser.add_argument(
        "--work", type=Path, help="folder for the archive, which is kept (default: a temporary folder)"
    )
    arguments = parser.parse_args()
    if arguments.work:
        arguments.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.work) as scratch:
        began = time.monotonic()
        files = archive(arguments.work or Path(scratch), arguments.objects, arguments.packing)
        size = sum(file.stat().st_size for file in files)
        made = time.monotonic() - began
        print(
            f"{arguments.objects:,} objects, {len(files)} files, {size / 2**20:,.0f} MiB, made in {made:.0f} s"
        )
        print(
            "| way | workers | lines | pairs | s | lines/s a core | CPU µs a line | peak MiB: first, a worker |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for way in arguments.ways:
            for workers in arguments.workers:
                for share in (8, 2, 1):
                    report(way, workers, files[: max(1, len(files) // share)], Path(scratch))


def report(way: str, workers: int, files: list[Path], scratch: Path) -> None:
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        way,
        str(scratch / "out.jsonl.gz"),
        str(workers),
        *map(str, files),
    ]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    lines, seconds = found["lines"], found["seconds"]
    print(
        f"| {way} | {workers} | {lines:,} | {found['pairs']:,} | {seconds:.1f} | {lines / seconds / workers:,.0f} "
        f"| {found['cpu'] / lines * 1e6:.0f} | {found['first']:.0f}, {found['worker'] if workers > 1 else 0:.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
