"""Labels that Label Studio wrote (https://labelstud.io/guide/export)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from linker.data.files.line_errors import LineError
from linker.data.files.rows import Row
from linker.data.labels import known_names as known
from linker.data.labels.collector import (
    Collector,
    about_post,
    named_like_labels,
    post_id_of,
    text_in,
    time_in,
)
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import Parsed

_KINDS = ("choices", "taxonomy", "rating", "number", "labels")


class LabelStudioReader:
    """Reads annotations, and predictions as labels of machines; a canceled annotation is a skipped post."""

    def __init__(self) -> None:
        self._control: str | None = None

    @staticmethod
    def wrote(values: Mapping[str, Any]) -> bool:
        """Return whether a record is a task of Label Studio."""
        return isinstance(values.get("data"), Mapping) and (
            "annotations" in values or "completions" in values
        )

    def prepare(self, records: Sequence[Mapping[str, Any]], collector: Collector) -> None:
        """Choose the control with the labels: one with the name of labels, else the only one."""
        found: Counter[str] = Counter()
        for values in records:
            try:
                for annotation in _annotations(values, "annotations"):
                    found.update({_control(region) for region in _regions(annotation) if _kind(region)})
            except LineError:  # reported when it is read
                continue
        self._control = named_like_labels(found) or (next(iter(found)) if len(found) == 1 else None)
        where = f' in the control "{self._control}"' if self._control else ""
        collector.where = where or f" (controls: {', '.join(found) or 'none'})"
        collector.keys.update(f"control {name}" for name in found)

    def read(self, row: Row, collector: Collector) -> None:
        """Read the labels of a task.

        Raises:
            LineError: if the post's id is missing, or a task is not as Label Studio writes it.
        """
        values = row.values
        data = values.get("data")
        if not isinstance(data, Mapping):
            raise LineError("no post", "data is not a JSON object")
        labels: list[ImportedLabel] = []
        about = about_post(data, data.get("text"), data.get("article_id"))
        for key, machine in (("annotations", False), ("predictions", True)):
            for annotation in _annotations(values, key):
                parsed = self._parsed(annotation, row.line, collector)
                if parsed.value is None:
                    continue
                names = ("model_version",) if machine else ("completed_by", "annotator")
                who = next(filter(None, (text_in(annotation.get(name)) for name in names)), None)
                who = who or ("prediction" if machine else None)
                time = time_in(annotation.get("updated_at") or annotation.get("created_at"))
                labels.append(
                    ImportedLabel(
                        _post(data), who, parsed.value, _note(annotation), time, row.line, parsed.choice,
                        machine, bool(annotation.get("ground_truth")), **about,
                    )
                )  # fmt: skip
        collector.record(values, labels)

    def _parsed(self, annotation: Mapping[str, Any], line: int, collector: Collector) -> Parsed:
        if annotation.get("was_cancelled"):
            return Parsed("skip")
        fields = [
            field
            for region in _regions(annotation)
            if (kind := _kind(region)) and (self._control in (None, _control(region)))
            if (field := region["value"].get(kind)) not in (None, [])
        ]
        if any("start" in region["value"] and "labels" in region["value"] for region in _regions(annotation)):
            raise LineError(
                "spans", "its labels are of parts of the text; linker reads labels of whole posts"
            )
        return collector.parse(fields, line) if fields else Parsed(None)


def _post(data: Mapping[str, Any]) -> str:
    names = known.columns_of(known.IDS, data)
    post_id = post_id_of(data.get(names[0]), names[0]) if names else ""
    if not post_id and not data.get("text"):
        raise LineError("no post", "data: post_id is missing, so the label belongs to no post")
    return post_id


def _annotations(values: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    found = values.get(key) or (values.get("completions") if key == "annotations" else None) or []
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise LineError("not a list", f"{key} is not a list of JSON objects")
    yield from found


def _regions(annotation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = annotation.get("result") or []
    if not isinstance(found, list):
        raise LineError("not a list", "result is not a list")
    return [one for one in found if isinstance(one, Mapping) and isinstance(one.get("value"), Mapping)]


def _kind(region: Mapping[str, Any]) -> str | None:
    return next((kind for kind in _KINDS if kind in region["value"]), None)


def _control(region: Mapping[str, Any]) -> str:
    return str(region.get("from_name") or region.get("type") or "label")


def _note(annotation: Mapping[str, Any]) -> str:
    return "\n".join(
        text_in(region["value"].get("text"))
        for region in _regions(annotation)
        if region.get("type") == "textarea"
    )
