"""Measure `linker serve --corpus` under load: latency, errors, memory, and what a kill and a restart change.

    python -m benchmarks.corpus.service CORPUS --articles articles.jsonl --clients 50 --minutes 10

Every client sends one search after the other, as the page does (20 posts, half of them with explanations), each for an
article that was not asked about before, as long as there are any. Afterwards the server is killed (SIGKILL) and started
again, and must give the same posts with the same scores. Writes results/service.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx

from benchmarks.measurement import machine, say
from linker.common.files import atomic_write

PAGE = Path(__file__).parent / "results" / "service.md"
_HEADERS = {"X-Linker": "1"}
_START_SECONDS = 120.0
_COMPARED = 20


@contextmanager
def served(corpus: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve a corpus; give the address and the process."""
    command = [sys.executable, "-m", "linker", "serve", "--corpus", str(corpus), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.wait()


class Clients:
    """Clients that search until the end.

    Args:
        url: address of the server.
        articles: texts to search for.
    """

    def __init__(self, url: str, articles: list[str]) -> None:
        self._url = url
        self._articles = cycle(random.Random(0).sample(articles, len(articles)))
        self._guard = threading.Lock()
        self.seconds: list[float] = []
        self.faults: list[str] = []

    def run(self, number: int, minutes: float) -> None:
        """Search with this number of clients at once."""
        end = time.monotonic() + 60 * minutes
        threads = [threading.Thread(target=self._search, args=(seed, end)) for seed in range(number)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _search(self, seed: int, end: float) -> None:
        chance = random.Random(seed)
        with httpx.Client(headers=_HEADERS, timeout=300) as client:
            while time.monotonic() < end:
                with self._guard:
                    article = next(self._articles)
                query = {"article": article, "explain": chance.random() < 0.5}
                begun = time.monotonic()
                try:
                    answer = client.post(f"{self._url}api/corpus/search", json=query)
                    fault = "" if answer.status_code == 200 else f"{answer.status_code} {answer.text[:100]}"
                except httpx.HTTPError as error:
                    fault = repr(error)
                with self._guard:
                    self.seconds.append(time.monotonic() - begun)
                    if fault:
                        self.faults.append(fault)


def peak_mib(process: subprocess.Popen[str]) -> float:
    """Return the largest resident set of a process so far, in MiB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """Return the processor time of a process so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def answers(url: str, articles: list[str]) -> list[Any]:
    """Return posts and scores of some searches."""
    found = []
    for text in articles[:_COMPARED]:
        answer = httpx.post(
            f"{url}api/corpus/search", json={"article": text}, headers=_HEADERS, timeout=_START_SECONDS
        )
        found.append([(post["id"], post["score"]) for post in answer.json()["posts"]])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--articles", type=Path, required=True, help="articles.jsonl")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    lines = options.articles.read_text(encoding="utf-8").splitlines()
    articles = [f"{row.get('title', '')}\n\n{row['text']}" for row in map(json.loads, lines)]
    with served(options.corpus) as (url, process):
        about = httpx.get(f"{url}api/corpus", timeout=_START_SECONDS).json()
        begun = time.monotonic()
        before = answers(url, articles)
        alone = (time.monotonic() - begun) / len(before)
        say(f"{options.clients} clients, {options.minutes:g} minutes")
        clients = Clients(url, articles[_COMPARED:])
        used = cpu_seconds(process)
        clients.run(options.clients, options.minutes)
        used, load = cpu_seconds(process) - used, os.getloadavg()
        memory = peak_mib(process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    begun = time.monotonic()
    with served(options.corpus) as (url, process):
        same = answers(url, articles[:1])[0] == before[0]
        restart = time.monotonic() - begun
        same = same and answers(url, articles) == before
    seconds = sorted(clients.seconds)
    share = statistics.quantiles(seconds, n=100)
    rows = {
        "posts in the corpus": f"{about['posts']:,} ({about['model']})",
        "a search, one client": f"{alone:.2f} s",
        f"searches by {options.clients} clients in {options.minutes:g} minutes": f"{len(seconds):,}",
        "different articles": f"{min(len(seconds), len(articles) - _COMPARED):,}",
        "errors": f"{len(clients.faults)} {' '.join(clients.faults[:1])}".strip(),
        "searches a second": f"{len(seconds) / (60 * options.minutes):.1f}",
        "median, p95, longest": f"{share[49]:.2f}, {share[94]:.2f}, {seconds[-1]:.2f} s",
        "processor time of the server per search": f"{used / len(seconds):.2f} s",
        "load of the machine at the end, mean over 15 minutes": f"{load[2]:.1f}",
        "peak memory of the server": f"{memory:,.0f} MiB",
        "killed and started again: first answer after": f"{restart:.1f} s",
        "same posts and scores": "yes" if same else "NO",
    }
    lines = [
        "# A served corpus",
        "",
        "```bash",
        "python -m benchmarks.corpus.service CORPUS --articles articles.jsonl "
        f"--clients {options.clients} --minutes {options.minutes:g}",
        "```",
        "",
        f"`linker serve --corpus` with {options.clients} clients at once, nothing else on the cores but the clients, "
        f"on {date.today()}. Each search is for another article (fact checks and news of full length); half of the "
        "searches ask for explanations. Every client sends its next search at once, so that all of them wait all the "
        "time: what a search takes is then their number divided by the searches per second. The embeddings of the "
        "corpus are random; scoring takes as long with real ones.",
        "",
        machine(),
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in rows.items()),
    ]
    with atomic_write(options.out) as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
