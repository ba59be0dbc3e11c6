"""Labels that Argilla 2 wrote (https://docs.argilla.io)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from linker.data.files.known_columns import normal
from linker.data.labels.collector import Collector, LabelsOf, answers_in, mapping, mappings, text_in
from linker.data.labels.values import Parsed


class _Response(NamedTuple):
    question: str
    user: str
    value: Any
    status: str = ""
    is_suggestion: bool = False


def is_argilla(values: Mapping[str, Any]) -> bool:
    """Return whether Argilla wrote a record."""
    return "responses" in values and ("fields" in values or "suggestions" in values)


def argilla_labels(records: Sequence[Mapping[str, Any]], collector: Collector) -> LabelsOf:
    """Read the responses to one question, and suggestions as labels of machines; a discarded response is a skip."""
    question = collector.choose(
        "question", records, lambda values: [(one.question, one.value) for one in _responses(values)]
    )
    if question and normal(question) != "label":
        collector.notes.append(f'labels from the question "{question}"')
    return lambda values: _labels(values, question or "label")


def _labels(values: Mapping[str, Any], question: str) -> Iterator[dict[str, Any]]:
    metadata, names = mapping(values.get("metadata"), "metadata"), {user_id(""): ""}
    listed = metadata.get("annotators")
    names |= {user_id(str(name)): str(name) for name in (listed if isinstance(listed, list) else [])}
    ids = (metadata.get("post_id"), *(values.get(name) for name in ("post_id", "external_id", "id")))
    post = {
        "post_id": next((id_ for id_ in ids if text_in(id_)), None),
        "text": mapping(values.get("fields"), "fields").get("text"),
        "article_ids": [metadata.get("article_id")],
        **{name: metadata.get(name) for name in ("platform", "author", "created_at", "sample", "blind")},
    }
    responses = list(_responses(values))
    notes = {response.user: response.value for response in responses if response.question == "note"}
    answers: dict[str, dict[str, Any]] = {}
    for response in responses:
        answers.setdefault(response.user, {})[response.question] = response.value
    for asked, user, value, status, is_machine in responses:
        if asked == question and status != "draft":
            yield {
                # Argilla writes discarded responses without a status, and mostly without a value.
                "value": Parsed("skip") if status == "discarded" or value is None else value,
                "annotator": user or "suggestion" if is_machine else names.get(user, user),
                "note": notes.get(user),
                "answers": answers_in(answers[user]),
                "machine": is_machine,
                **post,
            }


def user_id(name: str) -> str:
    """Return the UUID of an annotator in files that linker writes."""
    text = "linker:annotator:" + name.encode("utf-8", "backslashreplace").decode()
    return str(uuid.uuid5(uuid.NAMESPACE_URL, text))


def _responses(values: Mapping[str, Any]) -> Iterator[_Response]:
    """The responses of a record, then its suggestions."""
    for question, answers in mapping(values.get("responses"), "responses").items():
        for answer in mappings(answers, question):
            user, status = text_in(answer.get("user_id")), text_in(answer.get("status"))
            yield _Response(question, user, answer.get("value"), status)
    for question, item in mapping(values.get("suggestions"), "suggestions").items():
        suggestion = item if isinstance(item, Mapping) else {"value": item}
        if suggestion.get("value") is not None:
            yield _Response(
                question, text_in(suggestion.get("agent")), suggestion["value"], is_suggestion=True
            )
