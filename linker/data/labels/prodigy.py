"""Labels that Prodigy wrote (https://prodi.gy/docs/api-interfaces)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from linker.data.files.known_columns import words
from linker.data.io.fields import is_missing
from linker.data.labels.collector import Collector, LabelsOf, answers_in, text_in, time_in
from linker.data.labels.table import flattened
from linker.data.labels.values import LabelValue, Parsed

_ANSWERS: dict[Any, LabelValue] = {"accept": "relevant", "reject": "not", "ignore": "skip"}
_HASHES = ("_input_hash", "_task_hash", "_session_id", "_annotator_id")
_IDS = ("post_id", "tweet_id", "status_id", "doc_id", "id", "record_id")


def is_prodigy(values: Mapping[str, Any]) -> bool:
    """Return whether Prodigy wrote a record."""
    return any(name in values for name in _HASHES) or values.get("answer") in _ANSWERS


def is_task(values: Mapping[str, Any]) -> bool:
    """Return whether a record is a task for Prodigy without an answer, whose `label` is the question."""
    return values.get("label") == "RELEVANT" and isinstance(values.get("meta"), Mapping)


def prodigy_labels(collector: Collector) -> LabelsOf:
    """Read answers; a task without one has no label."""
    collector.where = ' under the key "answer"'

    def labels(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        values = flattened(values)
        # `time` is more precise, but Prodigy does not update it when a post is labeled again.
        stamp, exact = values.get("_timestamp"), time_in(values.get("time"), strict=False)
        if exact and (is_missing(stamp) or time_in(stamp, strict=False) == exact.replace(microsecond=0)):
            stamp = exact
        yield {
            **{
                name: values.get(name)
                for name in words("text note note_time answers_time platform author created_at sample blind")
            },
            "value": _value(values, collector),
            "answers": answers_in(values),
            "post_id": next((values[name] for name in _IDS if name in values), None),
            "annotator": text_in(values.get("_annotator_id")) or values.get("_session_id"),
            "time": stamp,
            "article_ids": [values.get("article_id") or values.get("article")],
        }

    return labels


def _value(values: Mapping[str, Any], collector: Collector) -> Any:
    """The label of a task, or the field that holds it."""
    answer = values.get("answer")
    if answer != "accept":
        return Parsed(_ANSWERS[answer]) if answer in _ANSWERS else answer or Parsed(None)
    if values.get("accept"):
        return values["accept"]
    if "accept" in values:  # no option was chosen: no label if an option means `not`
        options = values.get("options")
        options = options if isinstance(options, list) else []
        meanings = [collector.value_in(option.get("id")) for option in options if isinstance(option, Mapping)]
        return Parsed(None if "not" in meanings else "not")
    # Accepting the label NOT of a binary task says that the post is not relevant; any other label is the question.
    return Parsed(collector.value_in(values.get("label")) or "relevant")
