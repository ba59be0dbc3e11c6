"""Labels that Label Studio wrote (https://labelstud.io/guide/export)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from linker.data.files.line_errors import LineError
from linker.data.labels import known_names
from linker.data.labels.collector import Collector, LabelsOf, answers_in, mappings, text_in
from linker.data.labels.records import ANSWER
from linker.data.labels.values import Parsed

_KINDS = ("choices", "taxonomy", "rating", "number", "labels")


def is_label_studio(values: Mapping[str, Any]) -> bool:
    """Return whether Label Studio wrote a record."""
    return isinstance(values.get("data"), Mapping) and "annotations" in values


def label_studio_labels(records: Sequence[Mapping[str, Any]], collector: Collector) -> LabelsOf:
    """Read annotations, and predictions as labels of machines; a canceled annotation is a skipped post."""
    collector.id_name = "data: post_id"
    control = collector.choose("control", records, _answers)
    return lambda values: _labels(values, control)


def _answers(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for annotation in mappings(values.get("annotations"), "annotations"):
        for region in filter(_kind, _regions(annotation)):
            yield _control(region), _answer(region)


def _labels(values: Mapping[str, Any], control: str | None) -> Iterator[dict[str, Any]]:
    if not isinstance(data := values.get("data"), Mapping):
        raise LineError("no post", "data is not a JSON object")
    ids = known_names.columns_of(known_names.IDS, data)
    post = {
        "post_id": data.get(ids[0]) if ids else None,
        "article_ids": [data.get("article_id")],
        **{name: data.get(name) for name in ("text", "platform", "author", "created_at", "sample", "blind")},
    }
    for key, is_machine in (("annotations", False), ("predictions", True)):
        for annotation in mappings(values.get(key), key):
            regions = _regions(annotation)
            names = ("model_version",) if is_machine else ("completed_by", "annotator")
            who = next(filter(None, (text_in(annotation.get(name)) for name in names)), None)
            yield {
                "value": Parsed("skip") if annotation.get("was_cancelled") else _value(regions, control),
                "annotator": who or ("prediction" if is_machine else None),
                "note": [
                    region["value"].get("text")
                    for region in regions
                    if region.get("type") == "textarea" and not _control(region).startswith(ANSWER)
                ],
                "answers": answers_in({_control(region): _answer(region) for region in regions}),
                "answers_time": annotation.get("answers_time"),
                "time": annotation.get("updated_at") or annotation.get("created_at"),
                "note_time": annotation.get("note_time"),
                "machine": is_machine,
                "adjudicated": annotation.get("ground_truth"),
                **post,
            }


def _value(regions: Sequence[Mapping[str, Any]], control: str | None) -> Any:
    """The fields that hold the label of an annotation."""
    if any("start" in region["value"] and "labels" in region["value"] for region in regions):
        raise LineError("spans", "its labels are of parts of the text; linker reads labels of whole posts")
    answers = [_answer(region) for region in regions if _kind(region) and control in (None, _control(region))]
    return [answer for answer in answers if answer not in (None, [])] or Parsed(None)


def _regions(annotation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    regions = mappings(annotation.get("result"), "result")
    return [region for region in regions if isinstance(region.get("value"), Mapping)]


def _kind(region: Mapping[str, Any]) -> str | None:
    return next((kind for kind in _KINDS if kind in region["value"]), None)


def _answer(region: Mapping[str, Any]) -> Any:
    return region["value"].get(_kind(region) or "text")


def _control(region: Mapping[str, Any]) -> str:
    return str(region.get("from_name") or region.get("type") or "label")
