"""Whatever happens to the process: what was acknowledged is there."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linker.annotation.session.session import Session
from tests.helpers.sessions import events_in, fresh

ROOT = Path(__file__).parents[3]

# For every line "NAME SEED" a child that labels in a loop, takes labels back now and then, and acknowledges each step;
# for a line "wait" it waits for the end of all of them. Children are forked: they need not import everything.
MOTHER = """
import os, random, sys
from linker.annotation.session.session import Session

def say(*words):
    os.write(1, (" ".join(words) + "\\n").encode())

def work(name, seed):
    chance = random.Random(seed)
    session = Session.open(sys.argv[1])
    say(name, "ready")
    while True:
        for one in session.next(name):
            value = "relevant" if chance.random() < .3 else "not"
            session.label(name, one.post.id, value, "n" * chance.randrange(5000))
            say(name, "label", one.post.id)
        if chance.random() < .6 and (post := session.undo(name)):
            say(name, "undo", post)

for line in sys.stdin:
    if line == "wait\\n":
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
        say("all", "ended")
    elif child := os.fork():
        say("all", str(child))
    else:
        work(*line.split())
"""


def steps_in(folder: Path, name: str) -> list[tuple[str, str]]:
    Session.open(folder).close()  # nothing is wrong with it
    return [(event.kind, event.post) for event in events_in(folder) if event.annotator == name]


def kill_and_look(folder: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    kept: dict[str, list[tuple[str, str]]] = {"kim": [], "lee": []}
    killed_at_work = 0
    mother = subprocess.Popen(
        [sys.executable, "-c", MOTHER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert mother.stdout is not None
    for number in range(rounds):
        children: list[int] = []
        acknowledged: dict[str, list[tuple[str, str]]] = {name: [] for name in kept}
        for name in kept:
            print(name, seed + number, file=mother.stdin, flush=True)
        ready = 0
        while ready < len(kept) or len(children) < len(kept):
            ready += take(mother.stdout.readline(), children, acknowledged)
        time.sleep(chance.uniform(0, 0.1))
        for child in children:
            os.kill(child, signal.SIGKILL)
        print("wait", file=mother.stdin, flush=True)
        while (line := mother.stdout.readline()) != "all ended\n":
            take(line, children, acknowledged)
        for name, steps in acknowledged.items():
            killed_at_work += bool(steps)
            there = steps_in(folder, name)
            assert there[: len(kept[name])] == kept[name]
            new = there[len(kept[name]) :]
            # At most the one step that was on the disk, but of which there was no time to say so.
            assert new[: len(steps)] == steps
            assert len(new) <= len(steps) + 1
            kept[name] = there
    mother.communicate()
    assert killed_at_work >= rounds / 2  # of 2 × rounds; a kill before the first label tells little


def take(line: str, children: list[int], acknowledged: dict[str, list[tuple[str, str]]]) -> bool:
    """Sort the lines of output; True if a child is ready."""
    name, *said = line.split()
    if name == "all":
        children.append(int(said[0]))
    elif said != ["ready"]:
        acknowledged[name].append((said[0], said[1]))
    return said == ["ready"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fresh(tmp_path / "job", overlap=0.5)


@pytest.mark.parametrize("rounds", [10, pytest.param(150, marks=pytest.mark.slow)])
def test_kills_lose_no_acknowledged_label(folder: Path, rounds: int) -> None:
    kill_and_look(folder, rounds, seed=1)


TOGETHER = """
import sys
from linker.annotation.session.session import Session
session = Session.open(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
while suggestions := session.next(sys.argv[2]):
    session.label(sys.argv[2], suggestions[0].post.id, "not")
"""


def test_processes_label_at_once_and_share_the_posts(tmp_path: Path) -> None:
    folder = fresh(tmp_path / "job")
    names = ("kim", "lee")
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
    assert status.labeled == status.posts == sum(status.annotators.values()) == 40
