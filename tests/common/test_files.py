"""Output files: whole or not at all, and nothing else harmed."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from linker.common.errors import LinkerError
from linker.common.files import atomic_write, check_writable, unbroken, write_json


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("old")

    def fail() -> None:
        with atomic_write(path) as file:
            file.write("new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["results.csv"]


def test_a_full_disk_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    # The file size limit plays the part of the disk: writing fails in the same way, with EFBIG.
    code = (
        "import resource, sys; from linker.common.files import atomic_write\n"
        "from linker.common.errors import LinkerError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    with atomic_write('big.txt') as file: file.write('x' * 100_000)\n"
        "except LinkerError as error: sys.exit(f'{error}')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == "big.txt: cannot be written (File too large); make room and try again\n"
    assert os.listdir(tmp_path) == []


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    check_writable(path)
    with atomic_write(path) as file:
        file.write("ranked")
    assert os.read(reader, 100) == b"ranked"
    os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_device_without_room_is_reported(tmp_path: Path) -> None:
    # By a link, so that a defect replaces the link and not the device.
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    with pytest.raises(LinkerError, match=r"full: cannot be written \(No space"), atomic_write(link) as file:
        file.write("x")
    assert link.is_symlink()


def test_a_link_keeps_leading_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "latest.csv"
    link.symlink_to(tmp_path / "real" / "run-7.csv")
    with atomic_write(link) as file:
        file.write("new")
    assert link.is_symlink()
    assert (tmp_path / "real" / "run-7.csv").read_text() == "new"


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as at a terminal: programs started in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_waits_for_what_belongs_together() -> None:
    done = []

    def save() -> None:
        with unbroken():
            signal.raise_signal(signal.SIGINT)
            done.append("written")
        done.append("never")

    with pytest.raises(KeyboardInterrupt):
        save()
    assert done == ["written"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("name", ["café 🦦.jsonl", "odd\udcff\n.jsonl"])
def test_json_has_names_of_files_whatever_their_bytes(tmp_path: Path, name: str) -> None:
    write_json(tmp_path / "facts.json", {"posts": name})
    text = (tmp_path / "facts.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"posts": name}
    assert ("é" in text) == ("é" in name)
