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
from linker.data.labels.collector import Collector, answers_in, text_in
from linker.data.labels.records import ANSWER
from linker.data.labels.values import is_true

# Objects in which tools keep the fields of the file that was given to them.
_NESTED = ("meta", "metadata", "data", "fields")
_LIST = re.compile(r"[|,;]")


class TableReader:
    """Reads the labels of rows whose columns are known by their names.

    Args:
        rows: all rows.
        columns: the header; None: JSON.
        guarded: whether apostrophes before formulas are removed.
        collector: receives what was guessed, and where labels and ids are.
        loose: whether names count as those of labels that are often something else in files of posts.

    Raises:
        DataError: if no column has labels or names posts; it lists the columns.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        columns: Sequence[str] | None,
        guarded: bool,
        collector: Collector,
        loose: bool = True,
    ) -> None:
        values = [flattened(row.values) for row in rows]
        self._guarded, self._filled = guarded, _filled(values)
        present = dict.fromkeys([*(columns or ()), *self._filled])
        self._present = [name for name in present if not name.startswith(ANSWER)]
        self._label: str | None = None
        self._coders: list[tuple[str, str]] = []
        self._settled: str | None = None
        self._flag: str | None = None
        self._find_labels(values, collector, loose)
        self._id = self._first_of(known.IDS)
        collector.id_name = self._id or collector.id_name
        self._coder = self._first_of(known.CODERS)
        self._articles = known.columns_of(known.ARTICLES, self._present)
        self._columns = {
            role: name for role, names in known.OTHERS.items() if (name := self._first_of(names))
        }
        if "annotation_id" in self._present:
            # In exports of Label Studio, it is the time of the annotation.
            self._columns.pop("created_at", None)
        self._check(collector, len(rows))

    def __call__(self, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Return the labels of a row, as fields of `ImportedLabel`.

        Raises:
            LineError: if labels are of parts of a text.
        """
        values = flattened(values)
        if self._guarded:
            values = {
                key: unguarded(value, SIGN) if isinstance(value, str) else value
                for key, value in values.items()
            }
        fields = {role: values.get(name) for role, name in self._columns.items()}
        fields |= {"post_id": values.get(self._id or ""), "article_ids": self._article_ids(values)}
        flags = {name: is_true(fields.get(name)) for name in ("machine", "blind")}
        fields |= {**flags, "answers": answers_in(values)}
        for value, coder, settled in self._labels(values):
            if isinstance(value, list) and any(isinstance(item, list) and len(item) == 3 for item in value):
                raise LineError(
                    "spans", "its labels are of parts of the text; linker reads labels of whole posts"
                )
            yield {**fields, "value": value, "annotator": coder, "adjudicated": settled}

    def _labels(self, values: Mapping[str, Any]) -> Iterator[tuple[Any, str, bool]]:
        """Yield the labels of a row with their coders, and whether they are adjudicated."""
        coder = text_in(values.get(self._coder or ""))
        if self._label is not None:
            settled = self._flag is not None and is_true(values.get(self._flag))
            yield values.get(self._label), coder, settled or normal(coder) in known.ADJUDICATED
        for name, who in self._coders:
            yield values.get(name), who, False
        if self._settled is not None:
            yield values.get(self._settled), "" if self._coders else coder, True

    def _article_ids(self, values: Mapping[str, Any]) -> list[str]:
        ids: list[str] = []
        for name in self._articles:
            field = values.get(name)
            items = _LIST.split(field) if isinstance(field, str) else field
            ids += [text_in(item).strip() for item in (items if isinstance(items, list) else [items])]
        return list(dict.fromkeys(ids))

    def _find_labels(self, rows: Sequence[Mapping[str, Any]], collector: Collector, loose: bool) -> None:
        """Find the columns of labels, of coders, and of adjudicated labels or of which labels are adjudicated."""
        self._label = self._first_of((*known.LABELS, *known.LOOSE_LABELS) if loose else known.LABELS)
        coders = ((name, who) for name in self._present if (who := known.coder_of(name)))
        self._coders = [pair for pair in coders if any(collector.value_in(row.get(pair[0])) for row in rows)]
        if self._label is not None and len(self._coders) < 2:
            self._coders = []
        settled = [name for name in known.columns_of(known.ADJUDICATED, self._present) if name != self._label]
        self._flag = next((name for name in settled if _are_flags(rows, name)), None)
        self._settled = next((name for name in settled if not _are_flags(rows, name)), None)
        if self._coders and self._label is not None:
            # `label_anna`, `label_ben` and `label`: the last is what was agreed on.
            self._settled, self._label = self._settled or self._label, None
        if self._label is None and not self._coders and self._settled:
            self._label, self._settled = self._settled, None

    def _first_of(self, names: Sequence[str]) -> str | None:
        """Return the first column with one of these names, but the label's, that has a value; else the first."""
        columns = known.columns_of(names, (name for name in self._present if name != self._label))
        return next((name for name in columns if self._filled.get(name)), columns[0] if columns else None)

    def _check(self, collector: Collector, rows: int) -> None:
        listed = ", ".join(self._present[:20]) + (", …" if len(self._present) > 20 else "")
        if self._label is None and not self._coders:
            raise DataError(
                f"{collector.shown}: no labels in this file: it has {rows:,} records, and none "
                f"has a label under a known name (columns: {listed}); write rows or objects with post_id and "
                "label"
            )
        if self._id is None and "text" not in self._columns:
            raise DataError(
                f"{collector.shown}: no column names the posts (columns: {listed}); name the column of ids post_id"
            )
        if self._coders:
            names = [name for name, _ in self._coders]
            collector.notes.append("a column per coder: " + ", ".join(f'"{name}"' for name in names))
            collector.where = f" in {', '.join(names)}"
            return
        collector.where = f' in the column "{self._label}"'
        read = {self._label, self._settled, *self._columns.values()}
        others = (name for name in known.columns_of(known.LABELS, self._present) if name not in read)
        ignored = ", ".join(f'"{name}"' for name in others if self._filled.get(name))
        if ignored or normal(self._label or "") not in ("label", "labels"):
            collector.notes.append(
                f'labels from "{self._label}"' + (f" (ignored: {ignored})" if ignored else "")
            )


def flattened(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the fields inside of metadata, unless it has such fields itself."""
    flat = dict(values)
    for outer in _NESTED:
        if isinstance(inner := values.get(outer), Mapping):
            flat = {**inner, **flat}
    return flat


def _filled(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the columns with the number of rows that have a value."""
    filled: dict[str, int] = {}
    for values in rows:
        for key, value in values.items():
            filled[key] = filled.get(key, 0) + (not is_missing(value) and value != [])
    return filled


def _are_flags(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether a column says whether a row is adjudicated, as `true` and `false` do, and holds no label."""
    values = (row.get(name) for row in rows)
    return all(
        str(value).strip().casefold() in ("", "true", "false") for value in values if value is not None
    )
