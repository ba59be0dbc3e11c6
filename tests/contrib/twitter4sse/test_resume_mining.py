"""Several processes, and runs that are killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from linker.common.errors import DataError
from linker.contrib.twitter4sse.mine_pairs import mine_pairs, report_path
from linker.contrib.twitter4sse.pair_miners import PairMiner
from tests.helpers.tweets import read_pairs, v1, write, write_tar

# Makes parts slowly enough to be killed between two.
PROGRAM = """
import sys, time
from linker.contrib.twitter4sse import extraction, mine_pairs
from linker.contrib.twitter4sse.pair_miners import PairMiner

extract = extraction.extract

def slowly(*task):
    time.sleep(0.3)
    return extract(*task)

extraction.extract = slowly
mine_pairs.mine_pairs([sys.argv[1]], PairMiner.by_name("quotes")(), sys.argv[2], unit_bytes=1)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight files and a tar file; every tweet of 40 is quoted in several of them."""
    for n in range(8):
        objects = [v1(1000 * (n + 1) + i, quotes=v1(1 + (7 * n + i) % 40)) for i in range(30)]
        write(tmp_path / "in" / f"{n}.json.{'gz' if n % 2 else 'bz2'}", [*objects, b"{broken"])
    content = (tmp_path / "in" / "0.json.bz2").read_bytes()
    write_tar(tmp_path / "in" / "z.tar", {"a/0.json.bz2": content, "a/1.json.bz2": content})
    return tmp_path


def mine(folder: Path, name: str, workers: int = 1, unit_bytes: int = 1) -> tuple[bytes, bytes]:
    out = folder / name
    mine_pairs([folder / "in"], PairMiner.by_name("quotes")(), out, workers=workers, unit_bytes=unit_bytes)
    assert not (folder / f"{name}.links.db").exists()
    return out.read_bytes(), report_path(out).read_bytes()


def finished_units(work: Path) -> list[str]:
    if not work.exists():
        return []
    with closing(sqlite3.connect(work)) as database:
        try:
            return [name for (name,) in database.execute("SELECT name FROM unit")]
        except sqlite3.OperationalError:  # no table yet
            return []


def test_any_number_of_processes_and_units_gives_the_same_bytes(folder: Path) -> None:
    alone = mine(folder, "one.jsonl.gz")
    assert len(read_pairs(folder / "one.jsonl.gz")) == 40
    assert mine(folder, "three.jsonl.gz", workers=3) == alone
    assert mine(folder, "large.jsonl.gz", unit_bytes=1 << 30) == alone


def test_a_killed_run_resumes_where_it_was(folder: Path) -> None:
    expected = mine(folder, "whole.jsonl.gz")
    out, work = folder / "killed.jsonl.gz", folder / "killed.jsonl.gz.links.db"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder / "in"), str(out)], env=environment)
    try:
        deadline = time.monotonic() + 30
        while len(finished_units(work)) < 3:
            assert process.poll() is None, "ended by itself"
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    finished = finished_units(work)
    assert not out.exists()
    assert 3 <= len(finished) < 10

    made = []
    original = PairMiner.by_name("quotes").links

    def counting(self: PairMiner, tweets):
        made.append(tweets)
        return original(self, tweets)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PairMiner.by_name("quotes"), "links", counting)
        assert mine(folder, "killed.jsonl.gz") == expected
    assert len(made) == 30 * (10 - len(finished)), "what was finished is not read again"


def test_a_changed_archive_is_read_again(folder: Path) -> None:
    work = folder / "out.jsonl.gz.links.db"
    (folder / "in" / "9.json").write_bytes("x".encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16"):
        mine(folder, "out.jsonl.gz")
    assert len(finished_units(work)) == 8
    write(folder / "in" / "9.json", [v1(9001, quotes=v1(500))])
    mine(folder, "out.jsonl.gz")
    assert "500" in {pair["parent_id"] for pair in read_pairs(folder / "out.jsonl.gz")}


def test_a_damaged_archive_stops_or_is_used_as_far_as_it_goes(folder: Path) -> None:
    path = folder / "in" / "1.json.gz"
    path.write_bytes(path.read_bytes()[:-40])
    arguments = ([folder / "in"], PairMiner.by_name("quotes")(), folder / "out.jsonl")
    for workers in (1, 2):
        with pytest.raises(DataError, match=r"1\.json\.gz: damaged or cut short.*--on-error skip"):
            mine_pairs(*arguments, workers=workers, unit_bytes=1)
    report = mine_pairs(*arguments, on_error="skip")
    assert len(report.damaged) == 1
    assert "1.json.gz" in report.damaged[0]
    assert 279 < report.lines.total() <= 310
    assert read_pairs(folder / "out.jsonl")


def test_strict_after_skip_looks_at_the_damaged_archive_again(folder: Path) -> None:
    path = folder / "in" / "1.json.gz"
    path.write_bytes(path.read_bytes()[:-40])
    out = folder / "out.jsonl"
    miner = PairMiner.by_name("quotes")()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "unlink", lambda path: None)
        mine_pairs([folder / "in"], miner, out, on_error="skip")
    with pytest.raises(DataError, match="damaged or cut short"):
        mine_pairs([folder / "in"], miner, out)
