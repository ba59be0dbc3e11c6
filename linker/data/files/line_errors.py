"""Bad lines of input files: reported, or set aside in `.errors.jsonl` files; and what else is counted of a file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal

from linker.common.console import info, warn
from linker.common.errors import DataError
from linker.common.files import atomic_write, json_text, local_name
from linker.data.files.streams import shown_name

OnError = Literal["strict", "skip"]
#: Bad lines that are listed at most.
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
    """An input file, and what was read of it so far.

    Args:
        path: the path or address as the user gave it.
        bad_lines: where its bad lines are reported; None: elsewhere, as the file is read once more.

    Attributes:
        shown: name of the file in messages.
        name: its name in results, which may be published: not where on this machine it is.
        lines: number of lines read.
        bytes: number of bytes read, compressed as in the file.
        posts: number of records made of it.
        reasons: number of bad lines by reason.
        left_out: number of blank lines, duplicates and repeated headers, and of records of a platform that are not
            posts, by name.
        other_texts: number of the duplicates whose text differs from that of the post that is kept.
        changed: number of characters that could not be read as they are, by what became of them.
        set_aside: the file with its bad lines; None: there is none.
        reading: how it is read: `format` of the table, or title of the platform's; `encoding` of text; `sheets`, that
            which is read first; `columns`; `names` of ours → of the columns; and `order`, see `FileColumns`.
    """

    def __init__(self, path: str, bad_lines: BadLines | None = None) -> None:
        self.path, self.shown, self._bad_lines = path, shown_name(path), bad_lines
        self.name = (local_name(self.shown) or self.shown).encode("utf-8", "replace").decode()  # for tables
        self.lines = self.bytes = self.posts = self.other_texts = 0
        self.reasons: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()
        self.set_aside: Path | None = None
        self.reading: dict[str, Any] = {}
        self._ids: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def count_bytes(self, number: int) -> None:
        """Count bytes that were read."""
        self.bytes += number

    def blank(self) -> None:
        """Count a line, or row, with nothing in it; it is left out."""
        self.left_out["blank lines"] += 1

    def count_id(self, kind: Literal["restored", "long", "rounded"], example: str) -> None:
        """Count an id that lost what a program had added, that is a long number, or such a one that seems rounded."""
        self._ids[kind] += 1
        self._examples.setdefault(kind, example)

    def bad(self, line: int, error: LineError, raw: str) -> None:
        """Report a bad line: its number from 1, the fault, and its text."""
        if self._bad_lines is not None:
            self.reasons[error.reason] += 1
            self._bad_lines.add(self, line, error, raw)

    def note(self, message: str) -> None:
        """Print how the file is read in one line on standard error."""
        if self._bad_lines is not None:
            self._bad_lines.info(f"{self.shown}: {message}")

    def report(self, notes: Iterable[str]) -> None:
        """Print notes in one line on standard error, with the ids that were restored, and warn of rounded ids.

        Ids seem to be rounded if at least two long ones do, and nine of ten.
        """
        if self._bad_lines is None:
            return
        notes = list(filter(None, notes))
        if restored := self._ids["restored"]:
            ids = counted(restored, "id")
            notes.insert(1, f"{ids} that a program had changed restored ({self._examples['restored']})")
        if notes:
            self._bad_lines.info(f"{self.shown}: {', '.join(notes)}")
        rounded, long = self._ids["rounded"], self._ids["long"]
        if rounded > max(1, 0.9 * long):
            self._bad_lines.warn(
                f"{self.shown}: {rounded:,} of {long:,} long ids end as if a program had rounded them "
                f"(such as {self._examples['rounded']}), and may name other posts; export ids as text"
            )

    @property
    def rows(self) -> int:
        """Number of rows: records made, left out, and bad ones."""
        return self.posts + self.left_out.total() + self.reasons.total()

    def account(self, kind: str, of: str | None = None) -> str:
        """Return what became of all rows, such as `2 posts of 5 rows; 2 blank lines left out, 1 bad line`.

        Args:
            kind: name of a record that was read.
            of: number and name of all of which these are; None: the rows.
        """
        others = f" ({self.other_texts:,} with another text)" if self.other_texts else ""
        rest = [
            f"{count:,} {_singular(name) if count == 1 else name}{others if name == DUPLICATES else ''}"
            for name, count in self.left_out.most_common()
        ]
        if rest:
            rest[-1] += " left out"
        if bad := self.reasons.total():
            rest.append(counted(bad, "bad line"))
        read = f"{counted(self.posts, kind)} of {of or counted(self.rows, 'row')}"
        return f"{read}; {', '.join(rest)}" if rest else read


def counted(number: int, name: str) -> str:
    """Return a number and a name, such as `1 post` and `2 posts`."""
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def _singular(name: str) -> str:
    first, space, rest = name.partition(" ")
    if rest and first not in ("posts", "records", "lines"):
        return first + space + rest.removesuffix("s")
    return first.removesuffix("s") + space + rest


class BadLines:
    """Collects the bad lines of several input files; a context manager.

    At the end of the block, `strict` raises a DataError if there were bad lines, with their number and the first 20;
    `skip` writes `<input>.errors.jsonl` files (file, line, reason, raw) and prints one line per input on standard
    error.

    Args:
        on_error: "strict" or "skip".
        skippable: whether the user could have asked for `skip`, which the error then recommends.

    Attributes:
        total: number of bad lines so far.
        files: the input files so far.
        notes: the lines printed so far: how files were read, what was guessed, converted or left out.
    """

    def __init__(self, on_error: OnError = "strict", skippable: bool = True) -> None:
        self.on_error, self._skippable = on_error, skippable
        self.total = 0
        self.files: list[InputFile] = []
        self._messages: list[tuple[int, int, str]] = []
        self._side_files: dict[Path, IO[str]] = {}
        self.notes: list[str] = []
        self._noted = ""
        self._stack = ExitStack()

    @property
    def bytes_read(self) -> int:
        """Number of bytes read from all files so far, for progress bars."""
        return sum(file.bytes for file in self.files)

    def file(self, path: str) -> InputFile:
        """Register the next input file."""
        self.files.append(InputFile(path, self))
        return self.files[-1]

    def add(self, file: InputFile, line: int, error: LineError, raw: str) -> None:
        """Count a bad line; the messages on the first are kept, or the lines set aside."""
        self.total += 1
        name = file.shown
        if len(self._messages) < SHOWN:
            self._messages.append((self.files.index(file), line, f"{name}, line {line}: {error}"))
        if self.on_error == "skip":
            side = file.set_aside = file.set_aside or _side_path(file.path)
            if side not in self._side_files:  # it appears when the block ends without an error
                self._side_files[side] = self._stack.enter_context(atomic_write(side))
            record = {"file": name, "line": line, "reason": str(error), "raw": raw}
            self._side_files[side].write(json_text(record) + "\n")

    def note(self, name: str, notes: Sequence[str]) -> None:
        """Print notes about an input in one line on standard error, unless the previous input had the same."""
        joined = ", ".join(notes)
        if joined and joined != self._noted:
            self._noted = joined
            self.info(f"{name}: {joined}")

    def info(self, message: str) -> None:
        """Print information about an input on standard error, and keep it in `notes`."""
        self.notes.append(message)
        info(message)

    def warn(self, message: str) -> None:
        """Print a warning about an input on standard error, and keep it in `notes`."""
        self.notes.append(message)
        warn(message)

    def __enter__(self) -> BadLines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, traceback)
        if error is not None:
            return
        for file in self.files:
            for name, number in file.changed.items():
                self.warn(f"{file.shown}: {number:,} {name}")
        if self.total and self.on_error == "strict":
            raise DataError(self._listing())
        for file in (file for file in self.files if file.set_aside):
            reasons = ", ".join(f"{count} {reason}" for reason, count in file.reasons.most_common())
            self.warn(
                f"{file.shown}: {file.reasons.total()} of {file.lines} lines set aside ({reasons}); "
                f"see {file.set_aside}"
            )

    def _listing(self) -> str:
        rest = self.total - len(self._messages)
        listed = [f"  {message}" for _, _, message in sorted(self._messages)]
        listed += [f"  … and {rest} more"] if rest else []
        remedy = f"correct {'them' if self.total > 1 else 'it'}"
        if self._skippable:
            remedy += ', or set bad lines aside with --on-error skip (in a config: on_error: "skip")'
        return "\n".join([f"{self.total} bad line{'s' * (self.total > 1)}; {remedy}:", *listed])


def _side_path(path: str) -> Path:
    """Return the path for the bad lines of an input: beside it.

    In the current folder for standard input, addresses, pipes, and files in read-only folders; inputs of one name share
    a file there.
    """
    name = "stdin" if path == "-" else Path(shown_name(path)).name
    folder = Path(path).parent
    beside = folder if os.path.isfile(path) and os.access(folder, os.W_OK) else Path()
    return beside / f"{name}.errors.jsonl"
