"""Labelling in the terminal: a post, a key, the next post."""

from __future__ import annotations

import os
import select
import signal
import sys
from types import TracebackType

from rich.console import Console
from rich.text import Text

from linker.annotation.records import Value
from linker.annotation.session import Session, Suggestion
from linker.cli.annotate_screen import plain, progress_line, status_text, suggestion_text
from linker.errors import LinkerError

VALUE_KEYS: dict[str, Value] = {"y": "relevant", "n": "not", "s": "skip"}
_HELP = "y relevant · n not · s skip · u undo · e note · a article · g guidelines · i how far · q quit"


class Keys:
    """Single keys from a terminal.

    Raises:
        LinkerError: standard input is none.
    """

    def __init__(self) -> None:
        try:
            import termios
            import tty
        except ImportError as error:  # Windows
            raise LinkerError(
                "single keys need a terminal of Linux or macOS; use `linker serve`, "
                "or `linker annotate next` and `label`"
            ) from error
        if not sys.stdin.isatty():
            raise LinkerError(
                "standard input is no terminal; in scripts use `linker annotate next` and `linker annotate label`"
            )
        self._termios, self._tty = termios, tty
        self._file = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._file)

    def __enter__(self) -> Keys:
        # Without throwing away what was typed in the meantime.
        self._tty.setcbreak(self._file, self._termios.TCSADRAIN)
        # A Ctrl-C that comes just before a read begins would be noticed at the next key only; this ends the waiting.
        self._signals, self._told = os.pipe()
        os.set_blocking(self._told, False)
        self._told_before = signal.set_wakeup_fd(self._told)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._told_before)
        os.close(self._signals)
        os.close(self._told)
        self._termios.tcsetattr(self._file, self._termios.TCSADRAIN, self._before)

    def read(self) -> str:
        """The next key, in lower case; empty at the end of input. Arrow keys and their like give a blank."""
        while self._file not in (ready := select.select([self._file, self._signals], [], [])[0]):
            # The exception of a Ctrl-C is lost where it strikes amid what Python tidies up; its number still comes
            # here. Other signals, as of the window's new size, end nothing.
            if signal.SIGINT in os.read(ready[0], 64):
                raise KeyboardInterrupt
        key = os.read(self._file, 1)
        if key == b"\x1b":
            if self._follows() and os.read(self._file, 1) in (b"[", b"O"):
                while self._follows() and not b"@" <= os.read(self._file, 1) <= b"~":
                    pass
            return " "
        return key.decode("ascii", "replace").lower()

    def _follows(self) -> bool:
        """Does more of the same key come, at once?"""
        return bool(select.select([self._file], [], [], 0.05)[0])

    def line(self, prompt: str) -> str | None:
        """A line, typed as usual; None at the end of input."""
        self.__exit__(None, None, None)
        try:
            return input(prompt)
        except EOFError:
            return None
        finally:
            self.__enter__()


class Desk:
    """One annotator at a terminal.

    Args:
        session: where the labels go.
        annotator: who labels.
        console: what to write to.
    """

    def __init__(self, session: Session, annotator: str, console: Console) -> None:
        self.session, self.annotator, self.console = session, annotator, console
        self._stop_told = False

    def work(self, keys: Keys) -> None:
        """Show posts and take keys until there are no more posts, or the annotator has enough."""
        if self.session.guidelines:
            self._show(plain(self.session.guidelines))
        self._show(Text(_HELP, "dim"))
        while suggestions := self.session.next(self.annotator):
            self._tell()
            self._show(suggestion_text(suggestions[0], self.console.is_terminal))
            while (again := self._take(keys, suggestions[0])) is None:
                pass
            if not again:
                return
        self._show("nothing is left for you to label")

    def _take(self, keys: Keys, suggestion: Suggestion) -> bool | None:
        """Do what a key says. False: quit; None: the same post stays."""
        key = keys.read()
        if key in VALUE_KEYS:
            self.session.label(self.annotator, suggestion.post.id, VALUE_KEYS[key])
            self._show(f"→ {VALUE_KEYS[key]}")
            return True
        if key == "u":
            if self.session.undo(self.annotator) is None:
                self._show("nothing to take back")
                return None
            self._show("← taken back")
            return True
        if key in ("q", "", "\x04"):
            return False
        if key == "e":
            note = keys.line("note: ")
            if note is not None:
                self.session.note(self.annotator, suggestion.post.id, note)
                self._show("noted")
        elif key == "a":
            for article in self.session.articles:
                self._show(plain(article.full_text))
        elif key == "g":
            self._show(plain(self.session.guidelines or "no guidelines were given"))
        elif key == "i":
            self._show(Text(status_text(self.session, self.session.status())))
        elif key not in (" ", "\n"):
            self._show(Text(_HELP, "dim"))
        return None

    def _tell(self) -> None:
        status = self.session.status()
        self.console.rule(Text(progress_line(status), "dim"), style="dim", align="left")
        if status.decision.stop and not self._stop_told:
            self._stop_told = True
            self._show(Text(f"You may stop: {status.decision.reason}. q quits; labelling may go on.", "bold"))

    def _show(self, what: str | Text) -> None:
        self.console.print(what, highlight=False, markup=False)
