"""Labels that Argilla wrote (https://docs.argilla.io)."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from linker.data.files.known_columns import normal
from linker.data.files.line_errors import LineError
from linker.data.files.rows import Row
from linker.data.labels.collector import Collector, about_post, named_like_labels, post_id_of, text_in
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import Parsed


class _Answer(NamedTuple):
    question: str
    user: str
    value: Any
    status: str = ""
    is_suggestion: bool = False


class ArgillaReader:
    """Reads the responses to one question, and suggestions as labels of machines; a discarded response is a skip."""

    def __init__(self) -> None:
        self._question = "label"

    @staticmethod
    def wrote(values: Mapping[str, Any]) -> bool:
        """Return whether a record is one of Argilla."""
        return ("responses" in values and ("fields" in values or "suggestions" in values)) or any(
            key.endswith((".responses", ".suggestion")) for key in values
        )

    def prepare(self, records: Sequence[Mapping[str, Any]], collector: Collector) -> None:
        """Choose the question: one with the name of labels, else the only one whose answers are labels."""
        answers: Counter[str] = Counter()
        good: Counter[str] = Counter()
        for values in records:
            try:
                for answer in list(_answers(values)):
                    parsed = collector.parse_or_none(answer.value)
                    answers[answer.question] += 1
                    good[answer.question] += parsed is not None and parsed.value is not None
            except LineError:  # reported when it is read
                continue
        fitting = [question for question in answers if 2 * good[question] >= answers[question]]
        chosen = named_like_labels(answers) or (fitting[0] if len(fitting) == 1 else None)
        self._question = chosen or "label"
        questions = ", ".join(answers) or "none"
        collector.where = f' under the question "{chosen}"' if chosen else f" (questions: {questions})"
        collector.keys.update(f"question {question}" for question in answers)
        if chosen and normal(chosen) != "label":
            collector.notes.append(f'labels from the question "{chosen}"')

    def read(self, row: Row, collector: Collector) -> None:
        """Read the labels of a record.

        Raises:
            LineError: if the post's id is missing, or a record is not as Argilla writes it.
        """
        values = row.values
        metadata = _object(values.get("metadata") or {}, "metadata")
        names = metadata.get("annotators") or []
        users: dict[str, str | None] = {user_id(""): None}
        users |= {user_id(str(name)): str(name) for name in names if isinstance(names, list)}
        answers = list(_answers(values))
        notes = {answer.user: text_in(answer.value) for answer in answers if answer.question == "note"}
        fields = values.get("fields") if isinstance(values.get("fields"), Mapping) else values
        about = about_post(metadata, (fields or {}).get("text"), metadata.get("article_id"))
        labels = []
        for answer in answers:
            if answer.question != self._question or answer.status == "draft":
                continue
            # Argilla writes discarded responses without a status, and mostly without a value.
            skipped = answer.status == "discarded" or answer.value is None
            parsed = Parsed("skip") if skipped else collector.parse(answer.value, row.line)
            if parsed.value is None:
                continue
            name = users.get(answer.user, answer.user or None)
            note = notes.get(answer.user, "")
            if answer.is_suggestion:
                name, note = answer.user or "suggestion", ""
            labels.append(
                ImportedLabel(
                    _post_id(values, metadata), name, parsed.value, note, None, row.line, parsed.choice,
                    answer.is_suggestion, **about,
                )
            )  # fmt: skip
        collector.record(values, labels)


def user_id(name: str) -> str:
    """Return the UUID of an annotator in files that linker writes."""
    text = "linker:annotator:" + name.encode("utf-8", "backslashreplace").decode()
    return str(uuid.uuid5(uuid.NAMESPACE_URL, text))


def _answers(values: Mapping[str, Any]) -> Iterator[_Answer]:
    """The responses of a record, then its suggestions: of Argilla 1, of Argilla 2, and of data sets of Hugging Face."""
    responses, suggestions = values.get("responses"), values.get("suggestions") or {}
    for item in responses if isinstance(responses, list) else []:
        response = _object(item, "responses")
        for question, answer in _object(response.get("values") or {}, "values").items():
            value = answer.get("value") if isinstance(answer, Mapping) else answer
            yield _Answer(question, text_in(response.get("user_id")), value, text_in(response.get("status")))
    if responses is not None and not isinstance(responses, list):
        for question, items in _object(responses, "responses").items():
            for item in items if isinstance(items, list) else []:
                answer = _object(item, question)
                user, status = text_in(answer.get("user_id")), text_in(answer.get("status"))
                yield _Answer(question, user, answer.get("value"), status)
    for key, items in values.items():
        if key.endswith(".responses") and isinstance(items, list):
            users, states = (
                [*map(text_in, values.get(f"{key}.{name}") or [])] for name in ("users", "status")
            )
            for place, value in enumerate(items):
                user, status = (some[place] if place < len(some) else "" for some in (users, states))
                yield _Answer(key.removesuffix(".responses"), user, value, status)
    if isinstance(suggestions, list):
        suggestions = {
            item.get("question_name") or "label": item for item in suggestions if isinstance(item, Mapping)
        }
    found = {}
    for question, item in _object(suggestions, "suggestions").items():
        suggestion = item if isinstance(item, Mapping) else {"value": item}
        found[question] = (text_in(suggestion.get("agent")), suggestion.get("value"))
    for key, value in values.items():
        if key.endswith(".suggestion"):
            found[key.removesuffix(".suggestion")] = (text_in(values.get(f"{key}.agent")), value)
    for question, (agent, value) in found.items():
        if value is not None:
            yield _Answer(question, agent, value, is_suggestion=True)


def _post_id(values: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    for record, name in ((metadata, "post_id"), (values, "post_id"), (values, "external_id"), (values, "id")):
        if post_id := post_id_of(record.get(name), name):
            return post_id
    raise LineError("no post", "id is missing, so the label belongs to no post")


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise LineError("not a JSON object", f"{name}: not a JSON object")
    return value
