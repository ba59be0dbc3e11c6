"""A server between honest annotators, rankings, and clients that send half a request, noise or nothing."""

from __future__ import annotations

import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx

from benchmarks.reliability.commands import HEADERS, SAMPLE, Tally, environment, run

_RANKING = {
    "article": "The festival was canceled after the headliner was never booked. " * 3,
    "source": "session:session",
}
_P99 = 1.0
_SHUTDOWN = 3.0
_FILES = 256
# More than four annotators label.
_POSTS_A_SECOND = 70


class Load:
    """Clients in threads until the end.

    Args:
        port: that of the server.
        session: the session to label in.
    """

    def __init__(self, port: int, session: str = "session") -> None:
        self.session = session
        self.port, self.url = port, f"http://127.0.0.1:{port}"
        self.ended = threading.Event()
        self.threads: list[threading.Thread] = []
        self.labels: dict[str, str] = {}
        self.waits: list[float] = []
        self.faults: list[str] = []
        self.rankings = 0
        self.stopping = False
        self._guard = threading.Lock()

    def begin(self, work: Callable[[int], None], count: int) -> None:
        """Start a number of clients."""

        def forever(number: int) -> None:
            while not self.ended.is_set():
                # Hostile clients are thrown out, and others are closed to make room.
                with suppress(OSError, httpx.HTTPError):
                    work(number)

        for number in range(count):
            self.threads.append(threading.Thread(target=forever, args=(number,), daemon=True))
            self.threads[-1].start()

    def annotate(self, number: int) -> None:
        """Label posts; each acknowledged label is remembered."""
        name = f"annotator-{number}"
        with httpx.Client(base_url=self.url, trust_env=False, headers=HEADERS, timeout=60) as client:
            actions: list[dict[str, str]] = []
            while not self.ended.is_set():
                begun = time.monotonic()
                body = {"annotator": name, "actions": actions, "count": 2}
                answer = client.post(f"/api/sessions/{self.session}/sync", json=body)
                wait = time.monotonic() - begun
                with self._guard:
                    if actions:
                        self.waits.append(wait)
                    if answer.status_code != 200:
                        self.faults.append(f"sync: {answer.status_code} {answer.text[:100]}")
                        return
                    refused = {one["id"] for one in answer.json()["done"] if "error" in one}
                    self.labels.update(
                        {one["post"]: one["value"] for one in actions if one["id"] not in refused}
                    )
                actions = [
                    {
                        "id": f"{name}-{time.monotonic_ns()}",
                        "annotator": name,
                        "kind": "label",
                        "post": one["id"],
                        "value": "relevant" if len(self.labels) % 3 else "not",
                    }
                    for one in answer.json()["next"][:1]
                ]
                self.ended.wait(0.05)

    def rank(self, number: int) -> None:
        """Rank posts."""
        with httpx.Client(base_url=self.url, trust_env=False, headers=HEADERS, timeout=300) as client:
            while not self.ended.is_set():
                answer = client.post("/api/rank", json=_RANKING)
                with self._guard:
                    self.rankings += answer.status_code == 200
                    if answer.status_code not in (200, 503) and not self.stopping:
                        self.faults.append(f"rank: {answer.status_code} {answer.text[:100]}")
                        return

    def abuse(self, number: int) -> None:
        """Be hostile, in one of several ways."""
        chance = random.Random(number * 1_000_003 + time.monotonic_ns())
        # So that the clients do not take all of the machine.
        self.ended.wait(chance.uniform(0.2, 2))
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
            kind = number % 7
            if kind == 0:  # half a head
                client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
                self.ended.wait(15)
            elif kind == 1:  # a byte at a time
                for _ in range(200):
                    client.sendall(b"x")
                    self.ended.wait(0.1)
            elif kind == 2:  # a huge head
                client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 100_000)
            elif kind == 3:  # noise
                client.sendall(chance.randbytes(5_000))
                client.recv(1_000)
            elif kind == 4:  # a body that does not come
                client.sendall(
                    b"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Linker: 1\r\nContent-Length: 100000\r\n\r\n{"
                )
                self.ended.wait(15)
            elif kind == 5:  # nothing
                self.ended.wait(15)
            else:  # asks, and does not read
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
                for _ in range(50):
                    client.sendall(b"GET /static/app.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                self.ended.wait(15)

    def end(self) -> None:
        """Wait for the clients."""
        self.ended.set()
        for thread in self.threads:
            thread.join(5)


def _write_posts(path: Path, count: int) -> None:
    """Write posts that are no copies of each other, of the words of the sample."""
    chance = random.Random(1)
    rows = map(json.loads, Path(SAMPLE[3]).read_text(encoding="utf-8").splitlines())
    words = sorted({word for row in rows for word in row["text"].split()})
    lines = (json.dumps({"id": str(n), "text": " ".join(chance.choices(words, k=20))}) for n in range(count))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def abuse(folder: Path, seconds: float, clients: int) -> Tally:
    """Count labels while many clients rank and abuse the server, then stop it by Ctrl-C under this load.

    Args:
        folder: an empty folder.
        seconds: duration of the load.
        clients: number of hostile clients.
    """
    tally = Tally()
    _write_posts(folder / "posts.jsonl", int(seconds * _POSTS_A_SECOND))
    for session, posts in (("session", SAMPLE[3]), ("large", "posts.jsonl")):
        start = ("annotate", "start", session, *SAMPLE[:2], "--posts", posts, "--model", "bm25")
        code, _, err = run(start, folder)
        assert code == 0, err
    with ExitStack() as opened:
        log = opened.enter_context((folder / "log").open("w"))
        limited = f"ulimit -n {_FILES}; exec {sys.executable} -m linker serve session large --port 0"
        server = subprocess.Popen(
            ["bash", "-c", limited], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=log, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        opened.callback(server.kill)
        assert server.stdout is not None
        load = Load(int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2]), "large")
        load.begin(load.annotate, 4)
        load.begin(load.rank, 50)
        load.begin(load.abuse, clients)
        time.sleep(seconds)
        load.stopping = True
        begun = time.monotonic()
        server.send_signal(signal.SIGINT)
        try:
            code = server.wait(60)
        except subprocess.TimeoutExpired:
            code = None
        shutdown = time.monotonic() - begun
        load.end()
    waits = sorted(load.waits)
    p99 = waits[int(0.99 * (len(waits) - 1))] if waits else float("inf")
    text = (folder / "log").read_text(errors="replace")
    code_of_export, _, err = run(("annotate", "export", "large", "--out", "labels.jsonl"), folder)
    rows = (
        [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
        if code_of_export == 0
        else []
    )
    on_disk = {row["post_id"]: row.get("label") for row in rows}
    lost = [post for post, value in load.labels.items() if on_disk.get(post) != value]
    for fault in load.faults[:5]:
        tally.check(False, fault)
    for post in load.labels:
        tally.check(post not in lost, f"label of {post} lost")
    tally.check(bool(load.labels), f"no label was acknowledged; {err[-200:]}")
    tally.check(code == 0, f"exit code {code} after Ctrl-C")
    tally.check(shutdown <= _SHUTDOWN, f"Ctrl-C took {shutdown:.1f} s")
    tally.check(p99 <= _P99, f"labels wait {p99:.2f} s (99th percentile)")
    tally.check(
        len(text) < 20_000 and "Traceback" not in text, f"log of {len(text):,} characters: {text[:300]!r}"
    )
    tally.notes = (
        f"{len(load.labels):,} labels beside {load.rankings} rankings: p99 {p99:.2f} s; Ctrl-C {shutdown:.1f} s; "
        f"log {len(text):,} characters"
    )
    return tally
