"""How a server is reached: its address, its host names, and the tokens that it accepts."""

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from linker.common.errors import LinkerError
from linker.web.server.visitors import OWNER, Visitor

SHORTEST_TOKEN = 16


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Access:
    """How a server is reached, and by whom.

    Attributes:
        host: address that it listens on.
        port: port that it listens on; part of the cookie's name, so that two servers do not share one.
        token: token of the owner; None: everybody who reaches the server and sends no token is the owner, for loopback
            and without people only.
        public_url: address at which a proxy serves the page, with or without a path; None: there is no proxy.
        person_of: token → the person whose it is; None: nobody's.

    Raises:
        LinkerError: if the token is short enough to be guessed or cannot be part of an address, or the address is not
            that of a host.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    public_url: str | None = None
    person_of: Callable[[str], Visitor | None] = lambda token: None

    def __post_init__(self) -> None:
        if (token := self.token) is not None and (
            len(token) < SHORTEST_TOKEN
            or not token.isascii()
            or not token.replace("-", "").replace("_", "").isalnum()
        ):
            raise LinkerError(
                f"--token: needs {SHORTEST_TOKEN} or more letters, digits, - and _; leave it out to get a new one"
            )
        if (url := self.public_url) is not None:
            parts = urlsplit(url)
            wrong = parts.query or parts.fragment or self.path.startswith(("/api/", "/static/"))
            if wrong or parts.scheme not in ("http", "https") or not parts.hostname:
                raise LinkerError(
                    f"--public-url {url}: not an address for the page; give one such as https://label.example or "
                    "https://example.org/linker"
                )

    @property
    def origin(self) -> str:
        """What browsers send as `Origin` from the page behind the proxy; empty without one."""
        parts = urlsplit(self.public_url or "")
        usual = ":443" if parts.scheme == "https" else ":80"
        return f"{parts.scheme}://{parts.netloc.lower().removesuffix(usual)}" if self.public_url else ""

    @property
    def path(self) -> str:
        """The path of the page behind the proxy, with a slash at both ends."""
        return f"{urlsplit(self.public_url or '').path.rstrip('/')}/"

    @property
    def cookie(self) -> str:
        """The name of the cookie with the token."""
        return f"linker-{self.port}"

    def cookie_for(self, origin: str | None) -> dict[str, Any]:
        """Return name and attributes of the cookie; behind the proxy it is for its path, and secure as its address."""
        path, secure = "/", False
        if origin and origin == self.origin:
            path, secure = self.path, origin.startswith("https:")
        return {"key": self.cookie, "path": path, "secure": secure, "httponly": True, "samesite": "strict"}

    @property
    def names(self) -> set[str]:
        """The host names of the server, besides IP addresses."""
        names = {"localhost", self.host.lower()}
        if self.host != "localhost" and not (
            is_ip(self.host) and ipaddress.ip_address(self.host).is_loopback
        ):
            names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        if self.public_url is not None:
            names.add((urlsplit(self.public_url).hostname or "").lower())
        return names

    @property
    def address(self) -> str:
        """The address of the page, with the token after `#`, which browsers never send to a server."""
        host = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        name = f"[{host}]" if is_ip(host) and ":" in host else host
        url = self.public_url or f"http://{name}:{self.port}"
        return f"{url.rstrip('/')}/" + (f"#token={self.token}" if self.token else "")

    def visitor(self, token: str) -> Visitor | None:
        """Return who sends a token; empty: none was sent. None: it is wrong, such as that of a removed person."""
        if not token:
            return OWNER if self.token is None else None
        is_owner = self.token is not None and tokens_match(token, self.token)
        return OWNER if is_owner else self.person_of(token)


def tokens_match(sent: str, token: str) -> bool:
    """Compare tokens in constant time."""
    return hmac.compare_digest(sent.encode("utf-8", "replace"), token.encode())


def is_ip(name: str) -> bool:
    """Return whether a name is an IP address, which DNS cannot rebind."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
