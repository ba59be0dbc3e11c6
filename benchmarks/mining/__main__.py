"""Measure throughput and memory of `linker mine links` on generated posts.

    python -m benchmarks.mining [--posts 2000000] [--work FOLDER]

An eighth, half and all of the posts are mined, each in a process of its own, to show growth of memory. CPU time is that
of the process, peak memory its largest resident size.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

from benchmarks.measurement import say
from benchmarks.mining.posts import A_FILE, write_posts
from linker.common.concurrency import cores
from linker.common.files import atomic_write

RESULTS = Path(__file__).parent / "results" / "mining.md"
HEADER = (
    "| posts | seconds | posts/s | CPU µs per post | peak memory, MB | articles | pairs |",
    "|---|---|---|---|---|---|---|",
)

PROGRAM = """
import json, resource, sys, time
from linker.mining.mine_links import mine_links
out, *files = sys.argv[1:]
began = time.monotonic()
report = mine_links(files, out)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "posts": report.posts, "seconds": time.monotonic() - began, "cpu": used.ru_utime + used.ru_stime,
    "peak": used.ru_maxrss / 1024, "articles": report.result["articles"],
    "pairs": report.sections()["linked posts"]["pairs"],
}))
"""


def measured(out: Path, files: list[Path]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(out), *map(str, files)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--posts", type=int, default=2_000_000)
    parser.add_argument("--work", type=Path)
    arguments = parser.parse_args()
    if arguments.work:
        arguments.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        say(f"generating {arguments.posts:,} posts")
        files = write_posts(Path(folder) / "posts", arguments.posts)
        size = sum(file.stat().st_size for file in files) / 2**20
        say(f"{len(files)} files of at most {A_FILE:,} posts, {size:,.0f} MiB")
        lines = [*HEADER]
        print("\n".join(lines))
        for share in (8, 2, 1):
            part = files[: max(1, len(files) // share)]
            found = measured(Path(folder) / f"set-{share}", part)
            lines.append(
                f"| {found['posts']:,.0f} | {found['seconds']:,.0f} | {found['posts'] / found['seconds']:,.0f} | "
                f"{1e6 * found['cpu'] / found['posts']:,.0f} | {found['peak']:,.0f} | {found['articles']:,.0f} | "
                f"{found['pairs']:,.0f} |"
            )
            print(lines[-1], flush=True)
    with atomic_write(RESULTS) as page:
        page.write(
            "# Mining training sets from links\n\n"
            f"Made by `python -m benchmarks.mining --posts {arguments.posts}` on {date.today()}: {cores()} cores, "
            f"Python {platform.python_version()}. The posts are generated (`posts.py`); times depend on other work of "
            "the machine, CPU time and memory hardly do.\n\n" + "\n".join(lines) + "\n"
        )


if __name__ == "__main__":
    main()
