"""Argilla 2: records and dataset settings (https://docs.argilla.io)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.codebook import Question
from linker.annotation.formats.jsonl import about
from linker.annotation.formats.label_format import LabeledPost, LabelFormat, by_post, sample_of, write_json
from linker.data.labels.argilla import user_id


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
        write_json(settings, _settings(guidelines, self.questions))
        return [path, settings]


def _record(group: Sequence[LabeledPost]) -> dict[str, Any]:
    post, given = group[0].post, [record for record in group if record.value]
    responses: dict[str, list[dict[str, Any]]] = {"label": [], "note": []}
    for record in given:
        user = user_id(record.annotator or "")
        skipped = record.value == "skip"
        status = "discarded" if skipped else "submitted"
        responses["label"].append(
            {"value": None if skipped else record.value, "user_id": user, "status": status}
        )
        others = {"note": record.note} if record.note else {}
        for question, answer in (others | record.columns).items():
            value = {"value": str(answer), "user_id": user, "status": status}
            responses.setdefault(question, []).append(value)
    metadata = {"post_id": post.id, "article_id": group[0].article_id, "score": group[0].score, **about(post)}
    metadata |= sample_of(group)
    return {
        "id": post.id,
        "fields": {"text": post.text},
        "metadata": {**metadata, "annotators": [record.annotator for record in given if record.annotator]},
        "suggestions": {},
        "responses": {question: answer for question, answer in responses.items() if answer},
        "vectors": {},
    }


def _settings(guidelines: str, asked: Sequence[Question]) -> dict[str, Any]:
    texts, hidden = {"type": "text", "use_markdown": False}, {"description": None}
    options = [
        {"value": value, "text": text, **hidden}
        for value, text in (("relevant",) * 2, ("not", "not relevant"))
    ]

    def choice(options: list[dict[str, Any]]) -> dict[str, Any]:
        return {"type": "label_selection", "options": options, "visible_options": None}

    def further(one: Question) -> dict[str, Any]:
        named = [{"value": str(option), "text": str(option), **hidden} for option in one.options]
        about = {"name": one.column, "title": one.text, "description": one.help or None}
        # Not even required ones: Argilla asks all questions of all posts.
        return {**about, "required": False, "settings": choice(named) if named else texts}

    score = {"name": "score", "title": "score", "visible_for_annotators": True, "settings": {"type": "float"}}
    question = "Is this post about the article?"
    return {
        "guidelines": guidelines or None,
        "fields": [{"name": "text", "title": "Post", "required": True, "settings": texts}],
        "questions": [
            {"name": "label", "title": question, **hidden, "required": True, "settings": choice(options)},
            {"name": "note", "title": "Note", **hidden, "required": False, "settings": texts},
            *map(further, asked),
        ],
        "metadata": [score],
        "vectors": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }
