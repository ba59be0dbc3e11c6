"""Measure throughput and memory of reading generated streams of Bluesky and Reddit.

    python -m benchmarks.platforms [--lines 1000000] [--work FOLDER]

A tenth, half and all of the lines are read, each in a process of its own, to show growth of memory. CPU time is that of
reading, the pass for deletions included; peak memory is the largest resident size of the process.
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
from benchmarks.platforms.streams import write_stream
from linker.common.concurrency import cores
from linker.common.files import atomic_write

RESULTS = Path(__file__).parent / "results" / "platforms.md"
HEADER = (
    "| stream | lines | posts | million lines per minute of CPU | peak memory, MiB |",
    "|---|---|---|---|---|",
)
STREAMS = {"Jetstream, JSON lines": ("jetstream", ".jsonl"), "Reddit comments, zstd": ("reddit", ".zst")}

PROGRAM = """
import json, re, sys, time
from pathlib import Path
from linker.data.io.columns import PostColumns
from linker.data.files.line_errors import BadLines
from linker.data.io.records import stream_posts
began = time.process_time()
with BadLines() as bad_lines:
    posts = sum(1 for _ in stream_posts(sys.argv[1], PostColumns(), bad_lines))
seconds = time.process_time() - began
# `ru_maxrss` includes the process that started this one.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps({"posts": posts, "seconds": seconds, "peak": peak}))
"""


def measured(path: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--work", type=Path)
    arguments = parser.parse_args()
    lines = [*HEADER]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        for name, (kind, suffix) in STREAMS.items():
            for share in (10, 2, 1):
                count = arguments.lines // share
                path = Path(folder) / f"stream{suffix}"
                say(f"generating {count:,} lines")
                write_stream(path, kind, count)
                found = measured(path)
                rate = 60 * count / found["seconds"] / 1e6
                lines.append(
                    f"| {name} | {count:,} | {found['posts']:,.0f} | {rate:.2f} | {found['peak']:,.0f} |"
                )
                print(lines[-1], flush=True)
                path.unlink()
    with atomic_write(RESULTS) as page:
        page.write(
            "# Reading exports of platforms\n\n"
            f"Made by `python -m benchmarks.platforms --lines {arguments.lines}` on {date.today()}: {cores()} cores, "
            f"Python {platform.python_version()}. The streams are generated (`streams.py`). The zstd file declares a "
            "window of 2^31 bytes, as the dumps of Reddit do: the decompressor's memory grows with what it has "
            "decompressed, up to that window.\n\n" + "\n".join(lines) + "\n"
        )


if __name__ == "__main__":
    main()
