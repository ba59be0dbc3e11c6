"""Reports on input files that another process reads: recorded there, replayed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from typing_extensions import override

from linker.data.io.column_detection import report_left_out
from linker.data.io.columns import Columns
from linker.data.io.line_errors import SHOWN, BadLines, InputFile, LineError, OnError


class Report(NamedTuple):
    """Something to report on an input.

    Attributes:
        kind: name of a method of `BadLines`, or of `InputFile` if there is a file.
        file: number of the input among all inputs; None: of no single one.
        values: arguments of the method.
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
        for number, file in enumerate(self._files):
            lines, bytes_ = self._sent[number]
            if (file.lines, file.bytes) != (lines, bytes_):
                self._reports.append(
                    Report("counted", self._first + number, (file.lines - lines, file.bytes - bytes_))
                )
                self._sent[number] = (file.lines, file.bytes)
            if file.changed:
                self._reports.append(Report("changed", self._first + number, (dict(file.changed),)))
                file.changed.clear()
        if self.on_error == "strict" and self._bad > SHOWN:
            self._reports.append(Report("count_more", None, (self._bad - SHOWN,)))
        reports, self._reports, self._bad = self._reports, [], 0
        return reports

    @override
    def file(self, path: str) -> InputFile:
        self._files.append(_RecordedFile(path, self, self._first + len(self._files)))
        self._sent.append((0, 0))
        self._reports.append(Report("file", None, (path,)))
        return self._files[-1]

    def part(self, path: str, lines: int) -> InputFile:
        """Register the next input of which only a part is read here.

        Args:
            path: the input.
            lines: number of lines before the part; their readers report the input.
        """
        file = self.file(path)
        if lines:
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
        number = self._first + self._files.index(file)
        self._reports.append(Report("part_read", number, (dict(file.left_out), file.posts, columns, is_last)))

    @override
    def note(self, name: str, notes: Sequence[str]) -> None:
        self._reports.append(Report("note", None, (name, list(notes))))

    @override
    def info(self, message: str) -> None:
        self._reports.append(Report("info", None, (message,)))

    def bad(self, number: int, line: int, error: LineError, raw: str) -> None:
        """Record a bad line of a file; in strict mode only those that are shown, and not their texts."""
        self._bad += 1
        self._total += 1
        if self.on_error == "skip":
            self._reports.append(Report("bad", number, (line, error.reason, error.detail, raw)))
        elif self._bad <= SHOWN:
            self._reports.append(Report("bad", number, (line, error.reason, error.detail, "")))


class _RecordedFile(InputFile):
    def __init__(self, path: str, lines: RecordedLines, number: int) -> None:
        super().__init__(path, lines)
        self._lines, self._number = lines, number

    @override
    def bad(self, line: int, error: LineError, raw: str) -> None:
        self.reasons[error.reason] += 1
        self._lines.bad(self._number, line, error, raw)


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
                found = getattr(self._bad_lines, kind)(*values)
                if kind == "file":
                    self._files.append(found)
                continue
            file = self._files[number]
            if kind == "bad":
                line, reason, detail, raw = values
                file.bad(line, LineError(reason, detail), raw)
            elif kind == "changed":
                file.changed.update(values[0])
            elif kind == "part_read":
                self._part_read(number, *values)
            else:
                file.lines += values[0]
                file.count_bytes(values[1])
                count += values[1]
        return count

    def _part_read(
        self, number: int, left_out: dict[str, int], posts: int, columns: Columns, is_last: bool
    ) -> None:
        file = self._files[number]
        file.left_out.update(left_out)
        file.posts += posts
        total = self._columns.setdefault(number, columns)
        if total is not columns:
            for ours, style in columns.date_styles.items():
                total.date_styles[ours].add(style)
        if is_last:
            report_left_out(file, total, self._bad_lines)
