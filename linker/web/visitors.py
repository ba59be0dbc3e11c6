"""Who uses the server: its owner, or a person of one project with a token of their own."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

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

    @property
    def is_owner(self) -> bool:
        """Whether this is the owner of the server."""
        return self.name is None

    def may(self, method: str, path: str) -> bool:
        """Return whether a request is permitted: a person labels in one session, and sees nothing else."""
        if self.is_owner:
            return True
        session = re.escape(f"/api/sessions/{self.project}")
        readable = rf"/api/about|{session}(?:/status|/posts)?"
        return bool(re.fullmatch(rf"/api/logout|{session}/sync" if method == "POST" else readable, path))


OWNER = Visitor()


class PersonTokens:
    """Tokens of people, made from a secret that stays in the folder of projects.

    Args:
        root: the folder of projects.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / _SECRET
        self._secret: bytes | None = None

    def token(self, project: str, person_id: str) -> str:
        """Return the token of a person: 32 letters, digits, `-` and `_`.

        Raises:
            LinkerError: if the secret cannot be read or written.
        """
        if self._secret is None:
            self._secret = self._read()
        digest = hmac.digest(self._secret, f"{quote(project)}/{person_id}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest[:24]).decode()

    def _read(self) -> bytes:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            try:
                file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                secret = self._path.read_bytes()
            else:
                secret = secrets.token_bytes(_BYTES)
                with os.fdopen(file, "wb") as new:
                    new.write(secret)
                    new.flush()
                    os.fsync(new.fileno())
        except OSError as error:
            raise LinkerError(f"{self._path}: cannot be read or written ({error.strerror})") from error
        if len(secret) != _BYTES:
            raise LinkerError(f"{self._path}: damaged; remove it, and send people their new links")
        return secret
