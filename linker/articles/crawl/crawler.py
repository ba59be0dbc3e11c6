"""The crawl: hosts take turns, one request a host at a time, until every page has its state."""

import heapq
import re
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from linker.articles.crawl.store import CrawlStore, WaitingPage, host_of_url
from linker.articles.crawl.visit import RETRIED, Outcome, Rules, judge, rules_of
from linker.articles.fetching import DEADLINE, MAX_BYTES, Response, follow, request
from linker.articles.page import HTML_TYPES, RequestError
from linker.articles.transport import Deadline
from linker.common.console import progress_bar
from linker.common.errors import ConfigError
from linker.version import __version__

_ROBOTS_LAST = 86_400.0
"""Seconds after which a robots.txt is read again (RFC 9309, section 2.4)."""
_LARGEST_ROBOTS = 1 << 20
_PATIENCE = 0.5

_CONTACT = re.compile(r"https?://[^\s()]+\.[^\s()]+|(?:mailto:)?[^\s()@]+@[^\s()@]+\.[^\s()@]+")


@dataclass(frozen=True)
class CrawlOptions:
    """Settings of a crawl; the defaults are those of the command.

    Attributes:
        contact: web page or email address that the sites' owners can write to; part of the user agent.
        delay: minimum number of seconds between two requests to a host; its robots.txt may ask for more.
        workers: maximum number of hosts that are asked at the same time.
        deadline: number of seconds for one request.
        max_bytes: maximum size of a page, decompressed.
        attempts: maximum number of requests for a page that fails for the moment.
        retry_wait: number of seconds before the second attempt where the site names none; ten times this before the
            third.
        max_wait: longest wait in seconds within a run; what has to wait longer is left to a later run.

    Raises:
        ConfigError: if the contact is none.
    """

    contact: str
    delay: float = 2.0
    workers: int = 16
    deadline: float = DEADLINE
    max_bytes: int = MAX_BYTES
    attempts: int = 3
    retry_wait: float = 30.0
    max_wait: float = 600.0

    def __post_init__(self) -> None:
        if not _CONTACT.fullmatch(self.contact):
            raise ConfigError(
                f"contact {self.contact!r}: not a web page or an email address; sites need one to write to you, such "
                "as --contact https://lab.example/crawler or --contact me@lab.example"
            )


class _LaterError(Exception):
    """A host has to wait too long, or the crawl ends."""


class _MergedError(Exception):
    """A page redirects to another page of the crawl."""


@dataclass
class _Host:
    """A host: one request at a time, not before `ready` (in seconds since 1970), `delay` seconds apart."""

    delay: float
    ready: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def pause(self, until: float) -> None:
        self.ready = max(self.ready, until)


