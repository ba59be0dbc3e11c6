"""A server between honest annotators, rankings, imports, and clients that send noise or nothing."""

import random
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx

from tests.reliability.documents import workbook
from tests.reliability.fuzz import mutated
from tests.reliability.harness import (
    DATA,
    HEADERS,
    SAMPLE,
    START,
    Ended,
    Server,
    Tally,
    must,
    read_rows,
    run,
    sample_ids,
    serving,
    write_rows,
)

_RANKING = {
    "article": "The festival was canceled after the headliner was never booked. " * 3,
    "source": "session:session",
}
_P99, _SHUTDOWN = 1.0, 3.0
_FILES = 256
# More than four annotators label.
_POSTS_A_SECOND = 70
_ROWS = 300


class Load:
    """Clients in threads until the end.

    Attributes:
        labels: acknowledged labels: annotator and post → label.
        imported: acknowledged imports: annotator → posts.
        waits: seconds that labels took.
        faults: what clients noticed.
    """

    def __init__(self, server: Server, session: str, folder: Path, chance: random.Random) -> None:
        self.server, self.session, self.folder, self.chance = server, session, folder, chance
        self.ended = threading.Event()
        self.threads: list[threading.Thread] = []
        self.labels: dict[tuple[str, str], str] = {}
        self.imported: dict[str, set[str]] = {}
        self.waits: list[float] = []
        self.faults: list[str] = []
        self.rankings = self.refused = 0
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

    def end(self, seconds: float) -> None:
        """Wait for the clients."""
        self.stopping = True
        self.ended.set()
        for thread in self.threads:
            thread.join(seconds)

    def p99(self) -> float:
        """Return the 99th percentile of the seconds that labels took."""
        waits = sorted(self.waits)
        return waits[int(0.99 * (len(waits) - 1))] if waits else float("inf")

    def _client(self) -> httpx.Client:
        return httpx.Client(base_url=self.server.url, trust_env=False, headers=HEADERS, timeout=300)

    def _socket(self) -> socket.socket:
        port = int(self.server.url.rpartition(":")[2])
        return socket.create_connection(("127.0.0.1", port), timeout=20)

    def annotate(self, number: int) -> None:
        """Label posts; each acknowledged label is remembered."""
        name = f"annotator-{number}"
        actions: list[dict[str, str]] = []
        with self._client() as client:
            while not self.ended.is_set():
                begun = time.monotonic()
                body = {"annotator": name, "actions": actions, "count": 2}
                answer = client.post(f"/api/sessions/{self.session}/sync", json=body)
                with self._guard:
                    if actions:
                        self.waits.append(time.monotonic() - begun)
                    if answer.status_code != 200:
                        self.faults.append(f"sync: {answer.status_code} {answer.text[:100]}")
                        return
                    refused = {done["id"] for done in answer.json()["done"] if "error" in done}
                    self.labels |= {
                        (name, action["post"]): action["value"]
                        for action in actions
                        if action["id"] not in refused
                    }
                value = "relevant" if len(self.labels) % 3 else "not"
                label = {"annotator": name, "kind": "label", "value": value}
                actions = [
                    {**label, "id": f"{name}-{time.monotonic_ns()}", "post": post["id"]}
                    for post in answer.json()["next"][:1]
                ]
                self.ended.wait(0.05)

    def rank(self, number: int) -> None:
        """Rank posts."""
        with self._client() as client:
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
        head = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        begun = {
            0: head + b"X: ",  # half a head
            2: head + b"X: y\r\n" * 100_000,  # a huge head
            3: chance.randbytes(5_000),  # noise
            4: head.replace(b"GET /", b"POST /api/rank") + b"X-Linker: 1\r\nContent-Length: 100000\r\n\r\n{",
        }
        with self._socket() as client:
            kind = number % 7  # 5: nothing
            client.sendall(begun.get(kind, b""))
            if kind == 1:  # a byte at a time
                for _ in range(200):
                    client.sendall(b"x")
                    self.ended.wait(0.1)
            elif kind == 3:
                client.recv(1_000)
            elif kind == 6:  # asks, and does not read
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
                for _ in range(50):
                    client.sendall(head.replace(b"GET /", b"GET /static/app.js") + b"\r\n")
            if kind in (0, 4, 5, 6):
                self.ended.wait(15)

    def import_by_page(self, number: int) -> None:
        """Import whole and damaged files through the page."""
        name, posts, content = self._table(f"page-{number}", "relevant")
        kind = self.chance.randrange(4)
        if kind == 1:
            content = mutated(content, self.chance)
        elif kind == 2:
            odd = (b"", b"\0" * 10_000, workbook(cell="x" * 1_000_000), b"id,label\n" * 9_999)
            content = self.chance.choice(odd)
        format_ = self.chance.choice(("xlsx", "jsonl", "label_studio")) if kind == 3 else "csv"
        with self._client() as client:
            about = {"name": "x.csv", "format": format_}
            answer = client.post(f"/api/sessions/{self.session}/import", params=about, content=content)
        if kind == 0 and answer.status_code == 200:
            self.imported[name] = posts
        elif answer.status_code == 400 and kind:
            self.refused += 1
        elif answer.status_code != 200 and not self.stopping:
            self.faults.append(f"import {kind}: {answer.status_code} {answer.text[:100]}")

    def import_by_half(self, number: int) -> None:
        """Begin an upload, and go away."""
        _, _, content = self._table("nobody", "not")
        head = f"POST /api/sessions/{self.session}/import?name=x.csv HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Linker: 1\r\n"
        with self._socket() as client, suppress(OSError):
            about = f"{head}Content-Length: {len(content)}\r\n\r\n".encode()
            client.sendall(about + content[: len(content) // 2])
            self.ended.wait(self.chance.uniform(0, 0.5))

    def import_by_command(self, number: int) -> None:
        """Import a file by the command line, into the session that is served."""
        name, posts, content = self._table(f"command-{number}", "not")
        (self.folder / f"{name}.csv").write_bytes(content)
        ended = run(("annotate", "import", self.session, f"{name}.csv"), self.folder)
        if ended.code == 0:
            self.imported[name] = posts
        else:
            self.faults.append(f"annotate import: {ended.fault((0,))}")

    def _table(self, annotator: str, value: str) -> tuple[str, set[str], bytes]:
        """Return a new annotator, posts, and a file with a label of each."""
        name, ids = f"{annotator}-{time.monotonic_ns()}", sample_ids()
        posts = self.chance.sample(ids, min(_ROWS, len(ids)))
        rows = "".join(f"{id_},{value},{name}\n" for id_ in posts)
        return name, set(posts), f"post_id,label,annotator\n{rows}".encode()


def _end(tally: Tally, load: Load, ended: Ended, folder: Path) -> dict[str, dict[str, str]]:
    """Check what holds after each load; returns the labels on disk: annotator → post → label."""
    tally.without(ended.fault((0,)), "serve")
    tally.check(load.p99() <= _P99, f"labels wait {load.p99():.2f} s (99th percentile)")
    for fault in load.faults[:10]:
        tally.check(False, fault)
    on_disk: dict[str, dict[str, str]] = {}
    for row in tally.labels(folder, load.session):
        on_disk.setdefault(row["annotator"] or "", {})[row["post_id"]] = row.get("label") or ""
    for (name, post), value in load.labels.items():
        tally.check(on_disk.get(name, {}).get(post) == value, f"label of {post} lost")
    tally.check(load.labels, "no label was acknowledged")
    return on_disk


def abuse(tally: Tally, folder: Path, seconds: int, chance: random.Random) -> None:
    """Count labels while many clients rank and abuse the server, then stop it by Ctrl-C under this load."""
    words = sorted({word for row in read_rows(DATA / "posts.jsonl") for word in row["text"].split()})
    # No copies of each other.
    rows = [
        {"id": str(n), "text": " ".join(chance.choices(words, k=20))}
        for n in range(seconds * _POSTS_A_SECOND)
    ]
    write_rows(folder / "posts.jsonl", rows)
    must(START, folder)
    must(("annotate", "start", "large", *SAMPLE[:2], "--posts", "posts.jsonl", "--model", "bm25"), folder)
    with serving(folder, "large", shell=f'ulimit -n {_FILES}; exec "$@"') as server:
        load = Load(server, "large", folder, chance)
        load.begin(load.annotate, 4)
        load.begin(load.rank, 50)
        load.begin(load.abuse, min(100, seconds * 5 // 3))
        time.sleep(seconds)
        load.stopping = True
        ended = server.stop()
        load.end(5)
    _end(tally, load, ended, folder)
    tally.check(len(ended.err) < 20_000, f"log of {len(ended.err):,} characters: {ended.err[:300]!r}")
    tally.check(ended.seconds <= _SHUTDOWN, f"Ctrl-C took {ended.seconds:.1f} s")
    tally.notes = (
        f"{len(load.labels):,} labels beside {load.rankings} rankings: p99 {load.p99():.2f} s; Ctrl-C "
        f"{ended.seconds:.1f} s; log {len(ended.err):,} characters"
    )


def imports(tally: Tally, folder: Path, seconds: float, chance: random.Random) -> None:
    """Import labels in all ways while annotators label; what was acknowledged is there, and no file counts half."""
    must(START, folder)
    with serving(folder, "--model", "bm25") as server:
        load = Load(server, "session", folder, chance)
        load.begin(load.annotate, 4)
        load.begin(load.import_by_page, 3)
        load.begin(load.import_by_half, 2)
        load.begin(load.import_by_command, 1)
        time.sleep(seconds)
        load.end(60)
        ended = server.stop()
    on_disk = _end(tally, load, ended, folder)
    for name, posts in load.imported.items():
        tally.check(
            on_disk.get(name, {}).keys() == posts, f"import of {name}: not all of its labels are there"
        )
    tally.check(not any(name.startswith("nobody") for name in on_disk), "an upload that was cut off counts")
    tally.check(load.imported, "nothing was imported")
    tally.notes = (
        f"{len(load.imported)} imports of {_ROWS} labels, {load.refused} refused, beside {len(load.labels)} labels: "
        f"p99 {load.p99():.2f} s"
    )
