"""Web servers that answer slowly, endlessly or not at all, for every command that asks the web."""

import gzip
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx

from linker.articles.fetching import DEADLINE
from tests.reliability.harness import HEADERS, SAMPLE, START, Tally, finish, must, run, serving, start
from tests.reliability.loopback import STORY, site_names

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
from linker.articles.crawl.crawler import CrawlOptions
deadline, wait = map(float, sys.argv[1:])
crawl("links.txt", "crawl", CrawlOptions("me@lab.example", 0.5, 32, deadline=deadline, retry_wait=wait))
"""


def _slowly(content: bytes) -> Iterator[bytes | float]:
    """Yield bytes one by one, with pauses."""
    for byte in content:
        yield bytes([byte])
        yield _BEAT


def _for_ever(content: bytes, beat: float = 0.0, head: bytes = b"") -> Iterator[bytes | float]:
    yield head
    while True:
        yield content
        yield beat


_CHUNKED = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_GZIP = _HEAD + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n"
_MOVED = b"HTTP/1.1 302 Found\r\nLocation: http://slow-circle.test:%d/%d\r\n"
_EARLY = b"HTTP/1.1 103 Early Hints\r\n\r\n"
_LONG = _HEAD + b"Content-Length: 100000\r\n\r\n"
_EMPTY = b"Content-Length: 0\r\nConnection: close\r\n"
#: Kinds of servers: what each sends, with pauses in seconds. `honest` is one that works.
KINDS: dict[str, Callable[[int], Iterable[bytes | float]]] = {
    "honest": lambda port: [_HEAD + b"Connection: close\r\n\r\n" + _PAGE],
    "silent": lambda port: _for_ever(b"", 1.0),
    "drip-head": lambda port: _slowly(_HEAD * 1_000),
    "drip-status": lambda port: _slowly(b"HTTP/1.1 200 " + b"O" * 100_000),
    "endless-head": lambda port: (_HEAD if n == 0 else b"X-%d: y\r\n" % n for n in range(1 << 30)),
    "endless-line": lambda port: _for_ever(b"x" * 1_000),
    "informational": lambda port: _for_ever(_EARLY.replace(b"\r\n\r\n", b"\r\nLink: <x>\r\n\r\n")),
    "slow-informational": lambda port: _for_ever(_EARLY, 0.5),
    "drip-body": lambda port: [_LONG, *_slowly(_PAGE * 9)],
    "drip-unbounded": lambda port: [_HEAD + b"\r\n", *_slowly(_PAGE * 9)],
    "stalled-body": lambda port: [_LONG + _PAGE, 3_600.0],
    "drip-chunks": lambda port: _for_ever(b"1\r\nx\r\n", _BEAT, _CHUNKED),
    "endless-chunk-line": lambda port: _for_ever(b"0" * 1_000, head=_CHUNKED),
    "endless-trailer": lambda port: _for_ever(b"X: " + b"y" * 1_000 + b"\r\n", head=_CHUNKED + b"0\r\n"),
    "endless-body": lambda port: _for_ever(b"<p>otters " * 1_000, head=_HEAD + b"\r\n"),
    "stalled-gzip": lambda port: [_GZIP + gzip.compress(_PAGE)[:40], 3_600.0],
    "endless-gzip": lambda port: _for_ever(gzip.compress(b"", 0) * 1_000, head=_GZIP),
    "gzip-bomb": lambda port: [_GZIP + gzip.compress(bytes(200 << 20), 9)],
    "slow-circle": lambda port: [8.0, _MOVED % (port, time.monotonic_ns()) + _EMPTY + b"\r\n"],
    "later": lambda port: [b"HTTP/1.1 503 Busy\r\nRetry-After: 99999999999999999999\r\n" + _EMPTY + b"\r\n"],
    "later-date": lambda port: [
        b"HTTP/1.1 429 No\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 -2359\r\n" + _EMPTY + b"\r\n"
    ],
}  # fmt: skip
#: Of these the robots.txt is as slow as the pages; of the others there is none.
_ROBOTS = ("silent", "drip-body", "endless-body", "drip-head")


class SlowWeb:
    """Servers on loopback: `http://KIND.test:PORT/` answers as the kind says; `unknown.test` is looked up for ever.

    Attributes:
        environment: what a command needs to find them.
        urls: one address of each kind.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self.ended = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.urls = {kind: f"http://{kind}.test:{self.port}/2026/03/otters-below-the-weir" for kind in KINDS}
        self.urls["unknown"] = f"http://unknown.test:{self.port}/2026/03/otters"
        self.urls["plain-tls"] = f"https://plain-tls.test:{self.port}/2026/03/otters"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self.ended.is_set():
            with suppress(OSError):
                client, _ = self.listener.accept()
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
                if isinstance(part, bytes):
                    client.sendall(part)
                elif part and self.ended.wait(part):
                    return


