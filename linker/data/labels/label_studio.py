"""Labels that Label Studio wrote (https://labelstud.io/guide/export)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from linker.data.files.line_errors import LineError
from linker.data.labels import known_names as known
from linker.data.labels.collector import (
    Answer,
    LabelReader,
    about_post,
    named_like_labels,
    post_id_of,
    text_in,
)
from linker.data.labels.values import Parsed

_KINDS = ("choices", "taxonomy", "rating", "number", "labels")


class LabelStudioReader(LabelReader):
    """Reads annotations, and predictions as labels of machines; a canceled annotation is a skipped post."""

    _control: str | None = None

    @staticmethod
    def wrote(values: Mapping[str, Any]) -> bool:
        """See `LabelReader.wrote`."""
        return isinstance(values.get("data"), Mapping) and "annotations" in values

    def prepare(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Choose the control with the labels: one with the name of labels, else the only one."""
        regions_of: Counter[str] = Counter()
        for values in records:
            try:
                for annotation in _annotations(values, "annotations"):
                    regions_of.update({_control(region) for region in _regions(annotation) if _kind(region)})
            except LineError:  # reported when it is read
                continue
        self._control = named_like_labels(regions_of) or (
            next(iter(regions_of)) if len(regions_of) == 1 else None
        )
        where = f' in the control "{self._control}"' if self._control else ""
        self.collector.where = where or f" (controls: {', '.join(regions_of) or 'none'})"
        self.collector.keys.update(f"control {name}" for name in regions_of)

    def answers(self, values: Mapping[str, Any]) -> Iterator[Answer]:
        """See `LabelReader.answers`."""
        if not isinstance(values.get("data"), Mapping):
            raise LineError("no post", "data is not a JSON object")
        for key, machine in (("annotations", False), ("predictions", True)):
            for annotation in _annotations(values, key):
                names = ("model_version",) if machine else ("completed_by", "annotator")
                who = next(filter(None, (text_in(annotation.get(name)) for name in names)), None)
                who = who or ("prediction" if machine else None)
                time = annotation.get("updated_at") or annotation.get("created_at")
                settled = bool(annotation.get("ground_truth"))
                yield Answer(self._label(annotation), who, _note(annotation), time, machine, settled)

    def post(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """See `LabelReader.post`."""
        data = values["data"]
        names = known.columns_of(known.IDS, data)
        post_id = post_id_of(data.get(names[0]), names[0]) if names else ""
        return about_post(data, post_id, data.get("text"), data.get("article_id"), "data: post_id")

    def _label(self, annotation: Mapping[str, Any]) -> Any:
        """The label of an annotation, or the fields that hold it."""
        if annotation.get("was_cancelled"):
            return Parsed("skip")
        regions = _regions(annotation)
        if any("start" in region["value"] and "labels" in region["value"] for region in regions):
            raise LineError(
                "spans", "its labels are of parts of the text; linker reads labels of whole posts"
            )
        fields = [
            field
            for region in regions
            if (kind := _kind(region)) and (self._control in (None, _control(region)))
            if (field := region["value"].get(kind)) not in (None, [])
        ]
        return fields or Parsed(None)


def _annotations(values: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    items = values.get(key) or []
    if not isinstance(items, list) or not all(isinstance(annotation, Mapping) for annotation in items):
        raise LineError("not a list", f"{key} is not a list of JSON objects")
    yield from items


def _regions(annotation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    regions = annotation.get("result") or []
    if not isinstance(regions, list):
        raise LineError("not a list", "result is not a list")
    return [
        region
        for region in regions
        if isinstance(region, Mapping) and isinstance(region.get("value"), Mapping)
    ]


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
