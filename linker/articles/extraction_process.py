"""A process that extracts pages, within limits of time and memory (decision 180).

Pages come from strangers, and what reads them takes quadratic time on some: a page is read in a process of its own,
which is killed when it exceeds a limit. The process stays for further pages.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

from linker.articles.html_extraction import HtmlText, text_of_html
from linker.articles.incomplete_pages import Fault
from linker.articles.page import PageError
from linker.articles.pdf import MAX_SECONDS as PDF_SECONDS
from linker.articles.pdf import PdfText, text_of_pdf
from linker.common.concurrency import cores

SECONDS = 10.0
"""Maximum time for a page in HTML."""
MEGABYTES = 1024
"""Maximum memory beyond that of an idle process, in MiB (on Linux)."""
_START_SECONDS = 120.0
# Processes are replaced, since libraries keep caches.
_MOST_PAGES = 500
_REMEDY = "copy the article's text into a .txt file and give that"


class LimitError(PageError):
    """A page that exceeds the limits of time or memory, or that ends the process which reads it."""


def read_html(html: str, url: str | None) -> HtmlText:
    """Extract the article of a page in HTML.

    Args:
        html: the page.
        url: its address, if known.

    Raises:
        LimitError: if it takes more than `SECONDS` or `MEGABYTES`, or cannot be read.
    """
    reply = _ask({"kind": "html", "url": url}, html.encode("utf-8", "surrogatepass"), SECONDS)
    fault = reply["fault"]
    return HtmlText(
        reply["title"], reply["text"], reply["date"], reply["address"], fault and Fault(fault[0], fault[1])
    )


def read_pdf(body: bytes) -> PdfText:
    """Extract title and text of a PDF.

    Raises:
        LimitError: if it takes more than `linker.articles.pdf.MAX_SECONDS` or `MEGABYTES`.
        PageError: if it has no text that can be read (see `text_of_pdf`).
    """
    reply = _ask({"kind": "pdf"}, body, PDF_SECONDS)
    return PdfText(reply["title"], reply["text"])


def _ask(question: dict[str, Any], body: bytes, seconds: float) -> dict[str, Any]:
    # No more processes than cores: further pages wait.
    with _slots:
        process = _idle.pop() if _idle else _Process()
        if process.has_ended():
            process.kill()
            process = _Process()
        reply = process.ask(question, body, seconds)
        if process.pages < _MOST_PAGES:
            _idle.append(process)
        else:
            process.kill()
    if "error" in reply:
        raise PageError(reply["error"])
    return reply


class _Process:
    """A process that reads one page at a time; used by one thread at a time."""

    def __init__(self) -> None:
        # The same modules as here, wherever this process found them.
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve({MEGABYTES})"
        self._child = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.pages = 0

    def ask(self, question: dict[str, Any], body: bytes, seconds: float) -> dict[str, Any]:
        """Return the reply to a question about a page; on any error the process is killed.

        Raises:
            LimitError: if there is no reply in time.
        """
        to, replies = self._child.stdin, self._child.stdout
        assert to is not None
        assert replies is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._child.kill()

        try:
            if not self.pages:
                with _Alarm(_START_SECONDS, give_up):
                    replies.readline()
            self.pages += 1
            with _Alarm(seconds, give_up):
                with contextlib.suppress(BrokenPipeError):
                    to.write(json.dumps({**question, "size": len(body), "seconds": seconds}).encode() + b"\n")
                    to.write(body)
                    to.flush()
                line = replies.readline()
            if line.endswith(b"\n"):
                reply: dict[str, Any] = json.loads(line)
                if "limit" not in reply:
                    return reply
            raise LimitError(f"{self._problem(line, seconds, late.is_set())}; {_REMEDY}")
        except BaseException:
            self.kill()
            raise

    def _problem(self, line: bytes, seconds: float, late: bool) -> str:
        if line:
            return f"the page takes more than {MEGABYTES:,} MiB of memory to read"
        if late:
            return f"the page takes more than {seconds:g} seconds to read"
        return f"the page cannot be read (the process that reads it ended with {self._child.wait()})"

    def has_ended(self) -> bool:
        """Return whether somebody ended the process."""
        return self._child.poll() is not None

    def kill(self) -> None:
        """End the process."""
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


class _Alarm(threading.Timer):
    """Calls a function if its block has not ended in time."""

    def __init__(self, seconds: float, call: Any) -> None:
        super().__init__(seconds, call)
        self.daemon = True

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *error: object) -> None:
        self.cancel()


_idle: list[_Process] = []
_slots = threading.BoundedSemaphore(cores())


def _forget() -> None:
    """Leave the processes to the parent, after a fork."""
    global _idle, _slots
    _idle, _slots = [], threading.BoundedSemaphore(cores())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def serve(megabytes: int) -> None:
    """Answer questions on standard input until it ends. The main function of the process.

    Args:
        megabytes: maximum memory beyond that of the process without a page, in MiB.
    """
    # Ctrl-C reaches all processes; the main one closes this one's input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    questions = sys.stdin.buffer
    # What a library prints must not be taken for a reply.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import trafilatura  # noqa: F401

    _limit_memory(megabytes)
    replies.write(b"ready\n")
    replies.flush()
    while line := questions.readline():
        question = json.loads(line)
        body = questions.read(question["size"])
        if hasattr(signal, "setitimer"):
            # Where the main process was killed, nobody else ends this one.
            signal.setitimer(signal.ITIMER_REAL, question["seconds"] + 1)
        replies.write(json.dumps(_reply(question, body)).encode() + b"\n")
        replies.flush()
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _limit_memory(megabytes: int) -> None:
    try:
        import resource
        from pathlib import Path

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # not Linux
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


def _reply(question: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        if question["kind"] == "pdf":
            return text_of_pdf(body)._asdict()
        found = text_of_html(body.decode("utf-8", "surrogatepass"), question["url"])
        return {**found._asdict(), "fault": found.fault and [found.fault.kind, str(found.fault)]}
    except PageError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"limit": "memory"}
