"""The words that files use for relevance labels."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

LabelValue: TypeAlias = Literal["relevant", "not", "skip"]

_WORDS: dict[str, LabelValue] = {
    **dict.fromkeys(("relevant", "yes", "y", "true", "on", "1", "1.0"), "relevant"),
    **dict.fromkeys(("not", "not relevant", "irrelevant", "no", "n", "false", "off", "0", "0.0"), "not"),
    **dict.fromkeys(("skip", "skipped", "ignore"), "skip"),
}


def parse_label(value: Any, grades: bool = False) -> LabelValue | None:
    """Return the label that a field holds, whatever its case and spacing; None if the field is empty.

    Args:
        value: a field of a table or JSON record.
        grades: accept any number: above 0 is relevant.

    Raises:
        ValueError: if it is not a known word.
    """
    word = re.sub(r"[\s_-]+", " ", "" if value is None else str(value)).strip().lower()
    if not word:
        return None
    if word in _WORDS:
        return _WORDS[word]
    if grades:
        try:
            return "relevant" if float(str(value)) > 0 else "not"
        except ValueError:
            pass
    expected = "1 or 0, true or false, yes or no" if grades else "relevant, not or skip"
    raise ValueError(f"unknown label {str(value)[:60]!r}; use {expected}")
