"""A process that extracts pages, within limits of time and memory (decision 070).

Pages come from strangers, and what reads them takes quadratic time on some: a page is read in a process of its own,
which is killed when it exceeds a limit. The process stays for further pages.
"""

import json
import os
import signal
import sys
import threading
from typing import Any

from linker.articles.html.extraction import HtmlText, text_of_html
from linker.articles.html.incomplete_pages import Fault
from linker.articles.page import PageError
from linker.articles.pdf import PdfText, text_of_pdf
from linker.common.concurrency import cores
from linker.common.limited_process import LimitedProcess

SECONDS = 8.0
"""Maximum time for a page in HTML: with reading and ending it, ten seconds are kept on a busy machine."""
PDF_SECONDS = 30.0
"""Maximum time for a PDF."""
MEGABYTES = 1024
"""Maximum memory beyond that of an idle process, in MiB (on Linux)."""
_START_SECONDS = 120.0
# Processes are replaced, since libraries keep caches.
_MOST_PAGES = 500
_REMEDY = "copy the article's text into a .txt file and give that"


class LimitError(PageError):
    """A page that exceeds the limits of time or memory, or that ends the process which reads it."""


def read_html(page: str, url: str | None) -> HtmlText:
    """Extract the article of a page in HTML.

    Raises:
        LimitError: if it takes more than `SECONDS` or `MEGABYTES`, or cannot be read.
    """
    reply = _ask("html", page.encode("utf-8", "surrogatepass"), SECONDS, url)
    return HtmlText(**{**reply, "fault": reply["fault"] and Fault(*reply["fault"])})


def read_pdf(body: bytes) -> PdfText:
    """Extract title and text of a PDF.

    Raises:
        LimitError: if it takes more than `PDF_SECONDS` or `MEGABYTES`.
        PageError: if it has no text that can be read (see `text_of_pdf`).
    """
    return PdfText(**_ask("pdf", body, PDF_SECONDS))


def start() -> None:
    """Start a process, unless one is idle: it gets ready while this one does other things."""
    if not _idle:
        _idle.append(_Process())


def _ask(kind: str, body: bytes, seconds: float, url: str | None = None) -> dict[str, Any]:
    """Return what a process reads in a page; no more processes than cores work, further pages wait."""
    with _slots:
        process = _idle.pop() if _idle else _Process()
        if process.has_ended():
            process.kill()
            process = _Process()
        reply = process.ask({"kind": kind, "url": url}, body, seconds)
        if process.pages < _MOST_PAGES:
            _idle.append(process)
        else:
            process.kill()
    if "error" in reply:
        raise PageError(reply["error"])
    return reply


class _Process(LimitedProcess):
    """A process that reads one page at a time; used by one thread at a time."""

    def __init__(self) -> None:
        # The same modules as here, wherever this process found them.
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        super().__init__([sys.executable, "-c", code])
        self.pages = 0

    def ask(self, question: dict[str, Any], body: bytes, seconds: float) -> dict[str, Any]:
        """Return the reply to a question about a page; on any error the process is killed.

        Raises:
            LimitError: if there is no reply in time.
        """
        if not self.pages:
            with self.within(_START_SECONDS):
                self.receive()
            self.limit_memory(MEGABYTES)
        self.pages += 1
        with self.within(seconds):
            self.send({**question, "size": len(body), "seconds": seconds}, body)
            reply = self.receive()
            if reply is None or "limit" in reply:
                limit = f"it takes more than {MEGABYTES:,} MiB of memory"
                reason = limit if reply else f"what reads it {self.ending(seconds)}"
                raise LimitError(f"the page cannot be read: {reason}; {_REMEDY}")
            return reply


_idle: list[_Process] = []
_slots = threading.BoundedSemaphore(cores())


def _forget() -> None:
    """Leave the processes to the parent, after a fork."""
    global _idle, _slots
    _idle, _slots = [], threading.BoundedSemaphore(cores())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def serve() -> None:
    """Answer questions on standard input until it ends. The main function of the process."""
    # Ctrl-C reaches all processes; the main one closes this one's input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    questions = sys.stdin.buffer
    # What a library prints must not be taken for a reply.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import trafilatura  # noqa: F401

    replies.write(b"{}\n")
    replies.flush()
    while line := questions.readline():
        question = json.loads(line)
        body = questions.read(question["size"])
        # Where the main process was killed, nobody else ends this one.
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, question["seconds"] + 1)
        replies.write(json.dumps(_reply(question, body)).encode() + b"\n")
        replies.flush()
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _reply(question: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        if question["kind"] == "pdf":
            return text_of_pdf(body)._asdict()
        html = text_of_html(body.decode("utf-8", "surrogatepass"), question["url"])
        return {**html._asdict(), "fault": html.fault and [html.fault.kind, str(html.fault)]}
    except PageError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"limit": "memory"}
