"""The words, numbers and marks that files use for relevance labels."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from linker.common.files import read_sections

LabelValue: TypeAlias = Literal["relevant", "not", "skip"]

_VALUES: dict[str, LabelValue | None] = {
    word.strip(): None if name == "missing" else cast(LabelValue, name)
    for name, lines in read_sections(Path(__file__).with_name("values.ini")).items()
    for word in " | ".join(lines).split(" | ")
}
_VALUES[""] = None
#: Nested objects of tools that hold a label under one of these keys.
_INSIDE = ("choices", "choice", "rating", "taxonomy", "value", "label", "name", "text")
_EXPECTED = "use relevant, not or skip (also yes and no, 1 and 0, include and exclude)"


@dataclass(frozen=True)
class Parsed:
    """A label as a field holds it.

    Attributes:
        value: what it means; None if the post has no label.
        grade: the number, if the field holds one other than 0, 1 and -1.
        choice: its name, if it is that of a label set.
    """

    value: LabelValue | None
    grade: float | None = None
    choice: str | None = None


class UnknownLabelError(ValueError):
    """A field that is not a label.

    Attributes:
        shown: the field as text, shortened.
    """

    def __init__(self, shown: str) -> None:
        super().__init__(f"unknown label {shown!r}; {_EXPECTED}")
        self.shown = shown


def parse_label(field: Any, names: Mapping[str, LabelValue] | None = None) -> Parsed:
    """Return the label that a field holds, whatever its case and spacing.

    Args:
        field: a field of a table or JSON record: a word, number, truth value, or a list or object with one of these.
        names: names of labels in a label set, with what they mean; they precede the usual words and numbers.

    Raises:
        UnknownLabelError: if it is none, or holds several labels.
    """
    inner = _opened(field)
    if isinstance(inner, list):
        parsed_items = [parse_label(item, names) for item in inner]
        if len({(item_.value, item_.choice) for item_ in parsed_items}) > 1:
            raise UnknownLabelError(_shown(field))
        return parsed_items[0] if parsed_items else Parsed(None)
    if isinstance(inner, dict):
        raise UnknownLabelError(_shown(field))
    text = "" if inner is None else str(inner).strip()
    for name, value in (names or {}).items():
        if name.casefold() == text.casefold():
            return Parsed(value, choice=name)
    word = re.sub(r"[\s_-]+", " ", text).strip().casefold()
    if re.fullmatch(r"[+-]?\d{1,6}([.,]\d*)?", text):
        number = float(text.replace(",", "."))
        if number == -1:  # ASReview: no label; TREC: not judged
            return Parsed(None)
        if number >= 0:
            return Parsed("relevant" if number else "not", grade=None if number in (0, 1) else number)
    elif word in _VALUES:
        return Parsed(_VALUES[word])
    raise UnknownLabelError(_shown(field))


def parse_or_none(field: Any, names: Mapping[str, LabelValue] | None = None) -> Parsed | None:
    """Return the label that a field holds, as `parse_label`; None if it is none."""
    try:
        return parse_label(field, names)
    except UnknownLabelError:
        return None


def is_true(field: Any) -> bool:
    """Return whether a field says yes; what it does not say is no."""
    parsed = parse_or_none(field)
    return parsed is not None and parsed.value == "relevant"


def _opened(field: Any) -> Any:
    """Return what is inside lists in CSV, and inside objects and lists around a single value."""
    if isinstance(field, str) and field.lstrip().startswith(("[", "{")):
        try:
            field = json.loads(field)
        except ValueError:
            return field
    while True:
        if isinstance(field, dict) and (key := next((key for key in _INSIDE if key in field), None)):
            field = field[key]
        elif isinstance(field, list) and len(field) == 1:
            field = field[0]
        else:
            return field


def _shown(field: Any) -> str:
    return (field if isinstance(field, str) else json.dumps(field, ensure_ascii=False, default=str))[:60]
