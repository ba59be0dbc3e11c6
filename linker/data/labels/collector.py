"""The labels of a file as they are read, and its faults."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from linker.common.errors import DataError
from linker.data.files.line_errors import LineError
from linker.data.files.rows import Row
from linker.data.io.dates import parse_date
from linker.data.io.fields import clean_id, has_no_id, is_missing
from linker.data.labels import known_names
from linker.data.labels.post_labels import LabelFile
from linker.data.labels.records import ANSWER, ImportedLabel
from linker.data.labels.values import LabelValue, Parsed, UnknownLabelError, parse_label, parse_or_none

#: Returns the labels of a record as fields of `ImportedLabel`, as they are written; `value` is the label.
LabelsOf: TypeAlias = Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]

_SHOWN = 10
# Codes of surveys for missing answers: 9, 99, 77.
_CODE = re.compile(r"7+|8+|9+")


class Collector:
    """Collects the labels of a file, counts records without one, and lists unknown labels together.

    Args:
        shown: name of the file in messages.
        names: names of labels in a label set, with what they mean.

    Attributes:
        labels: the labels so far.
        notes: what was guessed or converted, for the user.
        keys: keys of the records so far, with the number of records that have them.
        where: where labels were looked for, for messages.
        id_name: where the ids of posts are, for messages.
    """

    def __init__(self, shown: str, names: Mapping[str, LabelValue] | None = None) -> None:
        self.shown = shown
        self.labels: list[ImportedLabel] = []
        self.notes: list[str] = []
        self.keys: Counter[str] = Counter()
        self.where, self.id_name = "", "post_id"
        self._names = names or {}
        self._records = self._without = 0
        self._unknown: dict[str, list[int]] = {}
        self._grades: Counter[float] = Counter()
        self._plain: Counter[LabelValue] = Counter()

    def read(
        self, rows: Iterable[Row], labels_of: LabelsOf, bad: Callable[[int, LineError, str], None]
    ) -> None:
        """Take the labels in rows; `bad` receives line, fault and text of bad ones."""
        for row in rows:
            try:
                read = [self._label(fields, row.line) for fields in labels_of(row.values)]
            except LineError as error:
                bad(row.line, error, row.raw)
            else:
                self.record(row.values, [label for label in read if label is not None])

    def _label(self, fields: Mapping[str, Any], line: int) -> ImportedLabel | None:
        parsed = self.parse(fields.get("value"), line)
        if parsed.value is None:
            return None
        text, post_id = text_in(fields.get("text")) or None, fields.get("post_id")
        if (no_id := has_no_id(post_id)) and text is None:
            raise LineError("no post", f"{self.id_name} is missing, so the label belongs to no post")
        return ImportedLabel(
            post_id="" if no_id else clean_id(post_id, self.id_name.rpartition(" ")[2]),
            annotator=text_in(fields.get("annotator")) or None,
            value=parsed.value,
            note=text_in(fields.get("note")),
            time=time_in(fields.get("time")),
            line=line,
            choice=parsed.choice or text_in(fields.get("choice")) or None,
            machine=bool(fields.get("machine")),
            adjudicated=bool(fields.get("adjudicated")),
            article_ids=tuple(filter(None, map(text_in, fields.get("article_ids", ())))),
            text=text,
            platform=text_in(fields.get("platform")) or None,
            author=text_in(fields.get("author")) or None,
            created_at=time_in(fields.get("created_at"), strict=False),
            sample=text_in(fields.get("sample")) or None,
            note_time=time_in(fields.get("note_time"), strict=False),
            answers=fields.get("answers"),
            answers_time=time_in(fields.get("answers_time"), strict=False),
            blind=bool(fields.get("blind")),
        )

    def record(self, keys: Iterable[str], labels: list[ImportedLabel]) -> None:
        """Take the labels of a record."""
        self.keys.update(list(keys))
        self._records += 1
        self._without += not labels
        self.labels += labels

    def parse(self, field: Any, line: int) -> Parsed:
        """Return the label in a field, or that is one; an unknown one is remembered, and read as none."""
        if isinstance(field, Parsed):
            return field
        try:
            parsed = parse_label(field, self._names)
        except UnknownLabelError as error:
            self._unknown.setdefault(error.shown, []).append(line)
            return Parsed(None)
        if parsed.grade is not None:
            self._grades[parsed.grade] += 1
        elif parsed.value is not None and parsed.choice is None:
            self._plain[parsed.value] += 1
        return parsed

    def value_in(self, field: Any) -> LabelValue | None:
        """Return what the label in a field means; None if there is none, or an unknown one."""
        parsed = parse_or_none(field, self._names)
        return None if parsed is None else parsed.value

    def choose(
        self,
        kind: str,
        records: Iterable[Mapping[str, Any]],
        answers: Callable[[Mapping[str, Any]], Iterable[tuple[str, Any]]],
    ) -> str | None:
        """Return the question that asks for labels: one with the name of labels, else the only one that has labels.

        Args:
            kind: what a tool calls it, for messages.
            records: the records of the tool.
            answers: returns the names of questions, and the answers to them, in a record.
        """
        questions: dict[str, bool] = {}
        for values in records:
            with suppress(LineError):  # reported when it is read
                for name, answer in list(answers(values)):
                    questions[name] = questions.get(name, False) or self.value_in(answer) is not None
        labels = [name for name, has_labels in questions.items() if has_labels]
        columns = known_names.columns_of((*known_names.LABELS, *known_names.LOOSE_LABELS), questions)
        chosen = columns[0] if columns else labels[0] if len(labels) == 1 else None
        self.where = (
            f' in the {kind} "{chosen}"' if chosen else f" ({kind}s: {', '.join(questions) or 'none'})"
        )
        self.keys.update(f"{kind} {name}" for name in questions)
        return chosen

    def result(self) -> LabelFile:
        """Return what was read.

        Raises:
            DataError: if labels are unknown, or no record has one.
        """
        self._check_unknown()
        if not self.labels:
            keys = ", ".join(list(self.keys)[:20]) or "none"
            raise DataError(
                f"{self.shown}: no labels in this file: it has {self._records:,} records, and none has a label"
                f"{self.where} (keys: {keys}); write each label in a column named label"
            )
        if self._grades:
            self.notes.append(self._graded())
        return LabelFile(self.shown, self.labels, self._records, self._without, tuple(self.notes)).by()

    def _check_unknown(self) -> None:
        if not self._unknown:
            return
        total = sum(map(len, self._unknown.values()))
        counted = sorted(self._unknown.items(), key=lambda item: -len(item[1]))
        listed = "".join(f"\n  {_lines(lines)}: {word!r} ×{len(lines):,}" for word, lines in counted[:_SHOWN])
        more = f"\n  … and {len(counted) - _SHOWN} more" if len(counted) > _SHOWN else ""
        words = "yes and no, 1 and 0, include and exclude" + "".join(f", {name}" for name in self._names)
        raise DataError(
            f"{self.shown}: {total:,} {'label is' if total == 1 else 'labels are'} unknown{self.where}; "
            f"write relevant, not or skip (also {words}):{listed}{more}"
        )

    def _graded(self) -> str:
        grades = sorted(self._grades)
        last = grades[-1]
        if _CODE.fullmatch(f"{last:g}") and last - 1 not in grades:
            raise DataError(
                f"{self.shown}: the label {last:g} ×{self._grades[last]:,}{self.where} is rather a code for posts "
                "without a label than the highest grade; leave these cells empty"
            )
        if not self._plain["not"]:
            values = ", ".join(f"{grade:g}" for grade in [*([1] if self._plain["relevant"] else []), *grades])
            raise DataError(
                f"{self.shown}: the labels are the numbers {values[:60]}, and none is 0{self.where}; "
                "linker reads 0 as not and higher grades as relevant: write 0 or not for posts that are not relevant"
            )
        return f"{self._grades.total():,} grades up to {grades[-1]:g}: 0 is not, higher ones are relevant"


def answers_in(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fields `answer_KEY` and those of an object `answers`, by key; None if there are none."""
    found = {name.removeprefix(ANSWER): field for name, field in fields.items() if name.startswith(ANSWER)}
    inner = fields.get("answers")
    return {**found, **inner} if isinstance(inner, Mapping) else found or None


def text_in(field: Any) -> str:
    """Return a text, number or list of texts as text; empty if missing."""
    if isinstance(field, list):
        return "\n".join(filter(None, map(text_in, field)))
    if isinstance(field, dict):
        return next(
            (text_in(field[key]) for key in ("email", "username", "name", "text", "id") if field.get(key)), ""
        )
    if isinstance(field, float) and field.is_integer():
        return str(int(field))
    return "" if is_missing(field) else str(field)


def time_in(field: Any, strict: bool = True) -> Any:
    """Return the time in a field, in UTC; None if missing.

    Args:
        field: the field.
        strict: whether what is no time is a fault; else it is none.

    Raises:
        LineError: if it is no time.
    """
    if is_missing(field):
        return None
    try:
        return parse_date(field)
    except ValueError as error:
        if not strict:
            return None
        raise LineError("unreadable time", str(error)) from error


def mapping(value: Any, name: str) -> Mapping[str, Any]:
    """Return a JSON object, which may be missing.

    Raises:
        LineError: if it is something else.
    """
    if not isinstance(value or {}, Mapping):
        raise LineError("not a JSON object", f"{name}: not a JSON object")
    return value or {}


def mappings(value: Any, name: str) -> list[Mapping[str, Any]]:
    """Return a list of JSON objects, which may be missing.

    Raises:
        LineError: if it is something else.
    """
    if not isinstance(value or [], list):
        raise LineError("not a list", f"{name} is not a list")
    return [mapping(item, name) for item in value or []]


def _lines(lines: list[int]) -> str:
    listed = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
    return f"line{'s' if len(lines) > 1 else ''} {listed}"
