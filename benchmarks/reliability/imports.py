"""Imports of labels while a server takes labels: through the page, by the command line, whole, damaged and cut off."""

from __future__ import annotations

import json
import random
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

import httpx

from benchmarks.reliability.commands import DATA, HEADERS, SAMPLE, Tally, await_end, fault_of, run, start
from benchmarks.reliability.documents import workbook
from benchmarks.reliability.fuzz import mutated
from benchmarks.reliability.server import Load

_P99 = 1.0
_ROWS = 300


def _table(annotator: str, ids: list[str], value: str) -> bytes:
    return ("post_id,label,annotator\n" + "".join(f"{id_},{value},{annotator}\n" for id_ in ids)).encode()


class _Imports:
    """Clients that import; what was acknowledged is remembered.

    Attributes:
        acknowledged: annotator → number of labels that were new.
        refused: number of files refused with a message.
        faults: what was neither.
    """

    def __init__(self, load: Load, folder: Path, ids: list[str], chance: random.Random) -> None:
        self.load, self.folder, self.ids, self.chance = load, folder, ids, chance
        self.acknowledged: dict[str, set[str]] = {}
        self.refused = 0
        self.faults: list[str] = []

    def by_page(self, number: int) -> None:
        """Import whole and damaged files through the page."""
        name = f"page-{number}-{time.monotonic_ns()}"
        some = self.chance.sample(self.ids, min(_ROWS, len(self.ids)))
        content = _table(name, some, "relevant")
        kind = self.chance.randrange(4)
        if kind == 1:
            content = mutated(content, self.chance)
        elif kind == 2:
            content = self.chance.choice(
                (b"", b"\0" * 10_000, workbook(cell="x" * 1_000_000), b"id,label\n" * 9_999)
            )
        format_ = self.chance.choice(("xlsx", "jsonl", "label_studio")) if kind == 3 else "csv"
        with httpx.Client(base_url=self.load.url, trust_env=False, headers=HEADERS, timeout=120) as client:
            answer = client.post(
                "/api/sessions/session/import", params={"name": "x.csv", "format": format_}, content=content
            )
        if kind == 0 and answer.status_code == 200:
            self.acknowledged[name] = set(some)
        elif answer.status_code == 400 and kind:
            self.refused += 1
        elif answer.status_code != 200 and not self.load.stopping:
            self.faults.append(f"import {kind}: {answer.status_code} {answer.text[:100]}")

    def cut_off(self, number: int) -> None:
        """Begin an upload, and go away."""
        with socket.create_connection(("127.0.0.1", self.load.port), timeout=10) as client, suppress(OSError):
            content = _table("nobody", self.ids, "not")
            head = (
                "POST /api/sessions/session/import?name=x.csv HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Linker: 1\r\n"
            )
            client.sendall(
                f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content[: len(content) // 2]
            )
            self.load.ended.wait(self.chance.uniform(0, 0.5))

    def by_command(self, number: int) -> None:
        """Import a file by the command line, into the session that is served."""
        name = f"command-{number}-{time.monotonic_ns()}"
        some = self.chance.sample(self.ids, min(_ROWS, len(self.ids)))
        path = self.folder / f"{name}.csv"
        path.write_bytes(_table(name, some, "not"))
        code, _, err = run(("annotate", "import", "session", path.name), self.folder)
        if code == 0:
            self.acknowledged[name] = set(some)
        else:
            self.faults.append(f"annotate import: {fault_of(code, err, (0,))}")


def imports(folder: Path, seconds: float, chance: random.Random) -> Tally:
    """Import labels in all ways while annotators label; nothing that was acknowledged is lost, and no file counts half.

    Args:
        folder: an empty folder.
        seconds: duration.
        chance: random numbers.
    """
    tally = Tally()
    code, _, err = run(("annotate", "start", "session", *SAMPLE, "--model", "bm25"), folder)
    assert code == 0, err
    ids = [json.loads(line)["id"] for line in (DATA / "posts.jsonl").read_text(encoding="utf-8").splitlines()]
    server = start(("serve", "session", "--port", "0", "--model", "bm25"), folder)
    assert server.stdout is not None
    load = Load(int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2]))
    importing = _Imports(load, folder, ids, chance)
    load.begin(load.annotate, 4)
    load.begin(importing.by_page, 3)
    load.begin(importing.cut_off, 2)
    load.begin(importing.by_command, 1)
    time.sleep(seconds)
    load.stopping = True
    load.ended.set()
    for thread in load.threads:
        thread.join(60)
    server.send_signal(signal.SIGINT)
    code, err, _ = await_end(server, 30)
    tally.check(not (fault := fault_of(code, err, (0,))), f"serve: {fault}")
    for fault in [*load.faults, *importing.faults][:10]:
        tally.check(False, fault)
    code, _, err = run(("annotate", "export", "session", "--out", "labels.jsonl"), folder)
    tally.check(not (fault := fault_of(code, err, (0,))), f"export: {fault}")
    rows = (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines() if code == 0 else []
    by_annotator: dict[str, set[str]] = {}
    for row in map(json.loads, rows):
        by_annotator.setdefault(row["annotator"], set()).add(row["post_id"])
    for name, posts in importing.acknowledged.items():
        tally.check(by_annotator.get(name) == posts, f"import of {name}: not all of its labels are there")
    labeled = {
        post for name, posts in by_annotator.items() if name.startswith("annotator-") for post in posts
    }
    for post in load.labels:
        tally.check(post in labeled, f"label of {post} lost")
    tally.check("nobody" not in by_annotator, "an upload that was cut off counts")
    tally.check(bool(load.labels and importing.acknowledged), "nothing was labeled or imported")
    waits = sorted(load.waits)
    p99 = waits[int(0.99 * (len(waits) - 1))] if waits else float("inf")
    tally.check(p99 <= _P99, f"labels wait {p99:.2f} s (99th percentile)")
    tally.notes = (
        f"{len(importing.acknowledged)} imports of {_ROWS} labels, {importing.refused} refused, beside "
        f"{len(load.labels)} labels: p99 {p99:.2f} s"
    )
    return tally
