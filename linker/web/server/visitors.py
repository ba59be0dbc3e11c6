"""Who uses the server: its owner, or a person of one project with a token of their own."""

import base64
import hashlib
import hmac
import os
import re
import secrets
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request

from linker.common.errors import LinkerError

_SECRET = ".secret"
_BYTES = 32


@dataclass(frozen=True)
class Visitor:
    """Somebody who sends requests.

    Attributes:
        name: name of a person; None: the owner, who may do everything.
        project: key of the person's project.
    """

    name: str | None = None
    project: str = ""

    def may(self, method: str, path: str) -> bool:
        """Return whether a request is permitted: a person labels in one session, and sees nothing else."""
        if self.name is None:
            return True
        session = re.escape(f"/api/sessions/{self.project}")
        readable = rf"/api/about|{session}(?:/status|/posts|/version)?"
        return bool(re.fullmatch(rf"/api/logout|{session}/sync" if method == "POST" else readable, path))


OWNER = Visitor()


def visitor_of(request: Request) -> Visitor:
    """Return who sent a request, as the middleware found."""
    visitor: Visitor = request.state.visitor
    return visitor


class PersonTokens:
    """Tokens of people, made from a secret that stays in the folder of projects.

    Args:
        root: the folder of projects.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / _SECRET

    def token(self, project: str, person_id: str) -> str:
        """Return the token of a person: 32 letters, digits, `-` and `_`.

        Raises:
            LinkerError: if the secret cannot be read or written.
        """
        digest = hmac.digest(self._secret, f"{quote(project)}/{person_id}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest[:24]).decode()

    @cached_property
    def _secret(self) -> bytes:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with open(self._path, "xb", opener=partial(os.open, mode=0o600)) as file:
                    file.write(secrets.token_bytes(_BYTES))
                    file.flush()
                    os.fsync(file.fileno())
            except FileExistsError:
                pass
            secret = self._path.read_bytes()
        except OSError as error:
            raise LinkerError(f"{self._path}: cannot be read or written ({error.strerror})") from error
        if len(secret) != _BYTES:
            raise LinkerError(f"{self._path}: damaged; remove it, and send people their new links")
        return secret
