"""`linker serve` as a command."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from linker.annotation.session.session import Session
from linker.cli.main import main

COMMAND = [sys.executable, "-m", "linker.cli.main", "serve"]


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command complains of."""
    monkeypatch.setattr(sys, "argv", ["linker", "serve", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("error: ")
    assert "Traceback" not in complaint
    return complaint


def test_it_answers_until_ctrl_c_and_ends_without_a_trace(session: Session) -> None:
    session.close()
    command = [*COMMAND, str(session.folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        assert httpx.get(f"{url}api/about", trust_env=False).json()["sessions"][0]["posts"] == 30
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == "stopped; all labels are saved\n"


@pytest.mark.slow
def test_on_a_network_the_token_is_printed_and_needed(session: Session) -> None:
    session.close()
    command = [*COMMAND, str(session.folder), "--port", "0", "--host", "0.0.0.0"]
    environment = {name: value for name, value in os.environ.items() if name != "LINKER_TOKEN"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        address, _, token = process.stdout.readline().strip().partition("#token=")
        url = f"http://127.0.0.1:{address.rstrip('/').rpartition(':')[2]}/api/about"
        assert len(token) >= 32
        assert httpx.get(url, trust_env=False).status_code == 401
        assert (
            httpx.get(url, trust_env=False, headers={"Authorization": f"Bearer {token}"}).status_code == 200
        )
        process.terminate()
        process.wait(20)


def test_a_port_in_use(
    session: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        complaint = run(monkeypatch, capsys, str(session.folder), "--port", port)
        assert f"--port {port}: is in use" in complaint
        assert complaint.count("\n") == 1


def test_errors_are_reported(
    make_session: Callable[..., Session],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = str(make_session().folder)
    posts = tmp_path / "posts.jsonl"
    posts.write_text(json.dumps({"id": "1", "text": "otters"}) + "\nnot json\n")
    free = ("--port", "0")
    assert "cannot be served together" in run(monkeypatch, capsys, folder, "--projects", folder, *free)
    assert "is a file" in run(monkeypatch, capsys, "--projects", str(posts), *free)
    assert "session not found" in run(monkeypatch, capsys, str(tmp_path / "gone"), *free)
    assert "given twice" in run(monkeypatch, capsys, folder, f"{folder}/.", *free)
    assert "--token" in run(monkeypatch, capsys, folder, "--token", "short", *free)
    assert "--host" in run(monkeypatch, capsys, folder, "--host", "203.0.113.9", *free)
    assert "no-such-model" in run(monkeypatch, capsys, folder, "--model", "no-such-model", *free)
    assert "line 2" in run(monkeypatch, capsys, "--posts", str(posts), *free)
    assert "article-linker[web]" in missing(monkeypatch, capsys, folder)


def missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: str) -> str:
    """The complaint where the extra is not installed."""
    monkeypatch.setattr("linker.cli.commands.serve.find_spec", lambda name: None)
    return run(monkeypatch, capsys, folder)
