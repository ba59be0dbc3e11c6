"""Lines that are neither an article nor a post: counted, shown, set aside, never lost."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Literal

from linker.common.console import info, warn
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.data.io.streams import shown_name

OnError = Literal["strict", "skip"]
SHOWN = 20


class LineError(ValueError):
    """What is wrong with one line: a short reason that lines can be counted by, and the detail."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class InputFile:
    """One input and its bad lines so far."""

    def __init__(self, path: str, bad_lines: BadLines) -> None:
        self.path = path
        self.lines = 0
        self.reasons: Counter[str] = Counter()
        self.side_path: Path | None = None
        self._bad_lines = bad_lines
        self._side_file: IO[str] | None = None

    def bad(self, line: int, error: LineError, raw: str) -> None:
        """Take down that line number `line` was not understood."""
        self.reasons[error.reason] += 1
        self._bad_lines.took(self, line, f"{shown_name(self.path)}, line {line}: {error}")
        if self._bad_lines.on_error == "strict":
            return
        if self._side_file is None:
            self.side_path, self._side_file = self._bad_lines.open_side_file(self.path)
        record = {"file": shown_name(self.path), "line": line, "reason": str(error), "raw": raw}
        self._side_file.write(_json_line(record))

    def summary(self) -> str:
        """One line: how many lines were set aside, why, and where they are."""
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.reasons.most_common())
        total = self.reasons.total()
        name = shown_name(self.path)
        return f"{name}: {total} of {self.lines} lines set aside ({reasons}); see {self.side_path}"


class BadLines:
    """The bad lines of all inputs of one reading; a context manager.

    When its block ends well, `strict` raises a DataError if there was any bad line, showing the first 20 and
    the count; `skip` leaves `<input>.errors.jsonl` files (file, line, reason, raw) in `errors_dir` and prints
    one summary line an input to standard error.
    """

    def __init__(self, on_error: OnError = "strict", errors_dir: str = ".") -> None:
        self.on_error = on_error
        self._folder = Path(errors_dir)
        self._files: list[InputFile] = []
        self._shown: list[tuple[int, int, str]] = []
        self._noted = ""
        self._total = 0
        self._side_paths: set[Path] = set()
        self._stack = ExitStack()

    @property
    def total(self) -> int:
        """How many there were so far."""
        return self._total

    def file(self, path: str) -> InputFile:
        """Begin with another input."""
        self._files.append(InputFile(path, self))
        return self._files[-1]

    def took(self, file: InputFile, line: int, message: str) -> None:
        """Count a bad line; the first few messages are kept."""
        self._total += 1
        if len(self._shown) < SHOWN:
            self._shown.append((self._files.index(file), line, message))

    def note(self, name: str, notes: Sequence[str]) -> None:
        """Tell the user in one line what was taken from an input, unless the same was just told of another."""
        said = ", ".join(notes)
        if said and said != self._noted:
            self._noted = said
            info(f"{name}: {said}")

    def open_side_file(self, path: str) -> tuple[Path, IO[str]]:
        """Where the bad lines of an input go; the file appears when the block ends well."""
        name = "stdin" if path == "-" else Path(shown_name(path)).name
        number = 1
        while True:
            side_path = self._folder / f"{name}.errors{'' if number == 1 else f'-{number}'}.jsonl"
            if side_path not in self._side_paths and _free_for(side_path, shown_name(path)):
                self._side_paths.add(side_path)
                return side_path, self._stack.enter_context(atomic_write(side_path))
            number += 1

    def __enter__(self) -> BadLines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, traceback)
        if error is not None or not self._total:
            return
        if self.on_error == "strict":
            raise DataError(self._listing())
        for file in self._files:
            if file.reasons:
                warn(file.summary())

    def _listing(self) -> str:
        many = f"{self._total} bad lines" if self._total > 1 else "one bad line"
        rest = self._total - len(self._shown)
        messages = [message for _, _, message in sorted(self._shown)]
        shown = [f"  {message}" for message in messages] + ([f"  … and {rest} more"] if rest else [])
        remedy = 'mend them, or set them aside with --on-error skip (in a config: on_error: "skip")'
        if any(message.endswith("invalid UTF-8") for message in messages):
            remedy = f"save the file as UTF-8 (in Excel: CSV UTF-8), {remedy}"
        return "\n".join([f"{many}; {remedy}:", *shown])


def _free_for(side_path: Path, name: str) -> bool:
    """May the side file of `name` stand here: is the place free, or its own from an earlier reading?"""
    try:
        with open(side_path, encoding="utf-8", errors="replace") as file:
            return json.loads(file.readline())["file"] == name
    except OSError:
        # Nothing there, or a place where nothing can be: then writing says why.
        return not os.path.lexists(side_path)
    except (ValueError, KeyError, TypeError):
        return False


def _json_line(record: dict[str, object]) -> str:
    line = json.dumps(record, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        # Bytes that are no UTF-8 came through as lone surrogates: escaped, they can still be told apart.
        line = json.dumps(record)
    return line + "\n"