@contextmanager
def _slow_web() -> Iterator[SlowWeb]:
    with ExitStack() as opened:
        web = SlowWeb(opened.enter_context(site_names()))
        opened.callback(web.ended.set)
        opened.enter_context(web.listener)
        # One accepts connections and says nothing, for https; the other does not accept connections any more.
        mute, full = (
            opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=size)) for size in (512, 1)
        )
        web.urls["mute-tls"] = f"https://mute-tls.test:{mute.getsockname()[1]}/2026/03/otters"
        web.urls["full"] = f"http://full.test:{full.getsockname()[1]}/2026/03/otters"
        for _ in range(8):
            client = opened.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        yield web


def _ranking(url: str) -> tuple[str, ...]:
    return ("rank", "--article", url, *SAMPLE[2:], "--model", "bm25")


def _rank(web: SlowWeb, folder: Path, tally: Tally) -> tuple[float, float]:
    """Rank for each address; returns the longest and the usual time in seconds."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        jobs = {
            kind: pool.submit(run, _ranking(url), folder, 3 * DEADLINE, changes=web.environment)
            for kind, url in web.urls.items()
        }
    usual = jobs["honest"].result().seconds
    for kind, job in jobs.items():
        ended = job.result()
        fault = ended.fault((0,) if kind == "honest" else (2,))
        if not fault and ended.seconds > usual + DEADLINE + _GRACE:
            fault = f"{ended.seconds:.0f} s, {usual:.0f} s for a page that comes at once"
        tally.without(fault, f"rank, {kind}")
    return max(job.result().seconds for job in jobs.values()), usual


def _interrupt(web: SlowWeb, folder: Path, tally: Tally, usual: float) -> None:
    """Press Ctrl-C while a server keeps a command waiting."""
    for kind in ("silent", "drip-body", "informational", "unknown"):
        process = start(_ranking(web.urls[kind]), folder, web.environment)
        time.sleep(max(4, usual))
        process.send_signal(2)
        ended = finish(process, DEADLINE)
        late = f"Ctrl-C took {ended.seconds:.1f} s" if ended.seconds > 5 else ""
        tally.without(ended.fault((130,)) or late, f"Ctrl-C in rank, {kind}")


def _crawl(web: SlowWeb, folder: Path, tally: Tally, deadline: float, wait: float) -> float:
    """Crawl all addresses; returns the time in seconds."""
    (folder / "links.txt").write_text("".join(f"{url}\n" for url in web.urls.values()), encoding="utf-8")
    # Two attempts wait, three take their time; for the robots.txt the same.
    most = 2 * (11 * wait + 3 * deadline) + 2 * _GRACE
    program = (sys.executable, "-c", _CRAWL)
    ended = tally.run(
        (f"{deadline}", f"{wait}"), folder, "fetch", seconds=most, changes=web.environment, program=program
    )
    states = folder / "crawl" / "states.csv"
    lines = states.read_text(encoding="utf-8").splitlines()[1:] if ended.code == 0 else []
    for kind, url in web.urls.items():
        line = next((line for line in lines if line.startswith(url)), "")
        # Where the server names a time far ahead, a later run asks again.
        held = ",fetched," in line if kind == "honest" else (",waiting," in line) == kind.startswith("later")
        tally.check(line and held, f"fetch, {kind}: {line[:200]!r}")
    return ended.seconds


def _serve(web: SlowWeb, folder: Path, tally: Tally) -> float:
    """Let a server fetch slow pages, and label beside; returns the longest wait for labels in seconds."""
    must(START, folder)
    waits: list[float] = []
    with serving(folder, "--model", "bm25", changes=web.environment) as server:
        with httpx.Client(base_url=server.url, trust_env=False, headers=HEADERS, timeout=120) as client:

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
        tally.without(server.stop(30).fault((0,)), "serve")
    tally.check(max(waits) < 1, f"labels wait {max(waits):.1f} s beside slow pages")
    return max(waits)


def slow_answers(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Ask servers that drip, stall or never end: each command ends in time with one message.

    With more than one round, crawls have the times of the command.
    """
    times = (DEADLINE, 30.0) if rounds > 1 else (4.0, 1.0)
    with _slow_web() as web:
        slowest, usual = _rank(web, folder, tally)
        _interrupt(web, folder, tally, usual)
        crawled = _crawl(web, folder, tally, *times)
        waited = _serve(web, folder, tally)
    tally.notes = (
        f"slowest: rank {slowest:.0f} s, crawl {crawled:.0f} s; labels beside slow pages {waited:.2f} s"
    )
