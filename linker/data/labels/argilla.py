"""Labels that Argilla 2 wrote (https://docs.argilla.io), as records or as a data set of Hugging Face."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from linker.data.files.known_columns import normal
from linker.data.files.line_errors import LineError
from linker.data.labels.collector import (
    Answer,
    LabelReader,
    about_post,
    named_like_labels,
    post_id_of,
    text_in,
)
from linker.data.labels.values import Parsed


class _Response(NamedTuple):
    question: str
    user: str
    value: Any
    status: str = ""
    is_suggestion: bool = False


class ArgillaReader(LabelReader):
    """Reads the responses to one question, and suggestions as labels of machines; a discarded response is a skip."""

    _question = "label"

    @staticmethod
    def wrote(values: Mapping[str, Any]) -> bool:
        """See `LabelReader.wrote`."""
        return ("responses" in values and ("fields" in values or "suggestions" in values)) or any(
            key.endswith((".responses", ".suggestion")) for key in values
        )

    def prepare(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Choose the question: one with the name of labels, else the only one whose answers are labels."""
        collector = self.collector
        answers: Counter[str] = Counter()
        good: Counter[str] = Counter()
        for values in records:
            try:
                for response in list(_responses(values)):
                    parsed = collector.parse_or_none(response.value)
                    answers[response.question] += 1
                    good[response.question] += parsed is not None and parsed.value is not None
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

    def answers(self, values: Mapping[str, Any]) -> Iterator[Answer]:
        """See `LabelReader.answers`."""
        names = _object(values.get("metadata") or {}, "metadata").get("annotators")
        users: dict[str, str | None] = {user_id(""): None}
        users |= {user_id(str(name)): str(name) for name in (names if isinstance(names, list) else [])}
        responses = list(_responses(values))
        notes = {
            response.user: text_in(response.value) for response in responses if response.question == "note"
        }
        for question, user, value, status, machine in responses:
            if question != self._question or status == "draft":
                continue
            # Argilla writes discarded responses without a status, and mostly without a value.
            field = Parsed("skip") if status == "discarded" or value is None else value
            if machine:
                yield Answer(field, user or "suggestion", machine=True)
            else:
                yield Answer(field, users.get(user, user or None), notes.get(user, ""))

    def post(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """See `LabelReader.post`."""
        metadata = _object(values.get("metadata") or {}, "metadata")
        fields = values.get("fields") if isinstance(values.get("fields"), Mapping) else values
        ids = ((metadata, "post_id"), (values, "post_id"), (values, "external_id"), (values, "id"))
        post_id = next(filter(None, (post_id_of(record.get(name), name) for record, name in ids)), "")
        if not post_id:
            raise LineError("no post", "id is missing, so the label belongs to no post")
        return about_post(metadata, post_id, (fields or {}).get("text"), metadata.get("article_id"))


def user_id(name: str) -> str:
    """Return the UUID of an annotator in files that linker writes."""
    text = "linker:annotator:" + name.encode("utf-8", "backslashreplace").decode()
    return str(uuid.uuid5(uuid.NAMESPACE_URL, text))


def _responses(values: Mapping[str, Any]) -> Iterator[_Response]:
    """The responses of a record, then its suggestions; in data sets of Hugging Face, they are columns."""
    for question, items in _object(values.get("responses") or {}, "responses").items():
        for item in items if isinstance(items, list) else []:
            answer = _object(item, question)
            user, status = text_in(answer.get("user_id")), text_in(answer.get("status"))
            yield _Response(question, user, answer.get("value"), status)
    suggestions = dict(_object(values.get("suggestions") or {}, "suggestions"))
    for key, items in values.items():
        if key.endswith(".responses") and isinstance(items, list):
            users, states = (
                [*map(text_in, values.get(f"{key}.{name}") or [])] for name in ("users", "status")
            )
            for place, value in enumerate(items):
                user, status = (some[place] if place < len(some) else "" for some in (users, states))
                yield _Response(key.removesuffix(".responses"), user, value, status)
        elif key.endswith(".suggestion"):
            suggestions[key.removesuffix(".suggestion")] = {
                "value": items,
                "agent": values.get(f"{key}.agent"),
            }
    for question, item in suggestions.items():
        suggestion = item if isinstance(item, Mapping) else {"value": item}
        if suggestion.get("value") is not None:
            yield _Response(
                question, text_in(suggestion.get("agent")), suggestion["value"], is_suggestion=True
            )


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise LineError("not a JSON object", f"{name}: not a JSON object")
    return value
