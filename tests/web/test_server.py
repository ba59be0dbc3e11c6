"""`linker serve` as a command."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
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
    assert re.search("^error: ", complaint, re.MULTILINE)
    assert "Traceback" not in complaint
    return complaint


def test_without_arguments_it_serves_the_projects_of_this_folder_on_a_free_port(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    opened = tmp_path / "opened"
    browser = tmp_path / "bin" / "show"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    with contextlib.ExitStack() as taken:
        with contextlib.suppress(OSError):  # by this test, or by another server of this machine
            taken.enter_context(socket.create_server(("127.0.0.1", 8123)))
        environment = {**os.environ, "BROWSER": str(browser), "DISPLAY": ":99"}
        with (
            subprocess.Popen(
                COMMAND, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
            ) as process,
            contextlib.ExitStack() as end,
        ):
            end.callback(process.kill)
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:")
            page, token = url.split("#token=")
            assert not page.endswith(":8123/")
            assert httpx.get(f"{page}api/about", trust_env=False).status_code == 401
            owner = {"Authorization": f"Bearer {token}"}
            about = httpx.get(f"{page}api/about", headers=owner, trust_env=False).json()
            assert (about["projects"], about["owner"], about["sessions"]) == (True, True, [])
            listed = httpx.get(f"{page}api/projects", headers=owner, trust_env=False).json()
            assert (listed["folder"], listed["projects"]) == (str(tmp_path / "linker-projects"), [])
            for _ in range(200):
                if opened.exists() and opened.read_text():
                    break
                time.sleep(0.05)
            assert opened.read_text().strip() == url
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
    assert not (tmp_path / "linker-projects").exists()  # nothing is written before the first project


@pytest.mark.parametrize("arguments", [["--no-browser"], []])
def test_no_browser_is_opened_where_none_is_wanted_or_there_is_no_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if arguments:
        monkeypatch.setenv("DISPLAY", ":99")
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("linker.web.server.listening.serve", lambda app, listener, started: started())
    monkeypatch.setattr(
        sys, "argv", ["linker", "serve", "--projects", str(tmp_path), "--port", "0", *arguments]
    )
    with contextlib.suppress(SystemExit):
        main()
    assert opened == []


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
    monkeypatch.setattr("linker.cli.commands.serve.find_spec", lambda name: None)
    assert "article-linker[web]" in run(monkeypatch, capsys, folder)
