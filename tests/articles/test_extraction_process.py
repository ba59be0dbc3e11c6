"""Pages are read within limits of time and memory, whatever is on them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from linker.articles import extraction_process
from linker.articles.extraction_process import LimitError, read_html, read_pdf
from tests.helpers.pdfs import pdf

STORY = "<html><head><title>Otters</title></head><body><article>" + (
    "<p>Two otters were filmed on Tuesday below the weir at Marrow, the first seen on the river.</p>" * 30
)


def processes() -> list[int]:
    """The processes that wait for a page."""
    return [process._child.pid for process in extraction_process._idle]


@pytest.fixture(autouse=True)
def _no_process_left() -> Iterator[None]:
    def end() -> None:
        while extraction_process._idle:
            extraction_process._idle.pop().kill()

    end()
    yield
    end()


def test_a_page_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction_process, "SECONDS", 0.5)
    attributes = " ".join(f"a{n}=1" for n in range(400_000))  # takes quadratic time
    with pytest.raises(LimitError, match=r"takes more than 0\.5 seconds"):
        read_html(f"<p {attributes}>x</p>", None)
    assert processes() == []
    monkeypatch.undo()
    assert "Two otters" in read_html(STORY, None).text


def test_a_page_that_needs_too_much_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction_process, "MEGABYTES", 8)
    monkeypatch.setattr(extraction_process, "SECONDS", 60)
    with pytest.raises(LimitError, match=r"more than 8 MiB of memory|what reads it ended"):
        read_html("<p>word</p>" * 1_000_000, None)


def test_one_process_reads_many_pages_until_it_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    read_html(STORY, None)
    first = processes()
    read_html(STORY, None)
    assert processes() == first
    monkeypatch.setattr(extraction_process, "_MOST_PAGES", 2)
    read_html(STORY, None)
    assert processes() == []


def test_a_process_that_was_killed_while_it_waited_harms_no_page() -> None:
    read_html(STORY, None)
    (pid,) = processes()
    os.kill(pid, signal.SIGTERM)
    time.sleep(0.2)
    assert "Two otters" in read_html(STORY, None).text
    assert processes() != [pid]


def test_a_pdf_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction_process, "PDF_SECONDS", 0.2)
    with pytest.raises(LimitError, match=r"takes more than 0\.2 seconds"):
        read_pdf(pdf(b"BT (otters) Tj ET " * 300_000, pack=True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no signals")
def test_processes_end_with_the_main_process() -> None:
    code = (
        "from linker.articles import extraction_process as e; import os, signal\n"
        "e.read_html('<p>word</p>', None); print(e._idle[0]._child.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    pid = int(done.stdout)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").exists() and ") Z " in Path(f"/proc/{pid}/stat").read_text():
            return  # ended; nobody has asked how
        time.sleep(0.05)
    raise AssertionError("it still runs")
