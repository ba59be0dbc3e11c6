"""Labels in tables: a row per label, or a row per post with a column per coder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from linker.common.errors import DataError
from linker.data.files.formats.delimited import SIGN, unguarded
from linker.data.files.known_columns import normal
from linker.data.files.line_errors import LineError
from linker.data.files.rows import Row
from linker.data.io.fields import is_missing
from linker.data.labels import known_names as known
from linker.data.labels.collector import Answer, Collector, LabelReader, about_post, post_id_of, text_in
from linker.data.labels.values import is_true, parse_or_none

# Objects in which tools keep the fields of the file that was given to them.
_NESTED = ("meta", "metadata", "data", "fields")
_LIST = re.compile(r"[|,;]")


class TableReader(LabelReader):
    """Reads rows whose columns are known by their names.

    Args:
        rows: all rows.
        columns: the header; None: JSON.
        column: column of the labels; None: find it.
        guarded: whether apostrophes before formulas are removed.
        collector: receives what was guessed.

    Raises:
        DataError: if no column has labels or names posts; it lists the columns.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        columns: Sequence[str] | None,
        column: str | None,
        guarded: bool,
        collector: Collector,
        loose: bool = True,
    ) -> None:
        super().__init__(collector)
        values = [flattened(row.values) for row in rows]
        self._guarded, self._filled = guarded, _filled(values)
        self._present = list(dict.fromkeys([*(columns or ()), *self._filled]))
        self._asreview = "asreview_label" in self._present and column is None
        self.label: str | None = None
        self.label = self._label_column(column, loose)
        coders = ((name, who) for name in self._present if not column and (who := known.coder_of(name)))
        self._coders = [
            (name, who) for name, who in coders if any(_is_label(row.get(name)) for row in values)
        ]
        if self.label is not None and len(self._coders) < 2:
            self._coders = []
        settled = [name for name in known.columns_of(known.ADJUDICATED, self._present) if name != self.label]
        flags = [name for name in settled if _are_flags(values, name)]
        self._settled = next((name for name in settled if name not in flags), None) if not column else None
        self._flag = next(iter(flags), None)
        if self._coders and self.label is not None:
            # `label_anna`, `label_ben` and `label`: the last is what was agreed on.
            self._settled, self.label = self._settled or self.label, None
        if self.label is None and not self._coders and self._settled:
            self.label, self._settled = self._settled, None
        self.id = self._first_of(known.IDS)
        self._articles = known.columns_of(known.ARTICLES, self._present)
        self._columns = {role: self._first_of(names) for role, names in known.OTHERS.items()}
        if "annotation_id" in self._present:
            # In exports of Label Studio, it is the time of the annotation.
            self._columns["created_at"] = None
        self._coder = self._first_of(known.CODERS) or self._loose_coder(values)
        self._check(collector, len(rows))

    def answers(self, values: Mapping[str, Any]) -> Iterator[Answer]:
        """See `LabelReader.answers`."""
        values = self._fields_of(values)
        note, time = self._note_and_time(values)
        machine, choice = is_true(self._value(values, "machine")), self._text(values, "choice")
        for field, coder, settled in self._labels(values):
            if isinstance(field, list) and any(isinstance(item, list) and len(item) == 3 for item in field):
                raise LineError(
                    "spans", "its labels are of parts of the text; linker reads labels of whole posts"
                )
            yield Answer(field, coder, note, time, machine, settled, choice)

    def post(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """See `LabelReader.post`."""
        values = self._fields_of(values)
        post_id = post_id_of(values.get(self.id) if self.id else None, self.id or "id")
        about = {name: self._value(values, name) for name in ("platform", "author", "created_at")}
        post = about_post(about, post_id, self._value(values, "text"), None, self.id or "post_id")
        return {**post, "article_ids": self._article_ids(values), "sample": self._text(values, "sample")}

    def _fields_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        flat = flattened(values)
        if not self._guarded:
            return flat
        return {
            key: unguarded(value, SIGN) if isinstance(value, str) else value for key, value in flat.items()
        }

    def _value(self, values: Mapping[str, Any], role: str) -> Any:
        name = self._columns[role]
        return None if name is None else values.get(name)

    def _text(self, values: Mapping[str, Any], role: str) -> str | None:
        return text_in(self._value(values, role)) or None

    def _labels(self, values: Mapping[str, Any]) -> list[tuple[Any, str | None, bool]]:
        """Return the labels of a row with their coders, and whether they are adjudicated."""
        if self._asreview:
            user = text_in(values.get("asreview_user_name")) or text_in(values.get("asreview_user_email"))
            if not user and self._was_included(values):
                user = text_in(values.get("annotator"))
            return [(values.get("asreview_label"), user or None, False)]
        coder = text_in(values.get(self._coder)) or None if self._coder else None
        fields: list[tuple[Any, str | None, bool]] = []
        if self.label is not None:
            settled = self._flag is not None and is_true(values.get(self._flag))
            settled = settled or (coder is not None and normal(coder) in known.ADJUDICATED)
            fields.append((values.get(self.label), coder, settled))
        fields += [(values.get(name), who, False) for name, who in self._coders]
        if self._settled is not None:
            fields.append((values.get(self._settled), None if self._coders else coder, True))
        return fields

    def _note_and_time(self, values: Mapping[str, Any]) -> tuple[str, Any]:
        note, time = text_in(self._value(values, "note")), self._value(values, "time")
        if not self._asreview:
            return note, time
        if not self._was_included(values):
            note, time = "", None
        time = values.get("asreview_time") if is_missing(time) else time
        return text_in(values.get("asreview_note")) or note, time

    def _was_included(self, values: Mapping[str, Any]) -> bool:
        """Whether ASReview names no user of a label that was in the dataset before, as `included`."""
        if text_in(values.get("asreview_user_name")) or is_missing(values.get("included")):
            return False
        label = parse_or_none(values.get("asreview_label"))
        return label is not None and label == parse_or_none(values.get("included"))

    def _article_ids(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        ids: dict[str, None] = {}
        for name in self._articles:
            field = values.get(name)
            items = _LIST.split(field) if isinstance(field, str) else field
            items = items if isinstance(items, list) else [items]
            ids.update(dict.fromkeys(post_id_of(item, name) for item in items if not is_missing(item)))
        return tuple(ids)

    def _label_column(self, column: str | None, loose: bool) -> str | None:
        if column is not None:
            alike = (name for name in self._present if normal(name) == normal(column))
            return column if column in self._present else next(alike, None)
        if self._asreview:
            return "asreview_label"
        return self._first_of((*known.LABELS, *known.LOOSE_LABELS) if loose else known.LABELS)

    def _first_of(self, names: Sequence[str]) -> str | None:
        """Return the first column with one of these names, but the label's, that has a value; else the first."""
        columns = known.columns_of(names, (name for name in self._present if name != self.label))
        return next((name for name in columns if self._filled.get(name)), columns[0] if columns else None)

    def _loose_coder(self, values: Sequence[Mapping[str, Any]]) -> str | None:
        """Return a column such as `user`, if posts repeat; else it is probably the author of the post."""
        name = self._first_of(known.LOOSE_CODERS)
        if name is None or self.id is None:
            return None
        ids = [text_in(row.get(self.id)) for row in values]
        return name if len(set(ids)) < len(ids) else None

    def _check(self, collector: Collector, rows: int) -> None:
        listed = ", ".join(self._present[:20]) + (", …" if len(self._present) > 20 else "")
        if self.label is None and not self._coders:
            is_mapping = rows == 1 and self.id is None and self._columns["text"] is None
            hint = "; if these are ids of posts, write a list of objects with post_id and label" * is_mapping
            raise DataError(
                f"{collector.shown}: no labels in this file: it has {rows:,} records, and none "
                f"has a label under a known name (columns: {listed}); name the column of labels label{hint}"
            )
        if self.id is None and self._columns["text"] is None:
            raise DataError(
                f"{collector.shown}: no column names the posts (columns: {listed}); name the column of ids post_id"
            )
        if self._coders:
            collector.notes.append(
                "a column per coder: " + ", ".join(f'"{name}"' for name, _ in self._coders)
            )
            collector.where = f" in {', '.join(name for name, _ in self._coders)}"
        else:
            collector.where = f' in the column "{self.label}"'
            read = {self.label, self._settled, *self._columns.values()}
            label_columns = [] if self._asreview else known.columns_of(known.LABELS, self._present)
            ignored = [name for name in label_columns if name not in read and self._filled.get(name)]
            if ignored or normal(self.label or "") not in ("label", "labels", "asreviewlabel"):
                listed = ", ".join(f'"{name}"' for name in ignored)
                also = f" (ignored: {listed})" if ignored else ""
                collector.notes.append(f'labels from "{self.label}"{also}')


def is_machine(values: Mapping[str, Any]) -> bool:
    """Return whether a record says that a program gave its label."""
    return any(normal(name) in known.MACHINES and is_true(value) for name, value in values.items())


def flattened(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the fields inside of metadata, unless it has such fields itself."""
    flat = dict(values)
    for outer in _NESTED:
        if isinstance(inner := values.get(outer), Mapping):
            for key, value in inner.items():
                flat.setdefault(f"{key}", value)
    return flat


def _filled(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the columns with the number of rows that have a value."""
    filled: dict[str, int] = {}
    for values in rows:
        for key, value in values.items():
            filled[key] = filled.get(key, 0) + (not is_missing(value) and value != [])
    return filled


def _is_label(field: Any) -> bool:
    parsed = parse_or_none(field)
    return parsed is not None and parsed.value is not None


def _are_flags(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether a column says whether a row is adjudicated, as `true` and `false` do, and holds no label."""
    return all(
        isinstance(value, bool)
        or (isinstance(value, str) and value.strip().casefold() in ("", "true", "false"))
        for row in rows
        if (value := row.get(name)) is not None
    )
