"""Reports on input files that another process reads: recorded there, replayed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from typing_extensions import override

from linker.data.files.line_errors import SHOWN, BadLines, InputFile, LineError, OnError
from linker.data.io.columns import Columns, report_left_out


class Report(NamedTuple):
    """Something to report on an input.

    Attributes:
        kind: name of a method of `BadLines`, or what to do with a file.
        file: number of the input among all inputs; None: of no single one.
        values: arguments.
    """

    kind: str
    file: int | None
    values: tuple[Any, ...]


class RecordedLines(BadLines):
    """Records what `BadLines` would print, count or write.

    Args:
        on_error: "strict" or "skip".
        first: number of the first input among all inputs.
    """

    def __init__(self, on_error: OnError, first: int = 0) -> None:
        super().__init__(on_error)
        self._first = first
        self._reports: list[Report] = []
        self._sent: list[tuple[int, int]] = []
        self._bad = 0

    def taken(self) -> list[Report]:
        """Return the reports since the last call."""
        for number, (file, (lines, bytes_)) in enumerate(zip(self._files, self._sent), self._first):
            if (file.lines, file.bytes) != (lines, bytes_):
                self._reports.append(Report("counted", number, (file.lines - lines, file.bytes - bytes_)))
            if file.changed:
                self._reports.append(Report("changed", number, (dict(file.changed),)))
                file.changed.clear()
        self._sent = [(file.lines, file.bytes) for file in self._files]
        if self.on_error == "strict" and self._bad > SHOWN:
            self._reports.append(Report("count_more", None, (self._bad - SHOWN,)))
        reports, self._reports, self._bad = self._reports, [], 0
        return reports

    @override
    def file(self, path: str) -> InputFile:
        self._sent.append((0, 0))
        self._reports.append(Report("file", None, (path,)))
        return super().file(path)

    def part(self, path: str, lines: int) -> InputFile:
        """Register the next input of which only a part is read here, after `lines` lines that others read."""
        file = self.file(path)
        if lines:  # the readers of the lines before report the input
            self._reports.pop()
            file.lines = lines
            self._sent[-1] = (lines, 0)
        return file

    def part_read(self, file: InputFile, columns: Columns, is_last: bool) -> None:
        """Record what was left out of a part of an input, at its end.

        Args:
            file: the input.
            columns: its columns, which count dates that were left out.
            is_last: whether the input ends with the part.
        """
        values = (dict(file.left_out), file.posts, columns, is_last)
        self._reports.append(Report("part_read", self._first + self._files.index(file), values))

    @override
    def add(self, file: InputFile, line: int, error: LineError, raw: str) -> None:
        """Record a bad line; in strict mode only those that are shown, and not their texts."""
        self._bad += 1
        self.total += 1
        if self.on_error == "skip" or self._bad <= SHOWN:
            values = (line, error.reason, error.detail, raw if self.on_error == "skip" else "")
            self._reports.append(Report("bad", self._first + self._files.index(file), values))

    @override
    def note(self, name: str, notes: Sequence[str]) -> None:
        self._reports.append(Report("note", None, (name, list(notes))))

    @override
    def info(self, message: str) -> None:
        self._reports.append(Report("info", None, (message,)))


class Replay:
    """Replays the reports on input files, in the order of the files.

    Args:
        bad_lines: where they are reported.
    """

    def __init__(self, bad_lines: BadLines) -> None:
        self._bad_lines = bad_lines
        self._files: list[InputFile] = []
        # By input, of those that are read in parts.
        self._columns: dict[int, Columns] = {}

    def apply(self, reports: Sequence[Report]) -> int:
        """Apply reports in their order, and return the number of bytes that were read."""
        count = 0
        for kind, number, values in reports:
            if number is None:
                registered = getattr(self._bad_lines, kind)(*values)
                if kind == "file":
                    self._files.append(registered)
                continue
            file = self._files[number]
            if kind == "bad":
                line, reason, detail, raw = values
                file.bad(line, LineError(reason, detail), raw)
            elif kind == "changed":
                file.changed.update(values[0])
            elif kind == "counted":
                file.lines += values[0]
                file.count_bytes(values[1])
                count += values[1]
            else:
                left_out, posts, columns, is_last = values
                file.left_out.update(left_out)
                file.posts += posts
                total = self._columns.setdefault(number, columns)
                if total is not columns:
                    for ours, style in columns.date_styles.items():
                        total.date_styles[ours].add(style)
                if is_last:
                    report_left_out(file, total, self._bad_lines)
        return count
