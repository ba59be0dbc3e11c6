"""The labels that annotators choose from, and what each means for learning and stopping."""

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from linker.annotation.session.events import Event
from linker.common.errors import RefusedError
from linker.data.labels.values import LabelValue

_VALUES = get_args(LabelValue)
_MOST = 9
_LONGEST = 40


#: The labels of sessions that have no label set: name → value.
USUAL: dict[str, LabelValue] = {"Relevant": "relevant", "Not relevant": "not", "Skip": "skip"}


class LabelSet:
    """The labels of a session.

    Args:
        choices: the labels in order, as `name` and `value`; empty: the usual three.

    Attributes:
        values: name of each label on the page and in exports → what it counts as: `relevant`, `not`, or `skip`
            (no label).
        named: whether several names have the same value, so that a label needs its name.
        meanings: what the names mean, for reading files; empty for the usual ones.
    """

    def __init__(self, choices: Sequence[Mapping[str, str]] = ()) -> None:
        self.meanings = {one["name"]: cast(LabelValue, one["value"]) for one in choices}
        self.values = self.meanings or USUAL
        self.named = len(set(self.values.values())) < len(self.values)

    def check(self, value: str | None, name: str | None) -> None:
        """Check a label.

        Raises:
            RefusedError: if the value is unknown, or the name is none of this value.
        """
        if value not in _VALUES:
            raise RefusedError(f"unknown label {value!r}; use {', '.join(_VALUES[:-1])} or {_VALUES[-1]}")
        if name is not None and self.values.get(name) != value:
            names = ", ".join(self.values)
            raise RefusedError(f"unknown label {name[:60]!r} ({value}); this session has {names}")

    def _only_name(self, value: LabelValue | None) -> str | None:
        names = [name for name in self.values if self.values[name] == value]
        return names[0] if len(names) == 1 else None

    def name_of(self, value: LabelValue, choice: str | None) -> str:
        """Return the name of a label; for a value without a name in this set, the usual one."""
        return choice or self._only_name(value) or next(name for name in USUAL if USUAL[name] == value)

    def name(self, label: Event) -> str | None:
        """Return the name of a label; None if several have its value, or no label needs one."""
        return label.choice or (self._only_name(label.value) if self.named else None)

    def as_json(self) -> list[dict[str, str]]:
        """Return the choices as JSON."""
        return [{"name": name, "value": value} for name, value in self.values.items()]


def label_set_problem(choices: Sequence[Any]) -> str | None:
    """Return what is wrong with a label set; None if nothing is."""
    if len(choices) > _MOST:
        return f"{len(choices)} labels; at most {_MOST}, so that each has a key"
    names: set[str] = set()
    for number, one in enumerate(choices, 1):
        name = one.get("name") if isinstance(one, Mapping) else None
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST or not name.isprintable():
            return f"label {number} needs a name of 1 to {_LONGEST} characters"
        if one.get("value") not in _VALUES:
            return f"label {name!r} counts as {one.get('value')!r}; use {', '.join(_VALUES)}"
        if name.casefold() in names:
            return f"label {name!r} is there twice"
        names.add(name.casefold())
    missing = {"relevant", "not"} - {one["value"] for one in choices}
    if choices and missing:
        return f"no label counts as {' and none as '.join(sorted(missing))}; at least one must"
    return None