@dataclass
class _Site:
    """The robots.txt of an origin: when it was read, its rules, and how often and why it could not be read."""

    read: float = 0.0
    rules: Rules | None = None
    failures: int = 0
    error: RequestError | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class Crawler:
    """Visits the waiting pages of a store.

    Attributes:
        requests: number of requests sent.
    """

    def __init__(self, store: CrawlStore, options: CrawlOptions) -> None:
        self.requests = 0
        self._store = store
        self._options = options
        # Guards the store and all that follows; a host's requests and its robots.txt are guarded by the host's lock.
        self._changed = threading.Condition()
        self._turns: list[tuple[float, str]] = []
        self._hosts: dict[str, _Host] = defaultdict(lambda: _Host(options.delay))
        self._sites: dict[str, _Site] = defaultdict(_Site)
        self._busy = 0
        self._finished = 0
        self._stop = threading.Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        """Visit pages until none waits for less than `max_wait` seconds. Afterwards no thread uses the store."""
        self._turns = sorted(self._store.hosts())
        total = self._store.waiting()
        # A thread that hangs in a name lookup must not keep the process from ending.
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self._options.workers)]
        try:
            with progress_bar() as progress:
                bar = progress.add_task("fetching", total=total)
                for thread in threads:
                    thread.start()
                while not self._stop.is_set() and any(thread.is_alive() for thread in threads):
                    self._stop.wait(_PATIENCE / 5)
                    progress.update(bar, completed=self._finished)
        finally:
            with self._changed:
                self._stop.set()
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        """Visit one page after the other; in a thread."""
        try:
            while page := self._take():
                outcome = self._visit(page)
                with self._changed:
                    if self._stop.is_set():
                        return
                    self._busy -= 1
                    if outcome is not None:
                        self._record(page, outcome)
                    if self._store.next_page(page.host):
                        heapq.heappush(self._turns, (self._hosts[page.host].ready, page.host))
                    self._changed.notify_all()
        except BaseException as error:
            self._error = error
            self._stop.set()

    def _take(self) -> WaitingPage | None:
        """Wait for the turn of a host, and return its next page; None: nothing is left to wait for."""
        with self._changed:
            while not self._stop.is_set():
                wait = self._turns[0][0] - time.time() if self._turns else float("inf")
                if wait > 0:
                    if not self._busy and wait > self._options.max_wait:
                        break
                    self._changed.wait(min(wait, _PATIENCE))
                    continue
                _, host = heapq.heappop(self._turns)
                if page := self._store.next_page(host):
                    ready = max(page.not_before, self._hosts[host].ready)
                    if ready <= time.time():
                        self._busy += 1
                        return page
                    heapq.heappush(self._turns, (ready, host))
        return None

    def _visit(self, page: WaitingPage) -> Outcome | None:
        """Visit a page, and those that it redirects to; None: it was merged with another page, or the crawl ends."""
        outcome = Outcome(page.url)
        # Cookies are kept across redirects: some sites redirect in circles without them.
        cookies = httpx.Cookies()

        def ask(url: str) -> Response:
            if url != page.url:
                with self._changed:
                    if self._stop.is_set() or not self._store.claim(page, url):
                        raise _MergedError
            outcome.url = url
            if not self._rules(url, outcome).allows(url):
                raise RequestError("robots.txt", "robots.txt disallows it")
            response = self._ask(url, cookies, ("", *HTML_TYPES), self._options.max_bytes)
            outcome.status = response.status
            return response

        try:
            judge(follow(page.url, ask), outcome)
        except RequestError as error:
            outcome.fail(error.kind, str(error))
        except _MergedError:
            return None
        except _LaterError as error:
            outcome.fail("waiting", str(error))
        return outcome

    def _rules(self, url: str, outcome: Outcome) -> Rules:
        """The rules of the site of an address.

        Raises:
            RequestError: if its robots.txt cannot be read: nothing is allowed.
        """
        parts = urlsplit(url)
        origin = f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}"
        with self._changed:
            site, host = self._sites[origin], self._hosts[host_of_url(url)]
        with site.lock:
            # A dead host costs three attempts, not three a link.
            is_dead = site.failures >= self._options.attempts
            if not is_dead and (site.rules is None or time.time() > site.read + _ROBOTS_LAST):
                self._read_robots(f"{origin}/robots.txt", site, host)
            if site.rules is not None and site.error is None:
                return site.rules
            assert site.error is not None
            outcome.is_final = site.failures >= self._options.attempts
            raise site.error if outcome.is_final else _LaterError(str(site.error))

    def _read_robots(self, url: str, site: _Site, host: _Host) -> None:
        cookies, retry_at = httpx.Cookies(), None
        try:
            response = follow(url, lambda url: self._ask(url, cookies, None, _LARGEST_ROBOTS))
            retry_at = response.retry_after(time.time())
            site.rules = rules_of(response)
        except RequestError as error:
            if error.kind not in ("other status", "redirect loop"):
                site.failures = site.failures + 1 if error.kind in RETRIED else self._options.attempts
                site.error = RequestError(error.kind, f"robots.txt: {error}")
                if site.failures < self._options.attempts:
                    host.pause(retry_at or self._next_attempt(site.failures))
                return
            site.rules = Rules("")
        site.read, site.failures, site.error = time.time(), 0, None
        host.delay = max(host.delay, site.rules.delay)
        host.pause(site.read + host.delay)

    def _ask(
        self, url: str, cookies: httpx.Cookies, kinds: tuple[str, ...] | None, max_bytes: int
    ) -> Response:
        """Ask for an address when it is the turn of its host."""
        with self._changed:
            host = self._hosts[host_of_url(url)]
        with host.lock:
            while (wait := host.ready - time.time()) > 0:
                if wait > self._options.max_wait or self._stop.wait(wait):
                    raise _LaterError("the site asks to wait")
            with self._changed:
                self.requests += 1
            accept = ", ".join(HTML_TYPES) if kinds else "text/plain"
            headers = {"User-Agent": f"linker/{__version__} (+{self._options.contact})", "Accept": accept}
            deadline = Deadline(self._options.deadline)
            try:
                return request(url, headers, deadline, cookies, kinds=kinds, max_bytes=max_bytes)
            finally:
                host.pause(time.time() + host.delay)

    def _next_attempt(self, failures: int) -> float:
        return time.time() + self._options.retry_wait * 10 ** (failures - 1)

    def _record(self, page: WaitingPage, outcome: Outcome) -> None:
        """Write what came of a visit."""
        host = host_of_url(outcome.url)
        if outcome.state == "waiting":
            self._store.wait(page, outcome, page.attempts, self._hosts[host].ready)
            self._store.pause(host, self._hosts[host].ready)
            return
        attempts = page.attempts + 1
        with self._store.transaction():
            if outcome.retry_at is not None:
                self._hosts[host].pause(outcome.retry_at)
                self._store.pause(host, outcome.retry_at)
            if outcome.state in RETRIED and attempts < self._options.attempts and not outcome.is_final:
                not_before = self._next_attempt(attempts) if outcome.retry_at is None else outcome.retry_at
                self._store.wait(page, outcome, attempts, not_before)
                return
            if outcome.state in RETRIED:
                outcome.detail += "; gave up"
            self._store.finish(page, outcome, attempts)
            self._finished += 1
