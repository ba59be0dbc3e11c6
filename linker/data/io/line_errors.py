"""Bad lines of input files: reported, or set aside in `.errors.jsonl` files."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Literal

from typing_extensions import override

from linker.common.console import info, warn
from linker.common.errors import DataError
from linker.common.files import atomic_write, json_text
from linker.data.io.streams import shown_name

OnError = Literal["strict", "skip"]
SHOWN = 20
#: Name of posts that are left out because an earlier one has their id.
DUPLICATES = "duplicates"


class LineError(ValueError):
    """A fault of one line.

    Args:
        reason: a short phrase that faults are counted by, such as "empty text".
        detail: what exactly is wrong in this line.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail = reason, detail


class InputFile:
    """An input file and its bad lines so far.

    Attributes:
        path: the path or address as the user gave it.
        lines: number of lines read.
        bytes: number of bytes read, compressed as in the file.
        reasons: number of bad lines by reason.
        side_path: file with the bad lines; None: not opened.
        posts: number of posts read from records of a platform.
        left_out: number of blank lines, duplicates and repeated headers, and of records of a platform that are not
            posts, by name.
        other_texts: number of the duplicates whose text differs from that of the post that is kept.
        cleaned: number of ids that lost what a program had added, see `clean_id`.
        changed: number of characters that could not be read as they are, by what became of them.
        notes: information for the user, printed when the file is read.
    """

    def __init__(self, path: str, bad_lines: BadLines) -> None:
        self.path = path
        self.lines = 0
        self.bytes = 0
        self.reasons: Counter[str] = Counter()
        self.posts = 0
        self.left_out: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()
        self.other_texts = 0
        self.cleaned = 0
        self._cleaned_as = ""
        self._long_ids = self._rounded_ids = 0
        self._rounded_as = ""
        self.notes: list[str] = []
        self.side_path: Path | None = None
        self._bad_lines = bad_lines
        self._side_file: IO[str] | None = None

    def count_bytes(self, number: int) -> None:
        """Count bytes that were read."""
        self.bytes += number

    def count_change(self, name: str, number: int) -> None:
        """Count characters that could not be read as they are."""
        self.changed[name] += number

    def note(self, message: str) -> None:
        """Print how the file is read in one line on standard error."""
        self._bad_lines.info(f"{shown_name(self.path)}: {message}")

    def blank(self) -> None:
        """Count a line, or row, with nothing in it; it is left out."""
        self.left_out["blank lines"] += 1

    def duplicate(self, has_other_text: bool) -> None:
        """Count a post with the id of an earlier one; it is left out."""
        self.left_out[DUPLICATES] += 1
        self.other_texts += has_other_text

    def clean(self, written: str, id_: str) -> None:
        """Count an id that lost what a program had added."""
        self.cleaned += 1
        self._cleaned_as = self._cleaned_as or f"{written} is {id_}"

    def cleaned_note(self) -> str:
        """Return how many ids were cleaned, with an example; empty if none was."""
        if not self.cleaned:
            return ""
        ids = "id" if self.cleaned == 1 else "ids"
        return f"{self.cleaned:,} {ids} that a program had changed restored ({self._cleaned_as})"

    def long_id(self, id_: str, seems_rounded: bool) -> None:
        """Count an id that is a long number."""
        self._long_ids += 1
        if seems_rounded:
            self._rounded_ids += 1
            self._rounded_as = self._rounded_as or id_

    def warn_of_rounded(self) -> None:
        """Warn if the ids seem to be rounded: at least two long ones, and nine of ten."""
        if self._rounded_ids > max(1, 0.9 * self._long_ids):
            warn(
                f"{shown_name(self.path)}: {self._rounded_ids:,} of {self._long_ids:,} long ids end as if a program "
                f"had rounded them (such as {self._rounded_as}), and may name other posts; export ids as text"
            )

    def left_out_note(self) -> str:
        """Return how many lines and records were left out, by name, such as `2 likes, 1 blank line left out`.

        Empty if none was.
        """
        listed = ", ".join(
            f"{count:,} {_singular(name) if count == 1 else name}"
            + (
                f" ({self.other_texts:,} with another text)"
                if name == DUPLICATES and self.other_texts
                else ""
            )
            for name, count in self.left_out.most_common()
        )
        return f"{listed} left out" if listed else ""

    def bad_note(self) -> str:
        """Return how many lines or records are bad; empty if none is."""
        bad = self.reasons.total()
        return f"{bad:,} bad line{'s' * (bad > 1)}" if bad else ""

    def account(self, kind: str) -> str:
        """Return what became of all rows, such as `2 posts of 5 rows; 2 blank lines left out, 1 bad line`.

        Args:
            kind: name of a record that was read.
        """
        rows = self.posts + self.left_out.total() + self.reasons.total()
        parts = [self.left_out_note(), self.bad_note()]
        read = (
            f"{self.posts:,} {kind}{'' if self.posts == 1 else 's'} of {rows:,} row{'' if rows == 1 else 's'}"
        )
        return "; ".join(filter(None, (read, ", ".join(filter(None, parts)))))

    def bad(self, line: int, error: LineError, raw: str) -> None:
        """Report a bad line.

        Args:
            line: its number, from 1.
            error: the fault.
            raw: the text of the line.
        """
        self.reasons[error.reason] += 1
        self._bad_lines.count(self, line, f"{shown_name(self.path)}, line {line}: {error}")
        if self._bad_lines.on_error == "strict":
            return
        if self._side_file is None:
            self.side_path, self._side_file = self._bad_lines.open_side_file(self.path)
        record = {"file": shown_name(self.path), "line": line, "reason": str(error), "raw": raw}
        self._side_file.write(json_text(record) + "\n")

    def summary(self) -> str:
        """Return one line with the number of lines set aside, the reasons, and the file."""
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.reasons.most_common())
        total = self.reasons.total()
        name = shown_name(self.path)
        return f"{name}: {total} of {self.lines} lines set aside ({reasons}); see {self.side_path}"


