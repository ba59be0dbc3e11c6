"""The labels of a file as they are read, and its faults."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from linker.common.errors import DataError
from linker.data.files.line_errors import LineError
from linker.data.files.rows import Row
from linker.data.io.dates import parse_date
from linker.data.io.fields import clean_id, has_no_id, is_missing
from linker.data.labels import known_names
from linker.data.labels.post_labels import LabelFile
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import LabelValue, Parsed, UnknownLabelError, parse_label, parse_or_none

_SHOWN = 10
# Codes of surveys for missing answers: 9, 99, 77.
_CODE = re.compile(r"7+|8+|9+")


class Answer(NamedTuple):
    """A label as a tool writes it.

    Attributes:
        field: what holds the label; or the label.
        annotator: who gave it; None: unknown.
        note: the annotator's note, or empty.
        time: what holds its time.
        machine: whether a program gave it.
        adjudicated: whether it settles the labels of several annotators.
        choice: its name in a label set, unless the field is such a name.
    """

    field: Any
    annotator: str | None = None
    note: str = ""
    time: Any = None
    machine: bool = False
    adjudicated: bool = False
    choice: str | None = None


class LabelReader:
    """Base class of readers of the records of a tool.

    Args:
        collector: receives what was guessed, and where labels are.
    """

    def __init__(self, collector: Collector) -> None:
        self.collector = collector

    @staticmethod
    def wrote(values: Mapping[str, Any]) -> bool:
        """Return whether a record is one of the tool."""
        raise NotImplementedError

    def prepare(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Look at all records before they are read, to find what in them has the labels."""

    def answers(self, values: Mapping[str, Any]) -> Iterable[Answer]:
        """Return the labels of a record.

        Raises:
            LineError: if a record is not as the tool writes it.
        """
        raise NotImplementedError

    def post(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return id, text and so on of a record's post, as fields of `ImportedLabel`.

        Raises:
            LineError: if the post's id is missing.
        """
        raise NotImplementedError


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
        graded: whether labels are known to be grades from 0.
    """

    def __init__(self, shown: str, names: Mapping[str, LabelValue] | None = None) -> None:
        self.shown = shown
        self.labels: list[ImportedLabel] = []
        self.notes: list[str] = []
        self.keys: Counter[str] = Counter()
        self.where = ""
        self.graded = False
        self._names = names or {}
        self._records = self._without = 0
        self._unknown: dict[str, list[int]] = {}
        self._grades: Counter[float] = Counter()
        self._plain: Counter[LabelValue] = Counter()

    def read(
        self, rows: Iterable[Row], reader: LabelReader, bad: Callable[[int, LineError, str], None]
    ) -> None:
        """Take the labels that a reader finds in rows; `bad` receives line, fault and text of bad ones."""
        for row in rows:
            try:
                labeled = [
                    (answer, self.parse(answer.field, row.line)) for answer in reader.answers(row.values)
                ]
                labeled = [(answer, parsed) for answer, parsed in labeled if parsed.value is not None]
                post = reader.post(row.values) if labeled else {}
                labels = [
                    ImportedLabel(
                        annotator=answer.annotator, value=parsed.value, note=answer.note,
                        time=time_in(answer.time), line=row.line, choice=parsed.choice or answer.choice,
                        machine=answer.machine, adjudicated=answer.adjudicated, **post,
                    )
                    for answer, parsed in labeled
                    if parsed.value is not None
                ]  # fmt: skip
            except LineError as error:
                bad(row.line, error, row.raw)
            else:
                self.record(row.values, labels)

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

    def parse_or_none(self, field: Any) -> Parsed | None:
        """Return the label in a field; None if it is unknown."""
        return parse_or_none(field, self._names)

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
        if not self.graded and _CODE.fullmatch(f"{last:g}") and last - 1 not in grades:
            raise DataError(
                f"{self.shown}: the label {last:g} ×{self._grades[last]:,}{self.where} is rather a code for posts "
                "without a label than the highest grade; leave these cells empty"
            )
        if not self.graded and not self._plain["not"]:
            values = ", ".join(f"{grade:g}" for grade in [*([1] if self._plain["relevant"] else []), *grades])
            raise DataError(
                f"{self.shown}: the labels are the numbers {values[:60]}, and none is 0{self.where}; "
                "linker reads 0 as not and higher grades as relevant: write 0 or not for posts that are not relevant"
            )
        return f"{self._grades.total():,} grades up to {grades[-1]:g}: 0 is not, higher ones are relevant"


def post_id_of(field: Any, name: str) -> str:
    """Return the id of a record's post; empty if missing.

    Raises:
        LineError: if it is of another type, or was rounded.
    """
    return "" if has_no_id(field) else clean_id(field, name)


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


def about_post(
    record: Mapping[str, Any], post_id: str, text: Any, article: Any, missing: str = "post_id"
) -> dict[str, Any]:
    """Return what a record says of its post, as fields of `ImportedLabel`.

    Raises:
        LineError: if it has neither id nor text; `missing` is the key of the id.
    """
    article, text = text_in(article), text_in(text) or None
    if not post_id and text is None:
        raise LineError("no post", f"{missing} is missing, so the label belongs to no post")
    return {
        "post_id": post_id,
        "article_ids": (article,) if article else (),
        "text": text,
        "platform": text_in(record.get("platform")) or None,
        "author": text_in(record.get("author")) or None,
        "created_at": time_in(record.get("created_at"), strict=False),
    }


def named_like_labels(names: Iterable[str]) -> str | None:
    """Return the name that is most usual for labels; None: none is."""
    columns = known_names.columns_of((*known_names.LABELS, *known_names.LOOSE_LABELS), names)
    return columns[0] if columns else None


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


def _lines(lines: list[int]) -> str:
    listed = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
    return f"line{'s' if len(lines) > 1 else ''} {listed}"
