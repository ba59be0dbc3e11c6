"""Which columns of a file hold texts, ids, times and languages where they have other names than ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linker.data.columns import Columns, PostColumns
from linker.data.dates import AmbiguousDateError, parse_date
from linker.data.fields import is_missing
from linker.data.known_names import FULLER, KNOWN_NAMES, TITLES, normal

Rows = Sequence[Mapping[str, Any]]

_WORDS = {"text": "text", "id": "id", "created_at": "time", "lang": "language"}
# Numbers, addresses and dates are no texts, whatever their column is called: `comments` often counts them.
_NO_TEXT = re.compile(r"\s*([\d.,:/+-]*|https?://\S+|at://\S+)\s*")
_REPEATED = 0.1
"""The share of values that may be there twice in a column of ids: more, and it is that of something else."""
_DATES = 0.5
"""The share of values that must be dates in a column of times."""


@dataclass
class Guess:
    """What was found out about a file's columns.

    Attributes:
        names: by our name those of the file, where they differ from what was asked; None: it has none.
        notes: what to tell the user, in parts of one line.
        guessed: our columns that were guessed.
        likely: our name → a column that may be meant but was not taken.
    """

    names: dict[str, list[str] | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    guessed: set[str] = field(default_factory=set)
    likely: dict[str, str] = field(default_factory=dict)


def guess(columns: Columns, present: Sequence[str], rows: Rows) -> Guess:
    """Guess those columns of posts that keep our names and are not in the file.

    Of several that may be meant, the one that stands first in `KNOWN_NAMES` is taken and the others are named in the
    notes. A column is taken only if what it holds fits: texts are not numbers or addresses, at least half of the
    times are dates, at most a tenth of the ids are repeated.

    Args:
        columns: what was asked for; other columns than those of posts are not guessed.
        present: the columns of the file.
        rows: its first rows.
    """
    found = Guess()
    if not isinstance(columns, PostColumns):
        return found
    taken = {name for ours in columns.ours() for name in columns.names(ours) if name in present}
    for ours in ("text", "id", "created_at", "lang"):
        if columns.names(ours) != [ours]:  # named by the user, or not to be read
            if any(name not in present for name in columns.names(ours)):
                _suggest(found, ours, present, rows)
            continue
        if ours in present:
            if ours == "text":
                _fuller_text(found, present, rows)
            continue
        if ours == "lang" and "language" in present:  # understood everywhere
            continue
        _guess_one(found, ours, [name for name in present if name not in taken], rows)
        taken.update(found.names.get(ours) or [])
    return found


def _guess_one(found: Guess, ours: str, free: Sequence[str], rows: Rows) -> None:
    order = {name: place for place, name in enumerate(KNOWN_NAMES[ours])}
    named = [name for name in free if normal(name) in order]
    fitting = [name for name in named if _fits(ours, [row.get(name) for row in rows])]
    fitting.sort(key=lambda name: order[normal(name)])
    if not fitting:
        if ours == "id":
            unfit = f' ("{named[0]}" is no id: empty, or the same in many lines)' if named else ""
            found.names["id"] = None
            found.notes.append(f"ids are the line numbers{unfit}")
        elif ours == "text" and (longest := _longest(free, rows)):
            found.likely["text"] = longest
        return
    chosen, *others = fitting
    names = [chosen]
    if ours == "text":
        titles = [name for name in free if normal(name) in TITLES and name != chosen]
        names = titles[:1] + names
        others = [name for name in others if name not in names]
    found.names[ours] = names
    found.guessed.add(ours)
    also = f" (also there: {_quoted(others)})" if others else ""
    found.notes.append(f"{_WORDS[ours]} from {' and '.join(_quoted([name]) for name in names)}{also}")


def _suggest(found: Guess, ours: str, present: Sequence[str], rows: Rows) -> None:
    """Find what is meant where the user named a column that is not there."""
    other = Guess()
    if ours in present:
        found.likely[ours] = ours
    else:
        _guess_one(other, ours, present, rows)
        found.likely.update(other.likely)
        if names := other.names.get(ours):
            found.likely[ours] = names[-1]


def _fuller_text(found: Guess, present: Sequence[str], rows: Rows) -> None:
    """Tell of a column whose texts may be whole where those of `text` were cut, as in old tweets."""
    fuller = [
        name
        for name in present
        if normal(name) in FULLER and any(_length(row.get(name)) > _length(row.get("text")) for row in rows)
    ]
    if fuller:
        found.notes.append(
            f'text from "text" (longer: "{fuller[0]}"; take it with --column text={fuller[0]})'
        )


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str) else 0


def _fits(ours: str, values: Sequence[Any]) -> bool:
    filled = [value for value in values if not is_missing(value)]
    if not filled:
        return False
    if ours == "text":
        texts = [value for value in filled if isinstance(value, str)]
        return len(texts) == len(filled) and not all(map(_NO_TEXT.fullmatch, texts))
    if ours == "id":
        labels = [value for value in filled if isinstance(value, (str, int)) and not isinstance(value, bool)]
        repeated = len(labels) - len({str(label).strip() for label in labels})
        return len(labels) == len(filled) == len(values) and repeated <= _REPEATED * len(labels)
    if ours == "created_at":
        return sum(map(_is_date, filled)) >= _DATES * len(filled)
    return all(isinstance(value, (str, list)) and len(str(value)) < 40 for value in filled)


def _is_date(value: Any) -> bool:
    try:
        parse_date(value)
    except AmbiguousDateError:
        return True
    except ValueError:
        return False
    return True


def _longest(names: Sequence[str], rows: Rows) -> str | None:
    """The column with the longest texts, in characters, if any holds words; paths into objects are looked at, too."""
    lengths: dict[str, int] = {}
    for row in rows:
        for name, value in _strings({name: row.get(name) for name in names}, ""):
            if " " in value.strip():
                lengths[name] = lengths.get(name, 0) + len(value)
    known = {name for name in lengths if normal(name.rpartition(".")[2]) in KNOWN_NAMES["text"]}
    return max(known or lengths, key=lambda name: lengths[name], default=None)


def _strings(values: Mapping[str, Any], above: str) -> list[tuple[str, str]]:
    """All strings in nested objects, with their dotted paths, not more than five levels deep."""
    found = []
    for name, value in values.items():
        path = f"{above}{name}"
        if isinstance(value, str):
            found.append((path, value))
        elif isinstance(value, Mapping) and path.count(".") < 5:
            found += _strings(value, f"{path}.")
    return found


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