class SilentFile(InputFile):
    """An input that is read once more: its bad lines are reported elsewhere."""

    @override
    def bad(self, line: int, error: LineError, raw: str) -> None:
        pass

    @override
    def count_change(self, name: str, number: int) -> None:
        pass

    @override
    def note(self, message: str) -> None:
        pass


class BadLines:
    """Collects the bad lines of several input files; a context manager.

    At the end of the block, `strict` raises a DataError if there were bad lines, with their number and the first 20;
    `skip` writes `<input>.errors.jsonl` files (file, line, reason, raw) and prints one line per input on standard
    error.

    Args:
        on_error: "strict" or "skip".
        skippable: whether the user could have asked for `skip`, which the error then recommends.
    """

    def __init__(self, on_error: OnError = "strict", skippable: bool = True) -> None:
        self.on_error = on_error
        self._skippable = skippable
        self._files: list[InputFile] = []
        self._shown: list[tuple[int, int, str]] = []
        self._noted = ""
        self._total = 0
        self._side_paths: set[Path] = set()
        self._stack = ExitStack()

    @property
    def total(self) -> int:
        """Number of bad lines so far."""
        return self._total

    @property
    def bytes_read(self) -> int:
        """Number of bytes read from all files so far, for progress bars."""
        return sum(file.bytes for file in self._files)

    @property
    def left_out(self) -> Counter[str]:
        """Number of records of platforms so far that are not posts, by name."""
        return sum((file.left_out for file in self._files), Counter())

    @property
    def left_out_notes(self) -> list[str]:
        """What was left out of each file so far, such as `a.csv: 2 duplicates left out`."""
        noted = ((shown_name(file.path), file.left_out_note()) for file in self._files)
        return [f"{name}: {note}" for name, note in noted if note]

    def file(self, path: str) -> InputFile:
        """Register the next input file."""
        self._files.append(InputFile(path, self))
        return self._files[-1]

    def count(self, file: InputFile, line: int, message: str) -> None:
        """Count a bad line; the first messages are kept."""
        self._total += 1
        if len(self._shown) < SHOWN:
            self._shown.append((self._files.index(file), line, message))

    def count_more(self, number: int) -> None:
        """Count bad lines without messages."""
        self._total += number

    def note(self, name: str, notes: Sequence[str]) -> None:
        """Print notes about an input in one line on standard error, unless the previous input had the same."""
        joined = ", ".join(notes)
        if joined and joined != self._noted:
            self._noted = joined
            info(f"{name}: {joined}")

    def info(self, message: str) -> None:
        """Print information about an input on standard error."""
        info(message)

    def open_side_file(self, path: str) -> tuple[Path, IO[str]]:
        """Open the file for the bad lines of an input; it appears when the block ends without an error."""
        name = "stdin" if path == "-" else Path(shown_name(path)).name
        folder = _folder_beside(path)
        number = 1
        while True:
            side_path = folder / f"{name}.errors{'' if number == 1 else f'-{number}'}.jsonl"
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
        if error is not None:
            return
        for file in self._files:
            for name, number in file.changed.items():
                warn(f"{shown_name(file.path)}: {number:,} {name}")
        if not self._total:
            return
        if self.on_error == "strict":
            raise DataError(self._listing())
        for file in self._files:
            if file.reasons:
                warn(file.summary())

    def _listing(self) -> str:
        many = f"{self._total} bad lines" if self._total > 1 else "1 bad line"
        rest = self._total - len(self._shown)
        messages = [message for _, _, message in sorted(self._shown)]
        shown = [f"  {message}" for message in messages] + ([f"  … and {rest} more"] if rest else [])
        remedy = f"correct {'them' if self._total > 1 else 'it'}"
        if self._skippable:
            remedy += ', or set bad lines aside with --on-error skip (in a config: on_error: "skip")'
        return "\n".join([f"{many}; {remedy}:", *shown])


def _folder_beside(path: str) -> Path:
    """The folder of a file; the current one for standard input, addresses, pipes, and files in read-only folders."""
    folder = Path(path).parent
    return folder if os.path.isfile(path) and os.access(folder, os.W_OK) else Path()


def _singular(name: str) -> str:
    first, space, rest = name.partition(" ")
    if rest and first not in ("posts", "records", "lines"):
        return first + space + rest.removesuffix("s")
    return first.removesuffix("s") + space + rest


def _free_for(side_path: Path, name: str) -> bool:
    """Whether the path is free, or has the bad lines of `name` from an earlier run."""
    try:
        with open(side_path, encoding="utf-8", errors="replace") as file:
            return json.loads(file.readline())["file"] == name
    except OSError:
        # Free, or not writable, which is reported when it is written.
        return not os.path.lexists(side_path)
    except (ValueError, KeyError, TypeError):
        return False
