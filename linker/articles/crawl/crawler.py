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
from linker.articles.crawl.store import WAITING, CrawlStore, PageRow, host_of_url
from linker.articles.crawl.visit import RETRIED, Outcome, visit
from linker.articles.request import HTML_TYPES, Response, request
from linker.articles.transport import Deadline
from linker.common.console import progress_bar
from linker.common.files import unbroken

_ROBOTS_LAST = 86_400.0
"""Seconds after which a robots.txt is read again (RFC 9309, section 2.4)."""
_LARGEST_ROBOTS = 1 << 20
_PATIENCE = 0.5

_rules = lru_cache(maxsize=4_096)(Rules)


class _Job(NamedTuple):
    """A visit of a page of a host; without rules, of its robots.txt."""

    host: str
    page: PageRow
    rules: Rules | None


class Crawler:
    """Visits the waiting pages of a store, which only the thread that calls `run` uses.

    Attributes:
        requests: number of requests sent.
    """

    def __init__(self, store: CrawlStore, options: CrawlOptions, archive: CrawlArchive | None) -> None:
        self.requests = 0
        self._store = store
        self._options = options
        self._archive = archive
        self._hosts = Hosts(options.delay, options.max_wait)
        # Hosts and the time of their next turn; a host that is being asked is in the set only.
        self._turns: list[tuple[float, str]] = []
        self._waiting: set[str] = set()
        self._done: queue.SimpleQueue[tuple[_Job, Outcome | BaseException, int]] = queue.SimpleQueue()
        self._running = 0
        self._finished = 0
        self._total = 0

    def run(self) -> None:
        """Visit pages until none waits for less than `max_wait` seconds."""
        for host, ready in self._store.hosts():
            self._hosts.pause(host, ready)
            self._enqueue(host, ready)
        self._total = self._store.count(WAITING)
        try:
            with progress_bar() as progress:
                bar = progress.add_task("fetching", total=self._total)
                while self._begin_jobs():
                    # Ctrl-C waits until what has come is in the database.
                    with unbroken():
                        self._await_job()
                    progress.update(bar, completed=self._finished, total=self._total)
        finally:
            self._hosts.stop.set()

    def _enqueue(self, host: str, ready: float) -> None:
        if host not in self._waiting:
            self._waiting.add(host)
            heapq.heappush(self._turns, (ready, host))

    def _begin_jobs(self) -> bool:
        """Begin all jobs that can be begun, and return whether there is anything to wait for."""
        now = time.time()
        while self._turns and self._running < self._options.workers and self._turns[0][0] <= now:
            _, host = heapq.heappop(self._turns)
            self._waiting.discard(host)
            if job := self._next_job(host, now):
                self._waiting.add(host)
                self._running += 1
                # A thread that hangs in a name lookup must not keep the process from ending.
                threading.Thread(target=self._work, args=(job,), daemon=True).start()
        return bool(self._running or (self._turns and self._turns[0][0] <= now + self._options.max_wait))

    def _next_job(self, host: str, now: float) -> _Job | None:
        """The next job of a host; None if it has none now."""
        while page := self._store.next_page(host):
            robots = self._store.robots(page.url, now)
            is_unread = robots.state == "waiting"
            ready = max(self._hosts.ready(host), page.not_before, robots.not_before if is_unread else 0.0)
            if ready > now:
                self._enqueue(host, ready)
                return None
            if is_unread:
                return _Job(host, robots, None)
            rules = _rules(robots.text or "")
            if robots.state != "fetched":
                # Without a readable robots.txt nothing is allowed: a dead host costs three attempts, not three a link.
                self._finish(page, Outcome(robots.state, page.url, robots.detail))
            elif rules.allows(page.url):
                self._hosts.wish(host, rules.delay)
                return _Job(host, page, rules)
            else:
                self._finish(page, Outcome("robots.txt", page.url, "robots.txt disallows it"))
        return None

    def _work(self, job: _Job) -> None:
        """Do a job; in a thread."""
        sent = 0

        def ask(url: str, cookies: httpx.Cookies) -> Response:
            nonlocal sent
            is_robots = job.rules is None
            accept = "text/plain" if is_robots else ", ".join(HTML_TYPES)
            with self._hosts.turn(host_of_url(url)):
                sent += 1
                return request(
                    url,
                    {"User-Agent": self._options.user_agent, "Accept": accept},
                    Deadline(self._options.deadline),
                    cookies,
                    accepts=lambda kind: is_robots or kind in ("", *HTML_TYPES),
                    max_bytes=_LARGEST_ROBOTS if is_robots else self._options.max_bytes,
                )

        outcome: Outcome | BaseException
        try:
            outcome = visit(job.page.url, job.rules, ask)
        except BaseException as error:
            outcome = error
        self._done.put((job, outcome, sent))

    def _await_job(self) -> None:
        """Wait for a job to end, or for the turn of a host."""
        turn = self._turns[0][0] - time.time() if self._turns else _PATIENCE
        try:
            job, outcome, sent = self._done.get(timeout=min(turn, _PATIENCE) if turn > 0 else _PATIENCE)
        except queue.Empty:
            return
        self._running -= 1
        self.requests += sent
        if isinstance(outcome, Stopped):
            return
        if isinstance(outcome, BaseException):
            raise outcome
        with self._store.transaction():
            self._record(job, outcome)
        self._waiting.discard(job.host)
        self._enqueue(job.host, self._hosts.ready(job.host))

    def _record(self, job: _Job, outcome: Outcome) -> None:
        """Write what came of a job."""
        now = time.time()
        attempts = 1 + job.page.attempts
        not_before = now + self._options.retry_wait * 10 ** (attempts - 1)
        if outcome.retry_at is not None:
            not_before = max(now, outcome.retry_at)
            host = host_of_url(outcome.url)
            self._hosts.pause(host, not_before)
            self._store.pause(host, not_before)
        if outcome.state in RETRIED:
            if attempts < self._options.attempts:
                self._store.wait(job.page, outcome, not_before)
                return
            outcome.detail += f"; gave up after {attempts} attempts"
        if self._archive is not None:
            self._store.set_archived(self._archive.add(outcome.responses))
        if job.rules is not None:
            self._finish(job.page, outcome)
            return
        self._store.finish(job.page, outcome, now + _ROBOTS_LAST)
        if delay := _rules(outcome.text or "").delay:
            self._hosts.wish(job.host, delay)
            self._hosts.pause(job.host, now + delay)

    def _finish(self, page: PageRow, outcome: Outcome) -> None:
        self._finished += 1
        if host := self._store.finish(page, outcome):
            self._total += 1
            self._enqueue(host, self._hosts.ready(host))
