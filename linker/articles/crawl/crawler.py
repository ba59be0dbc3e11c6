"""The crawl: hosts take turns, one request a host at a time, until every page has its state."""

from __future__ import annotations

import heapq
import queue
import threading
import time
from functools import lru_cache

import httpx

from linker.articles.crawl.archive import CrawlArchive
from linker.articles.crawl.options import CrawlOptions
from linker.articles.crawl.request import (
    Hosts,
    Response,
    Stopped,
    host_of_url,
    request,
)
from linker.articles.crawl.robots import Rules
from linker.articles.crawl.state import RETRIED
from linker.articles.crawl.store import CrawlStore, RobotsRow, WaitingPage
from linker.articles.crawl.visit import Outcome, origin_of, visit_page, visit_robots
from linker.common.console import progress_bar
from linker.common.files import unbroken

_ROBOTS_LAST = 86_400.0
"""Seconds after which a robots.txt is read again (RFC 9309, section 2.4)."""
_PATIENCE = 0.5
_COUNTED = 50

_Job = tuple[str, WaitingPage, str, Rules | None]
"""Host; page; origin; rules, None if the robots.txt is to be visited first."""
_Done = tuple[_Job, Outcome | BaseException, int]

_rules = lru_cache(maxsize=4_096)(Rules)


class Crawler:
    """Visits the waiting pages of a store.

    Args:
        store: the pages; used by the thread that calls `run` only.
        options: settings.
        archive: receives the responses, and gives those that it has; None: responses are not kept.
    """

    def __init__(self, store: CrawlStore, options: CrawlOptions, archive: CrawlArchive | None) -> None:
        self._store = store
        self._options = options
        self._archive = archive
        self._hosts = Hosts(options.delay, options.max_wait)
        self._queue: list[tuple[float, str]] = []
        self._known: set[str] = set()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[_Done] = queue.SimpleQueue()
        self._running = 0
        self.requests = 0

    def run(self) -> int:
        """Visit pages until none waits for less than `max_wait` seconds, and return the number of requests."""
        for host, ready in self._store.hosts():
            self._hosts.pause(host, ready)
            self._enqueue(host, ready)
        # Threads that hang in a name lookup must not keep the process from ending.
        workers = [
            threading.Thread(target=self._work, daemon=True)
            for _ in range(min(self._options.workers, max(1, self._store.count_waiting())))
        ]
        for worker in workers:
            worker.start()
        try:
            with progress_bar() as progress:
                bar = progress.add_task("fetching", total=self._store.count_waiting())
                finished = 0
                while self._begin_jobs(len(workers)):
                    # Ctrl-C waits until what has come is in the database.
                    with unbroken():
                        finished += self._await_job()
                    progress.update(bar, completed=finished)
                    if finished % _COUNTED == 0:
                        progress.update(bar, total=finished + self._store.count_waiting())
        finally:
            self._hosts.stop.set()
            for _ in workers:
                self._jobs.put(None)
        return self.requests

    def _enqueue(self, host: str, ready: float) -> None:
        if host not in self._known:
            self._known.add(host)
            heapq.heappush(self._queue, (ready, host))

    def _begin_jobs(self, workers: int) -> bool:
        """Begin all jobs that can be begun, and return whether there is anything to wait for."""
        now = time.time()
        while self._queue and self._running < workers and self._queue[0][0] <= now:
            _, host = heapq.heappop(self._queue)
            self._known.discard(host)
            if job := self._next_job(host, now):
                self._known.add(host)
                self._running += 1
                self._jobs.put(job)
        return bool(self._running or (self._queue and self._queue[0][0] <= now + self._options.max_wait))

    def _next_job(self, host: str, now: float) -> _Job | None:
        """The next job of a host; None if it has none now."""
        if (ready := self._hosts.ready(host)) > now:
            self._enqueue(host, ready)
            return None
        while found := self._store.next_page(host):
            page, not_before = found
            if not_before > now:
                self._enqueue(host, not_before)
                return None
            origin = origin_of(page.url)
            known = self._store.robots(origin)
            if known is None or known.until <= now:
                return host, page, origin, None
            if known.state == "waiting":
                self._enqueue(host, known.until)
                return None
            if known.state != "fetched":
                self._store.finish(page, Outcome(known.state, page.url, known.detail))
                continue
            rules = _rules(known.text)
            if rules.allows(page.url):
                self._hosts.wish(host, rules.delay)
                return host, page, origin, rules
            self._store.finish(page, Outcome("robots.txt", page.url, "robots.txt disallows it"))
        return None

    def _work(self) -> None:
        """Do jobs; in a thread."""
        while (job := self._jobs.get()) is not None:
            _, page, origin, rules = job
            sent = 0

            def ask(url: str, cookies: httpx.Cookies, robots: bool) -> Response:
                nonlocal sent
                if self._archive is not None and self._archive.has(url):
                    return self._archive.response(url)
                sent += 1
                return request(url, self._hosts, self._options, cookies, robots)

            outcome: Outcome | BaseException
            try:
                outcome = visit_robots(origin, ask) if rules is None else visit_page(page.url, rules, ask)
            except BaseException as error:
                outcome = error
            self._done.put((job, outcome, sent))

    def _await_job(self) -> int:
        """Wait for a job to end or for the turn of a host; return the number of pages that got their state."""
        wait = _PATIENCE
        if self._queue and (turn := self._queue[0][0] - time.time()) > 0:
            wait = min(wait, turn)
        try:
            job, outcome, sent = self._done.get(timeout=wait)
        except queue.Empty:
            return 0
        self._running -= 1
        self.requests += sent
        if isinstance(outcome, Stopped):
            return 0
        if isinstance(outcome, BaseException):
            raise outcome
        with self._store.transaction():
            finished = self._record(job, outcome, replayed=not sent)
        host = job[0]
        self._known.discard(host)
        self._enqueue(host, self._hosts.ready(host))
        return finished

    def _record(self, job: _Job, outcome: Outcome, replayed: bool) -> int:
        host, page, origin, rules = job
        now = time.time()
        known = self._store.robots(origin)
        before = known.attempts if known and known.state == "waiting" else 0
        attempts = 1 + (before if rules is None else page.attempts)
        again = outcome.state in RETRIED and attempts < self._options.attempts and not replayed
        not_before = now + self._options.retry_wait * 10 ** (attempts - 1)
        if outcome.retry_at is not None and not replayed:
            not_before = max(now, outcome.retry_at)
            at = host_of_url(outcome.url)
            self._hosts.pause(at, not_before)
            self._store.pause(at, not_before)
        if not again and self._archive is not None:
            self._store.set_archived(self._archive.add(outcome))
        if rules is None:
            self._record_robots(origin, outcome, attempts, not_before if again else None)
            if not replayed and (delay := _rules(outcome.rules).delay):
                self._hosts.wish(host, delay)
                self._hosts.pause(host, now + delay)
        elif again:
            self._store.wait(page, outcome, not_before)
        else:
            if outcome.state in RETRIED and not replayed:
                outcome.detail += f"; gave up after {attempts} attempts"
            if new := self._store.finish(page, outcome):
                self._enqueue(new, self._hosts.ready(new))
            return 1
        return 0

    def _record_robots(self, origin: str, outcome: Outcome, attempts: int, again: float | None) -> None:
        if again is not None:
            row = RobotsRow("", "waiting", outcome.detail, attempts, again)
        else:
            row = RobotsRow(
                outcome.rules, outcome.state, outcome.detail, attempts, time.time() + _ROBOTS_LAST
            )
        self._store.set_robots(origin, row)
