"""Labels that Argilla wrote (https://docs.argilla.io)."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from linker.data.io.known_columns import normal
from linker.data.io.line_errors import LineError
from linker.data.io.rows import Row
from linker.data.labels.collector import Collector, about_post, named_like_labels, post_id_of, text_in
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import Parsed

_FLAT = (".responses", ".suggestion")


class _Answer(NamedTuple):
    user: str
    value: Any
    status: str


class ArgillaReader:
    """Reads the responses to one question, and suggestions as labels of machines; a discarded response is a skip."""

    def __init__(self) -> None:
        self._question = "label"

    @staticmethod
    def wrote(values: Mapping[str, Any]) -> bool:
        """Return whether a record is one of Argilla."""
        return ("responses" in values and ("fields" in values or "suggestions" in values)) or any(
            key.endswith(_FLAT) for key in values
        )

    def prepare(self, records: Sequence[Mapping[str, Any]], collector: Collector) -> None:
        """Choose the question: one with the name of labels, else the only one whose answers are labels."""
        answers: Counter[str] = Counter()
        good: Counter[str] = Counter()
        for values in records:
            try:
                parts = _responses(values), _suggestions(values)
            except LineError:  # reported when it is read
                continue
            for part in parts:
                for question, given in part.items():
                    answers[question] += len(given)
                    parsed = [collector.parse_or_none(one.value) for one in given]
                    good[question] += sum(one is not None and one.value is not None for one in parsed)
        fitting = [q for q in answers if good[q] and 2 * good[q] >= answers[q]]
        found = named_like_labels(answers) or (fitting[0] if len(fitting) == 1 else None)
        self._question = found or "label"
        questions = ", ".join(answers) or "none"
        collector.where = f' under the question "{found}"' if found else f" (questions: {questions})"
        collector.keys.update(f"question {question}" for question in answers)
        if found and normal(found) != "label":
            collector.notes.append(f'labels from the question "{found}"')

    def read(self, row: Row, collector: Collector) -> None:
        """Read the labels of a record.

        Raises:
            LineError: if the post's id is missing, or a record is not as Argilla writes it.
        """
        values = row.values
        metadata = _object(values.get("metadata") or {}, "metadata")
        names = metadata.get("annotators") or []
        known_users = {user_id(str(name)): str(name) for name in names if isinstance(names, list)}
        responses = _responses(values)
        notes = {answer.user: text_in(answer.value) for answer in responses.get("note", [])}
        labels = []
        for answer in responses.get(self._question, []):
            if answer.status == "draft":
                continue
            # Argilla writes discarded responses without a status, and mostly without a value.
            skipped = answer.status == "discarded" or answer.value is None
            parsed = Parsed("skip") if skipped else collector.parse(answer.value, row.line)
            name = None if answer.user == user_id("") else known_users.get(answer.user, answer.user or None)
            if parsed.value is not None:
                labels.append((name, parsed, notes.get(answer.user, ""), False))
        for answer in _suggestions(values).get(self._question, []):
            parsed = collector.parse(answer.value, row.line)
            if parsed.value is not None:
                labels.append((answer.user or "suggestion", parsed, "", True))
        fields = values.get("fields") if isinstance(values.get("fields"), Mapping) else values
        about = about_post(metadata, (fields or {}).get("text"), metadata.get("article_id"))
        post_id = _post_id(values, metadata) if labels else ""
        made = [
            ImportedLabel(post_id, name, one.value, note, None, row.line, one.choice, machine, **about)
            for name, one, note, machine in labels
            if one.value is not None
        ]
        collector.record(values, made)


def user_id(name: str) -> str:
    """Return the UUID of an annotator in files that linker writes."""
    text = "linker:annotator:" + name.encode("utf-8", "backslashreplace").decode()
    return str(uuid.uuid5(uuid.NAMESPACE_URL, text))


def _responses(values: Mapping[str, Any]) -> dict[str, list[_Answer]]:
    found: dict[str, list[_Answer]] = {}
    given = values.get("responses")
    if isinstance(given, list):  # Argilla 1
        for item in given:
            response = _object(item, "responses")
            user, status = text_in(response.get("user_id")), text_in(response.get("status"))
            answers = _object(response.get("values") or {}, "values")
            for question, answer in answers.items():
                value = answer.get("value") if isinstance(answer, Mapping) else answer
                found.setdefault(question, []).append(_Answer(user, value, status))
    elif given is not None:
        for question, answers in _object(given, "responses").items():
            for item in answers if isinstance(answers, list) else []:
                answer = _object(item, question)
                user, status = text_in(answer.get("user_id")), text_in(answer.get("status"))
                found.setdefault(question, []).append(_Answer(user, answer.get("value"), status))
    for key, answers in values.items():
        if key.endswith(".responses") and isinstance(answers, list):
            question = key.removesuffix(".responses")
            users, states = (values.get(f"{key}.{name}") or [] for name in ("users", "status"))
            for place, value in enumerate(answers):
                user = text_in(users[place]) if place < len(users) else ""
                status = text_in(states[place]) if place < len(states) else ""
                found.setdefault(question, []).append(_Answer(user, value, status))
    return found


def _suggestions(values: Mapping[str, Any]) -> dict[str, list[_Answer]]:
    given = values.get("suggestions") or {}
    found: dict[str, list[_Answer]] = {}
    if isinstance(given, list):  # Argilla 1
        given = {one.get("question_name") or "label": one for one in given if isinstance(one, Mapping)}
    for question, item in _object(given, "suggestions").items():
        suggestion = item if isinstance(item, Mapping) else {"value": item}
        if suggestion.get("value") is not None:
            found[question] = [_Answer(text_in(suggestion.get("agent")), suggestion["value"], "")]
    for key, value in values.items():
        if key.endswith(".suggestion") and value is not None:
            agent = text_in(values.get(f"{key}.agent"))
            found[key.removesuffix(".suggestion")] = [_Answer(agent, value, "")]
    return found


def _post_id(values: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    for record, name in ((metadata, "post_id"), (values, "post_id"), (values, "external_id"), (values, "id")):
        if post_id := post_id_of(record.get(name), name):
            return post_id
    raise LineError("no post", "id is missing, so the label belongs to no post")


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise LineError("not a JSON object", f"{name}: not a JSON object")
    return value
