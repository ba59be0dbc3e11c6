"""Web servers that answer slowly, endlessly or not at all, for every command that asks the web."""

from __future__ import annotations

import gzip
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import httpx

from benchmarks.reliability.commands import SAMPLE, Tally, await_end, fault_of, run, start
from benchmarks.reliability.loopback import STORY, site_folder
from linker.articles.fetching import DEADLINE

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_PAGE = f"<html><head><title>Otters</title></head><body><article><p>{STORY}</article>".encode()
_BEAT = 1.0
# Of a busy machine.
_GRACE = 10.0
_AT_ONCE = 4
# A crawl: seconds for a request and before the next attempt, instead of 20 and 30.
_CRAWL = """
import sys
from linker.articles.crawl.crawl import crawl
from linker.articles.crawl.options import CrawlOptions
deadline, wait = map(float, sys.argv[1:])
crawl("links.txt", "crawl", CrawlOptions("me@lab.example", 0.5, 32, deadline=deadline, retry_wait=wait))
"""


def _slowly(content: bytes, beat: float = _BEAT) -> Iterator[bytes | float]:
    """Yield bytes one by one, with pauses."""
    for byte in content:
        yield bytes([byte])
        yield beat


def _for_ever(content: bytes, beat: float = 0.0) -> Iterator[bytes | float]:
    while True:
        yield content
        if beat:
            yield beat


#: Kinds of servers: what each sends, with pauses in seconds. `honest` is one that works.
KINDS: dict[str, Callable[[int], Iterable[bytes | float]]] = {
    "honest": lambda port: [_HEAD + b"Connection: close\r\n\r\n" + _PAGE],
    "silent": lambda port: _for_ever(b"", 1.0),
    "drip-head": lambda port: _slowly(_HEAD * 1_000),
    "drip-status": lambda port: _slowly(b"HTTP/1.1 200 " + b"O" * 100_000),
    "endless-head": lambda port: (_HEAD if n == 0 else b"X-%d: y\r\n" % n for n in range(1 << 30)),
    "endless-line": lambda port: _for_ever(b"x" * 1_000),
    "informational": lambda port: _for_ever(b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"),
    "slow-informational": lambda port: _for_ever(b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.5),
    "drip-body": lambda port: [_HEAD + b"Content-Length: 100000\r\n\r\n", *_slowly(_PAGE * 9)],
    "drip-unbounded": lambda port: [_HEAD + b"\r\n", *_slowly(_PAGE * 9)],
    "stalled-body": lambda port: [_HEAD + b"Content-Length: 100000\r\n\r\n" + _PAGE, 3_600.0],
    "drip-chunks": lambda port: _chunks(),
    "endless-chunk-line": lambda port: _then(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 1_000),
    "endless-trailer": lambda port: _then(
        _HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: " + b"y" * 1_000 + b"\r\n"
    ),
    "endless-body": lambda port: _then(_HEAD + b"\r\n", b"<p>otters " * 1_000),
    "stalled-gzip": lambda port: [_HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(_PAGE)[:40], 3_600.0],
    "endless-gzip": lambda port: _then(
        _HEAD + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"", 0) * 1_000
    ),
    "gzip-bomb": lambda port: [
        _HEAD + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(bytes(200 << 20), 9)
    ],
    "slow-circle": lambda port: [
        8.0,
        b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\n"
        + b"Location: http://slow-circle.test:%d/%d\r\n\r\n" % (port, time.monotonic_ns()),
    ],
    "later": lambda port: [
        b"HTTP/1.1 503 Busy\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n"
    ],
    "later-date": lambda port: [
        b"HTTP/1.1 429 No\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 -2359\r\nContent-Length: 0\r\n\r\n"
    ],
}  # fmt: skip
#: Of these the robots.txt is as slow as the pages; of the others there is none.
_ROBOTS = ("silent", "drip-body", "endless-body", "drip-head")


