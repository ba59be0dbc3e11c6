"""Whatever happens to the process: what was acknowledged is there."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linker.annotation.session import Session
from tests.annotation.session_samples import fresh

ROOT = Path(__file__).parents[2]

# Labels in a loop, changing its mind now and then, and acknowledges each step on standard output.
WORKER = """
import random, sys
from linker.annotation.session import Session
folder, name, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance = random.Random(seed)
session = Session.open(folder)
print("ready", flush=True)
while True:
    for one in session.next(name):
        session.label(name, one.post.id, "relevant" if chance.random() < .3 else "not", "n" * chance.randrange(5000))
        print("label", one.post.id, flush=True)
    if chance.random() < .6:
        taken = session.undo(name)
        if taken:
            print("undo", taken, flush=True)
"""


def worker(folder: Path, name: str, seed: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder), name, str(seed)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def steps_of(output: str) -> list[tuple[str, str]]:
    """What was acknowledged in whole lines."""
    lines = output[: output.rfind("\n") + 1].splitlines()
    return [(kind, post) for kind, _, post in (line.partition(" ") for line in lines) if kind != "ready"]


def journal_steps(folder: Path, name: str) -> list[tuple[str, str]]:
    session = Session.open(folder)
    session.close()
    from linker.annotation.journal import Journal

    return [
        (event.kind, event.post)
        for event in Journal(folder / "journal.jsonl").news()
        if event.annotator == name and event.kind in ("label", "undo")
    ]


def kill_and_look(folder: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    kept: dict[str, list[tuple[str, str]]] = {"kim": [], "lee": []}
    killed_at_work = 0
    for number in range(rounds):
        working = {name: worker(folder, name, seed + number) for name in kept}
        for process in working.values():
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0, 0.15))
        for process in working.values():
            process.send_signal(signal.SIGKILL)
        for name, process in working.items():
            acknowledged = steps_of(process.communicate()[0])
            killed_at_work += bool(acknowledged)
            there = journal_steps(folder, name)
            assert there[: len(kept[name])] == kept[name]
            new = there[len(kept[name]) :]
            # At most the one step that was on the disk, but of which there was no time to say so.
            assert new[: len(acknowledged)] == acknowledged
            assert len(new) <= len(acknowledged) + 1
            kept[name] = there
    assert killed_at_work >= rounds  # of 2 × rounds; a kill before the first label tells little


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fresh(tmp_path / "job", overlap=0.5)


def test_kills_lose_no_acknowledged_label(folder: Path) -> None:
    kill_and_look(folder, rounds=3, seed=1)


@pytest.mark.slow
def test_many_kills_lose_no_acknowledged_label(folder: Path) -> None:
    kill_and_look(folder, rounds=40, seed=2)


KILLED_WHILE_WRITING = """
import os, signal, sys
from linker.annotation.session import Session
session = Session.open(sys.argv[1])
for one in session.next("kim", 3):
    session.label("kim", one.post.id, "relevant")
    print(one.post.id, flush=True)
waiting = session.next("kim")[0].post.id
cut, write = int(sys.argv[2]), os.write
def half(file, data):
    if len(data) < 60 or b'"label"' not in bytes(data):
        return write(file, data)
    write(file, data[:cut])
    os.kill(os.getpid(), signal.SIGKILL)
os.write = half
session.label("kim", waiting, "relevant")
"""


@pytest.mark.parametrize("cut", [0, 1, 2, 20, 60, 100, 120])
def test_a_kill_in_the_middle_of_a_line(folder: Path, cut: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_WRITING, str(folder), str(cut)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    labelled = done.stdout.split()
    journal = folder / "journal.jsonl"
    assert journal.read_bytes().endswith(b"\n") == (cut == 0)
    session = Session.open(folder)
    assert {r.post.id for r in session.labelled() if r.annotator == "kim"} >= set(labelled)
    assert session.status().annotators == {"kim": 3}
    waiting = session.next("kim")[0].post.id
    session.label("kim", waiting, "not")
    assert Session.open(folder).status().annotators == {"kim": 4}


TOGETHER = """
import sys
from linker.annotation.session import Session
session = Session.open(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
while suggestions := session.next(sys.argv[2]):
    session.label(sys.argv[2], suggestions[0].post.id, "not")
"""


def test_processes_label_at_once_and_share_the_posts(tmp_path: Path) -> None:
    folder = fresh(tmp_path / "job")
    names = ("kim", "lee", "max")
    working = [
        subprocess.Popen(
            [sys.executable, "-c", TOGETHER, str(folder), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for name in names
    ]
    for process in working:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in working:
        process.communicate("go\n", timeout=60)
        assert process.returncode == 0
    status = Session.open(folder).status()
    assert status.labelled == status.posts == sum(status.annotators.values()) == 40
