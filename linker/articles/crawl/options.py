"""Settings of a crawl."""

from __future__ import annotations

import re
from dataclasses import dataclass

from linker.articles.fetching import DEADLINE
from linker.articles.request import MAX_BYTES
from linker.common.checks import at_least
from linker.common.errors import ConfigError
from linker.version import __version__

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
        ConfigError: if a value is out of range.
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
        try:
            at_least(0, delay=self.delay, retry_wait=self.retry_wait, max_wait=self.max_wait)
            at_least(1, workers=self.workers, attempts=self.attempts, max_bytes=self.max_bytes)
        except ValueError as error:
            raise ConfigError(str(error)) from error

    @property
    def user_agent(self) -> str:
        """The user agent of all requests, `linker/VERSION (+CONTACT)`."""
        return f"linker/{__version__} (+{self.contact})"