def _then(head: bytes, content: bytes) -> Iterator[bytes | float]:
    yield head
    yield from _for_ever(content)


def _chunks() -> Iterator[bytes | float]:
    yield _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    yield from _for_ever(b"1\r\nx\r\n", _BEAT)


class SlowWeb:
    """Servers on loopback: `http://KIND.test:PORT/` answers as the kind says; `unknown.test` is looked up for ever.

    Attributes:
        port: their port.
        tls: a port that accepts connections and says nothing, for https.
        full: a port that does not accept connections any more.
        environment: what a command needs to find them.
    """

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._mute = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._full = socket.create_server(("127.0.0.1", 0), backlog=1)
        self.port, self.tls, self.full = (
            one.getsockname()[1] for one in (self._listener, self._mute, self._full)
        )
        self._ended = threading.Event()
        self._waiting: list[socket.socket] = []
        self._folder, self.environment = site_folder()

    def __enter__(self) -> SlowWeb:
        threading.Thread(target=self._accept, daemon=True).start()
        for _ in range(8):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", self.full))
            self._waiting.append(client)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        for one in (self._listener, self._mute, self._full, *self._waiting):
            one.close()
        self._folder.cleanup()

    @property
    def urls(self) -> dict[str, str]:
        """One address of each kind."""
        found = {kind: f"http://{kind}.test:{self.port}/2026/03/otters-below-the-weir" for kind in KINDS}
        for name, port in (("mute-tls", self.tls), ("plain-tls", self.port)):
            found[name] = f"https://{name}.test:{port}/2026/03/otters"
        found["full"] = f"http://full.test:{self.full}/2026/03/otters"
        found["unknown"] = f"http://unknown.test:{self.port}/2026/03/otters"
        return found

    def _accept(self) -> None:
        while not self._ended.is_set():
            with suppress(OSError):
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(60)
            head = b""
            while b"\r\n\r\n" not in head and len(head) < 10_000:
                if not (more := client.recv(4_096)):
                    return
                head += more
            host = next((line[6:] for line in head.split(b"\r\n") if line.lower().startswith(b"host: ")), b"")
            kind = host.decode("latin-1").partition(".test")[0]
            if kind not in KINDS:
                return
            if b"GET /robots.txt" in head and kind not in _ROBOTS:
                client.sendall(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            for part in KINDS[kind](self.port):
                if isinstance(part, float):
                    if self._ended.wait(part):
                        return
                elif part:
                    client.sendall(part)


def _rank(web: SlowWeb, folder: Path, tally: Tally) -> float:
    """Rank for each address; returns the longest time in seconds."""

    def ranked(kind: str, url: str) -> tuple[str, int | None, str, float]:
        begun = time.monotonic()
        arguments = ("rank", "--article", url, "--posts", SAMPLE[3], "--model", "bm25")
        code, _, err = run(arguments, folder, 3 * DEADLINE, web.environment)
        return kind, code, err, time.monotonic() - begun

    slowest = usual = 0.0
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for kind, code, err, took in pool.map(lambda pair: ranked(*pair), web.urls.items()):
            if kind == "honest":
                usual = took
            fault = fault_of(code, err, (0,) if kind == "honest" else (2,))
            if not fault and took > usual + DEADLINE + _GRACE:
                fault = f"{took:.0f} s, {usual:.0f} s for a page that comes at once"
            slowest = max(slowest, took)
            tally.check(not fault, f"rank, {kind}: {fault}")
    return slowest


def _crawl(web: SlowWeb, folder: Path, tally: Tally, deadline: float, wait: float) -> float:
    """Crawl all addresses; returns the time in seconds."""
    (folder / "links.txt").write_text("".join(f"{url}\n" for url in web.urls.values()), encoding="utf-8")
    begun = time.monotonic()
    # Two attempts wait, three take their time; for the robots.txt the same.
    most = 2 * (11 * wait + 3 * deadline) + 2 * _GRACE
    process = start((f"{deadline}", f"{wait}"), folder, web.environment, [sys.executable, "-c", _CRAWL])
    code, err, _ = await_end(process, most)
    tally.check(not (fault := fault_of(code, err, (0,))), f"fetch: {fault}")
    lines = (
        (folder / "crawl" / "states.csv").read_text(encoding="utf-8").splitlines()[1:] if code == 0 else []
    )
    for kind, url in web.urls.items():
        line = next((line for line in lines if line.startswith(url)), "")
        # Where the server names a time far ahead, a later run asks again.
        held = ",fetched," in line if kind == "honest" else (",waiting," in line) == kind.startswith("later")
        tally.check(bool(line) and held, f"fetch, {kind}: {line[:200]!r}")
    return time.monotonic() - begun


def _interrupted(web: SlowWeb, folder: Path, tally: Tally) -> None:
    """Press Ctrl-C while a server keeps a command waiting."""
    for kind in ("silent", "drip-body", "informational", "unknown"):
        arguments = ("rank", "--article", web.urls[kind], "--posts", SAMPLE[3], "--model", "bm25")
        process = start(arguments, folder, web.environment)
        time.sleep(4)
        process.send_signal(2)
        code, err, took = await_end(process, DEADLINE)
        fault = fault_of(code, err, (130,)) or (f"Ctrl-C took {took:.1f} s" if took > 5 else "")
        tally.check(not fault, f"Ctrl-C in rank, {kind}: {fault}")


def _serve(web: SlowWeb, folder: Path, tally: Tally) -> float:
    """Let a server fetch slow pages, and label beside; returns the longest wait for labels in seconds."""
    code, _, err = run(("annotate", "start", "session", *SAMPLE, "--model", "bm25"), folder)
    assert code == 0, err
    server = start(("serve", "session", "--port", "0", "--model", "bm25"), folder, web.environment)
    assert server.stdout is not None
    base = server.stdout.readline().strip().rstrip("/")
    waits: list[float] = []
    try:
        with httpx.Client(base_url=base, trust_env=False, headers={"X-Linker": "1"}, timeout=120) as client:

            def ranked(url: str) -> int:
                body = {"article": url, "source": "session:session"}
                return client.post("/api/rank", json=body).status_code

            with ThreadPoolExecutor(len(web.urls)) as pool:
                jobs = {kind: pool.submit(ranked, url) for kind, url in web.urls.items()}
                while not all(job.done() for job in jobs.values()):
                    begun = time.monotonic()
                    answer = client.post("/api/sessions/session/sync", json={"annotator": "Ada", "count": 2})
                    waits.append(time.monotonic() - begun)
                    tally.check(answer.status_code == 200, f"label beside slow pages: {answer.status_code}")
                    time.sleep(0.2)
                for kind, job in jobs.items():
                    expected = (200,) if kind == "honest" else (400, 503)
                    tally.check(job.result() in expected, f"serve, {kind}: {job.result()}")
    finally:
        server.send_signal(2)
        code, err, _ = await_end(server, 30)
    tally.check(not (fault := fault_of(code, err, (0,))), f"serve: {fault}")
    tally.check(max(waits) < 1, f"labels wait {max(waits):.1f} s beside slow pages")
    return max(waits)


def slow_answers(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Ask servers that drip, stall or never end: each command ends in time with one message.

    Args:
        folder: an empty folder.
        rounds: with more than one, crawls have the times of the command.
        chance: not used.
    """
    tally = Tally()
    times = (DEADLINE, 30.0) if rounds > 1 else (4.0, 1.0)
    with SlowWeb() as web:
        slowest = _rank(web, folder, tally)
        _interrupted(web, folder, tally)
        crawled = _crawl(web, folder, tally, *times)
        waited = _serve(web, folder, tally)
    tally.notes = (
        f"slowest: rank {slowest:.0f} s, crawl {crawled:.0f} s; labels beside slow pages {waited:.2f} s"
    )
    return tally
