"""The sessions of a server: those it was started with, or those of its projects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linker.annotation.session.session import Session
from linker.common.errors import LinkerError
from linker.web.session_api import SessionApi


class NoSessionError(LinkerError):
    """The session is not served here."""


class ServedSessions:
    """Sessions by their keys in addresses: folder names, numbered where two are equal.

    Args:
        sessions: the sessions; the caller closes them.
    """

    def __init__(self, sessions: Sequence[Session] = ()) -> None:
        self._by_key: dict[str, SessionApi] = {}
        for session in sessions:
            key, number = session.name or "session", 2
            while key in self._by_key:
                key, number = f"{session.name}-{number}", number + 1
            self._by_key[key] = SessionApi(session, key)

    def get(self, key: str) -> SessionApi:
        """Return a session.

        Raises:
            NoSessionError: if it is not served here.
        """
        if key not in self._by_key:
            raise NoSessionError(f"the session {key[:100]!r} is no longer served here")
        return self._by_key[key]

    def summaries(self) -> list[dict[str, Any]]:
        """Return key, title and number of posts of each session."""
        return [api.summary() for api in self._by_key.values()]

    def sources(self) -> list[dict[str, Any]]:
        """Return key, name, number of posts and model of each session, for rankings."""
        return [
            {
                "key": key,
                "title": api.session.name,
                "posts": len(api.session.posts),
                "model": api.session.settings.model,
            }
            for key, api in self._by_key.items()
        ]
