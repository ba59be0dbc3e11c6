"""How the dates of one column are read."""

from __future__ import annotations

from typing import Any

from linker.data.dates import AmbiguousDateError


class DateStyle:
    """How the dates of one column are read, and which were left out.

    Args:
        day_first: whether the day is first in dates like 5/6/2015; None: not known.
        undecided: leave out dates like 5/6/2015, since the column does not show which number is the day.
        guessed: nobody named this column: leave out what is no date.

    Attributes:
        left_out: how many values were.
        example: the first of them.
    """

    def __init__(self, day_first: bool | None = None, undecided: bool = False, guessed: bool = False) -> None:
        self.day_first, self._undecided, self._guessed = day_first, undecided, guessed
        self.left_out = 0
        self.example: Any = None

    def leaves_out(self, error: ValueError) -> bool:
        """Whether a value that raised this error is left out; otherwise its line is a bad one."""
        return self._guessed or (self._undecided and isinstance(error, AmbiguousDateError))

    def leave_out(self, value: Any) -> None:
        """Count a value that is left out."""
        if not self.left_out:
            self.example = value
        self.left_out += 1

    def note(self, name: str) -> str:
        """What to say of the values left out of the column called `name`, and what to do."""
        times = "1 date" if self.left_out == 1 else f"{self.left_out:,} dates"
        shown = str(self.example)[:40]
        if self._undecided:
            return (
                f'{times} in "{name}" left out: whether the day or the month is first in {shown!r} cannot be told '
                "from the column; write dates like 2015-05-26"
            )
        return f'{times} in "{name}" left out, such as {shown!r}: not read as a date'
