"""Labels that Prodigy wrote (https://prodi.gy/docs/api-interfaces)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from linker.data.io.fields import is_missing
from linker.data.labels.collector import (
    Answer,
    Collector,
    LabelReader,
    about_post,
    post_id_of,
    text_in,
    time_in,
)
from linker.data.labels.table import flattened
from linker.data.labels.values import LabelValue, Parsed

_ANSWERS: dict[Any, LabelValue] = {"accept": "relevant", "reject": "not", "ignore": "skip"}
_HASHES = ("_input_hash", "_task_hash", "_session_id", "_annotator_id")
_IDS = ("post_id", "tweet_id", "status_id", "doc_id", "id", "record_id")


class ProdigyReader(LabelReader):
    """Reads answers; a task without one has no label."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        collector.where = ' under the key "answer"'

    @staticmethod
    def wrote(values: Mapping[str, Any]) -> bool:
        """See `LabelReader.wrote`."""
        return any(name in values for name in _HASHES) or values.get("answer") in _ANSWERS

    @staticmethod
    def asks(values: Mapping[str, Any]) -> bool:
        """Return whether a record is a task without an answer, whose `label` is the question."""
        return values.get("label") == "RELEVANT" and isinstance(values.get("meta"), Mapping)

    def answers(self, values: Mapping[str, Any]) -> Iterator[Answer]:
        """See `LabelReader.answers`."""
        values = flattened(values)
        # `time` is more precise, but Prodigy does not update it when a post is labeled again.
        stamp, exact = values.get("_timestamp"), time_in(values.get("time"), strict=False)
        if exact and (is_missing(stamp) or time_in(stamp, strict=False) == exact.replace(microsecond=0)):
            stamp = exact
        who = text_in(values.get("_annotator_id")) or text_in(values.get("_session_id")) or None
        yield Answer(_label(values, self.collector), who, text_in(values.get("note")), stamp)

    def post(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """See `LabelReader.post`."""
        values = flattened(values)
        name = next((name for name in _IDS if name in values), "post_id")
        article = values.get("article_id") or values.get("article")
        return about_post(values, post_id_of(values.get(name), name), values.get("text"), article)


def _label(values: Mapping[str, Any], collector: Collector) -> Any:
    """The label of a task, or the field that holds it."""
    answer = values.get("answer")
    if answer is None or answer == "":
        return Parsed(None)
    if answer not in _ANSWERS:
        return answer
    if answer != "accept":
        return Parsed(_ANSWERS[answer])
    if values.get("accept"):
        return values["accept"]
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
