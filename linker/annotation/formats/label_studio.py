"""Label Studio: tasks with annotations (https://labelstud.io/guide/task_format), and a labeling config."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.jsonl import about, note_time
from linker.annotation.formats.label_format import LabeledPost, LabelFormat, by_post, sample_of, write_json
from linker.common.files import atomic_write

_CONFIG = """<View>
  <Header value="Is this post about the article $article_id?"/>
  <Text name="text" value="$text"/>
  <Choices name="label" toName="text" choice="single-radio" showInline="true" required="true">
    <Choice value="relevant" hotkey="1"/>
    <Choice value="not" hotkey="2"/>
  </Choices>
  <TextArea name="note" toName="text" rows="1" maxSubmissions="1" placeholder="Note" required="false"/>
</View>
"""


@LabelFormat.register("label_studio")
class LabelStudioFormat(LabelFormat):
    """A JSON list of tasks, one per post, and the labeling config in `NAME.config.xml`.

    A skipped post is a canceled annotation. Each task has a prediction without a label, whose score (a hundredth of the
    model's) the Data Manager can sort by. Label Studio credits all imported annotations to the importing user, because
    it accepts only the e-mail addresses of its users as annotators.
    """

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        tasks = []
        for number, group in enumerate(by_post(records), 1):
            post, score = group[0].post, group[0].score
            data = {"text": post.text, "post_id": post.id, "article_id": group[0].article_id, "score": score}
            data |= about(post) | sample_of(group)
            data.pop("created_at", None)  # Label Studio gives this name to the time of the annotation
            prediction = {"model_version": "linker", "score": score / 100, "result": []}
            annotations = [_annotation(record) for record in group if record.value]
            tasks.append(
                {"id": number, "data": data, "predictions": [prediction], "annotations": annotations}
            )
        config = path.with_name(f"{path.stem}.config.xml")
        write_json(path, tasks)
        with atomic_write(config) as file:
            file.write(_CONFIG)
        return [path, config]


def _annotation(record: LabeledPost) -> dict[str, Any]:
    result: list[dict[str, Any]] = []
    if record.value in ("relevant", "not"):
        result.append(_region("label", "choices", {"choices": [record.value]}))
    if record.note:
        result.append(_region("note", "textarea", {"text": [record.note]}))
    annotation: dict[str, Any] = {
        "result": result,
        "was_cancelled": record.value == "skip",
        **note_time(record),
    }
    if record.annotator:
        annotation["annotator"] = record.annotator
    if record.time:
        annotation["created_at"] = record.time.isoformat()
    return annotation


def _region(control: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": control, "from_name": control, "to_name": "text", "type": kind, "value": value}
