"""The crawl: hosts take turns, one request a host at a time, until every page has its state."""

from __future__ import annotations

import heapq
import queue
import threading
import time
from functools import lru_cache
from typing import NamedTuple

import httpx

from linker.articles.crawl.archive import CrawlArchive
from linker.articles.crawl.options import CrawlOptions
from linker.articles.crawl.politeness import Hosts, Rules, Stopped
from linker.articles.crawl.store import WAITING, CrawlStore, RobotsRow, WaitingPage, host_of_url
from linker.articles.crawl.visit import RETRIED, Outcome, origin_of, visit_page, visit_robots
from linker.articles.request import HTML_TYPES, Response, request
from linker.articles.transport import Deadline
from linker.common.console import progress_bar
from linker.common.files import unbroken

_ROBOTS_LAST = 86_400.0
"""Seconds after which a robots.txt is read again (RFC 9309, section 2.4)."""
_LARGEST_ROBOTS = 1 << 20
_PATIENCE = 0.5
_COUNTED = 50

_rules = lru_cache(maxsize=4_096)(Rules)


class _Job(NamedTuple):
    """A visit of the first waiting page of a host; without rules, the robots.txt is to be visited first."""

    host: str
    page: WaitingPage
    origin: str
    rules: Rules | None


_Done = tuple[_Job, Outcome | BaseException, int]
"""The job, what came of it, and the number of requests sent."""


class Crawler:
    """Visits the waiting pages of a store, which only the thread that calls `run` uses.

    The archive receives the responses, and gives those that it has; None: they are not kept.
    """

    def __init__(self, store: CrawlStore, options: CrawlOptions, archive: CrawlArchive | None) -> None:
        self._store = store
        self._options = options
        self._archive = archive
        self._hosts = Hosts(options.delay, options.max_wait)
        # Hosts and the time of their next turn; a host that is being asked is in the set only.
        self._turns: list[tuple[float, str]] = []
        self._waiting: set[str] = set()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[_Done] = queue.SimpleQueue()
        self._running = 0
        self.requests = 0

    def run(self) -> None:
        """Visit pages until none waits for less than `max_wait` seconds."""
        for host, ready in self._store.hosts():
            self._hosts.pause(host, ready)
            self._enqueue(host, ready)
        total = self._store.count(WAITING)
        # Threads that hang in a name lookup must not keep the process from ending.
        workers = [
            threading.Thread(target=self._work, daemon=True)
            for _ in range(min(self._options.workers, max(1, total)))
        ]
        for worker in workers:
            worker.start()
        try:
            with progress_bar() as progress:
                bar = progress.add_task("fetching", total=total)
                finished = 0
                while self._begin_jobs(len(workers)):
                    # Ctrl-C waits until what has come is in the database.
                    with unbroken():
                        finished += self._await_job()
                    progress.update(bar, completed=finished)
                    if finished % _COUNTED == 0:
                        progress.update(bar, total=finished + self._store.count(WAITING))
        finally:
            self._hosts.stop.set()
            for _ in workers:
                self._jobs.put(None)

    def _enqueue(self, host: str, ready: float) -> None:
        if host not in self._waiting:
            self._waiting.add(host)
            heapq.heappush(self._turns, (ready, host))

    def _begin_jobs(self, workers: int) -> bool:
        """Begin all jobs that can be begun, and return whether there is anything to wait for."""
        now = time.time()
        while self._turns and self._running < workers and self._turns[0][0] <= now:
            _, host = heapq.heappop(self._turns)
            self._waiting.discard(host)
            if job := self._next_job(host, now):
                self._waiting.add(host)
                self._running += 1
                self._jobs.put(job)
        return bool(self._running or (self._turns and self._turns[0][0] <= now + self._options.max_wait))

    def _next_job(self, host: str, now: float) -> _Job | None:
        """The next job of a host; None if it has none now."""
        if (ready := self._hosts.ready(host)) > now:
            self._enqueue(host, ready)
            return None
        while page := self._store.next_page(host):
            origin = origin_of(page.url)
            robots = self._store.robots(origin)
            if page.not_before > now:
                self._enqueue(host, page.not_before)
                return None
            if robots is None or robots.until <= now:
                return _Job(host, page, origin, None)
            if robots.state == "waiting":
                self._enqueue(host, robots.until)
                return None
            if robots.state != "fetched":
                # Without a readable robots.txt nothing is allowed: a dead host costs three attempts, not three a link.
                self._store.finish(page, Outcome(robots.state, page.url, robots.detail))
                continue
            rules = _rules(robots.text)
            if rules.allows(page.url):
                self._hosts.wish(host, rules.delay)
                return _Job(host, page, origin, rules)
            self._store.finish(page, Outcome("robots.txt", page.url, "robots.txt disallows it"))
        return None

    def _work(self) -> None:
        """Do jobs; in a thread."""
        while (job := self._jobs.get()) is not None:
            sent = 0

            def ask(url: str, cookies: httpx.Cookies, robots: bool) -> Response:
                nonlocal sent
                if self._archive is not None and self._archive.has(url):
                    return self._archive.response(url)
                sent += 1
                return self._request(url, cookies, robots)

            outcome: Outcome | BaseException
            try:
                if job.rules is None:
                    outcome = visit_robots(job.origin, ask)
                else:
                    outcome = visit_page(job.page.url, job.rules, ask)
            except BaseException as error:
                outcome = error
            self._done.put((job, outcome, sent))

    def _request(self, url: str, cookies: httpx.Cookies, robots: bool) -> Response:
        accept = "text/plain" if robots else ", ".join(HTML_TYPES)
        with self._hosts.turn(host_of_url(url)):
            return request(
                url,
                {"User-Agent": self._options.user_agent, "Accept": accept},
                Deadline(self._options.deadline),
                cookies,
                accepts=lambda kind: robots or kind in ("", *HTML_TYPES),
                max_bytes=_LARGEST_ROBOTS if robots else self._options.max_bytes,
            )

    def _await_job(self) -> int:
        """Wait for a job to end or for the turn of a host; return the number of pages that got their state."""
        wait = _PATIENCE
        if self._turns and (turn := self._turns[0][0] - time.time()) > 0:
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
        self._waiting.discard(job.host)
        self._enqueue(job.host, self._hosts.ready(job.host))
        return finished

    def _record(self, job: _Job, outcome: Outcome, replayed: bool) -> int:
        """Write what came of a job; return the number of pages that got their state."""
        now = time.time()
        attempts = 1 + job.page.attempts
        if job.rules is None:
            robots = self._store.robots(job.origin)
            attempts = 1 + (robots.attempts if robots and robots.state == "waiting" else 0)
        again = outcome.state in RETRIED and attempts < self._options.attempts and not replayed
        not_before = now + self._options.retry_wait * 10 ** (attempts - 1)
        if outcome.retry_at is not None and not replayed:
            not_before = max(now, outcome.retry_at)
            host = host_of_url(outcome.url)
            self._hosts.pause(host, not_before)
            self._store.pause(host, not_before)
        if not again and self._archive is not None:
            self._store.set_archived(self._archive.add(outcome))
        if job.rules is None:
            until = not_before if again else now + _ROBOTS_LAST
            state = "waiting" if again else outcome.state
            self._store.set_robots(
                job.origin, RobotsRow(outcome.rules, state, outcome.detail, attempts, until)
            )
            if not replayed and (delay := _rules(outcome.rules).delay):
                self._hosts.wish(job.host, delay)
                self._hosts.pause(job.host, now + delay)
            return 0
        if again:
            self._store.wait(job.page, outcome, not_before)
            return 0
        if outcome.state in RETRIED and not replayed:
            outcome.detail += f"; gave up after {attempts} attempts"
        if new := self._store.finish(job.page, outcome):
            self._enqueue(new, self._hosts.ready(new))
        return 1
