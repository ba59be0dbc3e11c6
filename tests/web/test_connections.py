"""Rankings and silent clients do not keep others from labeling."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from linker.annotation.session.session import Session
from linker.ranking.data_frames import frame_of
from linker.web.api.rankings import Rankings
from linker.web.app import Served
from linker.web.server import listening
from tests.helpers.browser import Server

RANK = (
    b"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Linker: 1\r\nContent-Type: application/json\r\n"
    b'Content-Length: 35\r\n\r\n{"article": "x", "source": "posts"}'
)
HALF = b"GET /api/about HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@contextmanager
def served(session: Session) -> Iterator[int]:
    """A server in a thread; the value is its port."""
    server = Server(Served([session]))
    try:
        yield server.port
    finally:
        server.stop()


def connected(port: int, sent: bytes = HALF) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.sendall(sent)
    return client


def status(port: int) -> int:
    return httpx.get(f"http://127.0.0.1:{port}/api/about", trust_env=False, timeout=20).status_code


@pytest.mark.parametrize(
    "sent",
    [b"", HALF, b"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Linker: 1\r\nContent-Length: 10\r\n\r\n{"],
    ids=["silent", "half a head", "half a body"],
)
def test_requests_that_stop_in_the_middle_are_given_up(
    session: Session, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(listening, "_SILENT_SECONDS", 0.3)
    with served(session) as port, connected(port, sent) as client:
        assert client.recv(100) == b""


def test_labels_do_not_wait_for_rankings(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(Rankings, "rank", lambda *_: ended.wait(30) and {})
    with served(session) as port:
        clients = [connected(port, RANK) for _ in range(60)]
        assert status(port) == 200
        ended.set()
        assert all(client.recv(100).startswith(b"HTTP/1.1 200") for client in clients)


def test_too_many_rankings_are_refused(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linker.web.api.ranking_queue.MOST_WAITING", 0)
    with served(session) as port:
        answer = httpx.post(
            f"http://127.0.0.1:{port}/api/rank",
            json={"article": "x", "source": "posts"},
            headers={"X-Linker": "1"},
            trust_env=False,
        )
        assert answer.status_code == 503
        assert "busy" in answer.json()["error"]


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_ctrl_c_ends_a_server_that_ranks(make_session: Callable[..., Session]) -> None:
    session = make_session()
    session.close()
    # A ranking that takes a minute.
    code = (
        "import sys, time; from linker.web.api.rankings import Rankings; from linker.cli.main import main\n"
        "Rankings.rank = lambda *_: time.sleep(60)\n"
        f"sys.argv = ['linker', 'serve', {str(session.folder)!r}, '--port', '0']; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        port = int(process.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        clients = [connected(port, RANK) for _ in range(3)]
        assert status(port) == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr.read() == "stopped; all labels are saved\n"
        for client in clients:
            client.close()


def test_rankings_do_not_meet_a_module_that_is_being_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    # Another thread imports pandas: the module is known, and empty.
    pandas = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("pandas", None))
    assert pandas.__spec__ is not None
    pandas.__spec__._initializing = True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert frame_of(["a post"]) is None
