"""`linker mine fetch` as a user runs it: killed, interrupted, and with wrong input."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.helpers.article_pages import ARTICLE_HTML
from tests.helpers.loopback_web import Web, web

__all__ = ["web"]

ROOT = Path(__file__).parents[3]
WORKERS = 3
# The command with names below .test on this machine.
COMMAND = """
import pytest
from tests.helpers.loopback_web import names_on_loopback
names_on_loopback(pytest.MonkeyPatch())
from linker.cli.main import main
main()
"""


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", COMMAND, "mine", "fetch", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A test run in the background ignores Ctrl-C, which its children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def arguments(links: str = "links.txt") -> list[str]:
    return [links, "--out", "out", "--contact", "me@lab.example", "--delay", "0.5", "--workers", str(WORKERS)]


def stories(web: Web, folder: Path, hosts: int = 24) -> list[str]:
    """Pages on some hosts, and a file of links to them."""
    links = [web.on(f"news{i}.test/{i}/a-story", ARTICLE_HTML) for i in range(hosts)]
    (folder / "links.txt").write_text("\n".join(links), encoding="utf-8")
    return links


def pages(web: Web) -> Counter[str]:
    """Number of requests by page."""
    return Counter({place: n for place, n in web.asked.items() if not place.endswith("/robots.txt")})


def wait_for_pages(web: Web, count: int, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 90
    while pages(web).total() < count:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.02)


def states(folder: Path) -> dict[str, str]:
    with open(folder / "out" / "states.csv", encoding="utf-8", newline="") as file:
        return {row["url"]: row["state"] for row in csv.DictReader(file)}


def test_a_killed_run_goes_on_where_it_stopped(web: Web, tmp_path: Path) -> None:
    links = stories(web, tmp_path)
    killed = start(tmp_path, *arguments())
    wait_for_pages(web, 9, killed)
    killed.kill()
    killed.communicate()
    before = pages(web)
    assert len(before) < len(links)
    again = start(tmp_path, *arguments())
    out, error = again.communicate(timeout=120)
    assert (again.returncode, out) == (0, "out\n"), error
    assert states(tmp_path) == dict.fromkeys(links, "fetched")
    # Only what was on its way when the process ended is asked for again.
    twice = [place for place, count in pages(web).items() if count > 1]
    assert len(twice) <= WORKERS
    assert max(pages(web).values()) <= 2
    assert re.search(r"fetched +24 ", error)


def test_ctrl_c_writes_what_is_there(web: Web, tmp_path: Path) -> None:
    links = stories(web, tmp_path)
    stopped = start(tmp_path, *arguments())
    wait_for_pages(web, 8, stopped)
    stopped.send_signal(signal.SIGINT)
    assert stopped.wait(timeout=60) == 130
    assert "Traceback" not in stopped.communicate()[1]
    counts = Counter(states(tmp_path).values())
    assert counts.total() == len(links)
    assert counts["fetched"] >= 5
    assert counts["waiting"] == len(links) - counts["fetched"]
    lines = (tmp_path / "out" / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    assert len([json.loads(line) for line in lines]) == counts["fetched"]
