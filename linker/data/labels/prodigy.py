"""Labels that Prodigy wrote (https://prodi.gy/docs/api-interfaces)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linker.data.files.line_errors import LineError
from linker.data.files.rows import Row
from linker.data.labels.collector import Collector, about_post, post_id_of, text_in, time_in
from linker.data.labels.records import ImportedLabel
from linker.data.labels.table import flattened
from linker.data.labels.values import LabelValue, Parsed

_ANSWERS: dict[Any, LabelValue] = {"accept": "relevant", "reject": "not", "ignore": "skip"}
_HASHES = ("_input_hash", "_task_hash", "_session_id", "_annotator_id")
_IDS = ("post_id", "tweet_id", "status_id", "doc_id", "id", "record_id")


class ProdigyReader:
    """Reads answers; a task without one has no label."""

    @staticmethod
    def wrote(values: Mapping[str, Any]) -> bool:
        """Return whether a record is a task of Prodigy."""
        return any(name in values for name in _HASHES) or values.get("answer") in _ANSWERS

    @staticmethod
    def asks(values: Mapping[str, Any]) -> bool:
        """Return whether a record is a task without an answer, whose `label` is the question."""
        return values.get("label") == "RELEVANT" and isinstance(values.get("meta"), Mapping)

    def read(self, row: Row, collector: Collector) -> None:
        """Read the label of a task.

        Raises:
            LineError: if the post's id is missing, or the answer cannot be read.
        """
        values, labels = flattened(row.values), []
        collector.where = ' under the key "answer"'
        parsed = _label(values, row.line, collector)
        if parsed.value is not None:
            name = next((name for name in _IDS if name in values), "post_id")
            post_id, text = post_id_of(values.get(name), name), text_in(values.get("text")) or None
            if not post_id and text is None:
                raise LineError("no post", "post_id is missing, so the label belongs to no post")
            # `time` is more precise, but Prodigy does not update it when a post is labeled again.
            time, exact = time_in(values.get("_timestamp")), time_in(values.get("time"), strict=False)
            time = exact if exact and time in (None, exact.replace(microsecond=0)) else time
            who = text_in(values.get("_annotator_id")) or text_in(values.get("_session_id")) or None
            about = about_post(values, text, values.get("article_id") or values.get("article"))
            note = text_in(values.get("note"))
            labels.append(
                ImportedLabel(post_id, who, parsed.value, note, time, row.line, parsed.choice, **about)
            )
        collector.record(row.values, labels)


def _label(values: Mapping[str, Any], line: int, collector: Collector) -> Parsed:
    answer = values.get("answer")
    if answer is None or answer == "":
        return Parsed(None)
    if answer not in _ANSWERS:
        return collector.parse(answer, line)
    if answer != "accept":
        return Parsed(_ANSWERS[answer])
    if values.get("accept"):
        return collector.parse(values["accept"], line)
    if "accept" in values:  # no option was chosen: no label if an option means `not`
        options = values.get("options")
        options = options if isinstance(options, list) else []
        meanings = [collector.parse_or_none(o.get("id")) for o in options if isinstance(o, Mapping)]
        return Parsed(None if any(parsed and parsed.value == "not" for parsed in meanings) else "not")
    label = values.get("label")
    if label is None or str(label).casefold() in ("relevant", ""):
        return Parsed("relevant")
    # Accepting the label NOT of a binary task says that the post is not relevant; any other label is the question.
    known_label = collector.parse_or_none(label)
    return known_label if known_label is not None and known_label.value is not None else Parsed("relevant")
