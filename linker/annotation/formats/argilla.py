"""Argilla 2: records and dataset settings (https://docs.argilla.io)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.label_format import (
    LabelFormat,
    a_list,
    an_object,
    by_post,
    id_of,
    read_json_list,
    text_of,
    value_of,
    write_json,
)
from linker.annotation.formats.records import ImportedLabel, LabeledPost


@LabelFormat.register("argilla")
class ArgillaFormat(LabelFormat):
    """Records for `dataset.records.from_json`, one per post, and the dataset's settings in `NAME.settings.json`.

    Argilla identifies annotators by UUIDs, which are derived from their names; a server accepts only responses of its
    users. A skipped post is a discarded response. The format has no times.
    """

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        settings = path.with_name(f"{path.stem}.settings.json")
        write_json(path, [_record(group) for group in by_post(records)])
        write_json(settings, _settings(guidelines))
        return [path, settings]

    def read(self, path: Path) -> list[ImportedLabel]:
        """Return the labels of a file, in its order."""
        labels = []
        for number, where, record in read_json_list(path):
            metadata = an_object(record.get("metadata") or {}, f"{where}: metadata")
            names = [str(name) for name in a_list(metadata.get("annotators"), f"{where}: annotators")]
            known = {_user(name): name for name in names}
            post_id = text_of(metadata, "post_id", where) or id_of(record, where, "id")
            questions = an_object(record.get("responses") or {}, f"{where}: responses")
            responses = {
                question: [
                    an_object(answer, f"{where}: {question}")
                    for answer in a_list(questions.get(question), f"{where}: {question}")
                ]
                for question in ("label", "note")
            }
            notes = {answer.get("user_id"): text_of(answer, "value", where) for answer in responses["note"]}
            for response in responses["label"]:
                user, value = text_of(response, "user_id", where), value_of(response.get("value"), where)
                # Argilla writes discarded responses without a status, and mostly without a value.
                if response.get("status") == "discarded" or value is None:
                    value = "skip"
                note = notes.get(response.get("user_id"), "")
                name = None if user == _user("") else known.get(user, user or None)
                if response.get("status") != "draft":
                    labels.append(ImportedLabel(post_id, name, value, note, None, number))
        return labels


def _record(group: Sequence[LabeledPost]) -> dict[str, Any]:
    post, given = group[0].post, [record for record in group if record.value]
    responses: dict[str, list[dict[str, Any]]] = {"label": [], "note": []}
    for record in given:
        user = _user(record.annotator or "")
        skipped = record.value == "skip"
        status = "discarded" if skipped else "submitted"
        responses["label"].append(
            {"value": None if skipped else record.value, "user_id": user, "status": status}
        )
        if record.note:
            responses["note"].append({"value": record.note, "user_id": user, "status": status})
    metadata = {"post_id": post.id, "article_id": group[0].article_id, "score": group[0].score}
    return {
        "id": post.id,
        "fields": {"text": post.text},
        "metadata": {**metadata, "annotators": [record.annotator for record in given if record.annotator]},
        "suggestions": {},
        "responses": {question: answer for question, answer in responses.items() if answer},
        "vectors": {},
    }


def _user(name: str) -> str:
    return str(
        uuid.uuid5(
            uuid.NAMESPACE_URL, "linker:annotator:" + name.encode("utf-8", "backslashreplace").decode()
        )
    )


def _settings(guidelines: str) -> dict[str, Any]:
    options = [
        {"value": "relevant", "text": "relevant", "description": None},
        {"value": "not", "text": "not relevant", "description": None},
    ]
    return {
        "guidelines": guidelines or None,
        "fields": [
            {
                "name": "text",
                "title": "Post",
                "required": True,
                "settings": {"type": "text", "use_markdown": False},
            }
        ],
        "questions": [
            {
                "name": "label",
                "title": "Is this post about the article?",
                "description": None,
                "required": True,
                "settings": {"type": "label_selection", "options": options, "visible_options": None},
            },
            {
                "name": "note",
                "title": "Note",
                "description": None,
                "required": False,
                "settings": {"type": "text", "use_markdown": False},
            },
        ],
        "metadata": [
            {"name": "score", "title": "score", "visible_for_annotators": True, "settings": {"type": "float"}}
        ],
        "vectors": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }
