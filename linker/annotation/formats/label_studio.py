"""Label Studio: tasks with annotations (https://labelstud.io/guide/task_format), and a labeling config."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from linker.annotation.codebook import Question
from linker.annotation.formats.jsonl import about, other_times
from linker.annotation.formats.label_format import LabeledPost, LabelFormat, by_post, sample_of, write_json
from linker.common.files import atomic_write

# The questions of a codebook go where the percent sign is.
_CONFIG = """<View>
  <Header value="Is this post about the article $article_id?"/>
  <Text name="text" value="$text"/>
  <Choices name="label" toName="text" choice="single-radio" showInline="true" required="true">
    <Choice value="relevant" hotkey="1"/>
    <Choice value="not" hotkey="2"/>
  </Choices>
  <TextArea name="note" toName="text" rows="1" maxSubmissions="1" placeholder="Note" required="false"/>
%s</View>
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
        tasks, texts = [], [one.column for one in self.questions if not one.options]
        for number, group in enumerate(by_post(records), 1):
            post, score = group[0].post, group[0].score
            data = {"text": post.text, "post_id": post.id, "article_id": group[0].article_id, "score": score}
            data |= about(post) | sample_of(group)
            data.pop("created_at", None)  # Label Studio gives this name to the time of the annotation
            prediction = {"model_version": "linker", "score": score / 100, "result": []}
            annotations = [_annotation(record, texts) for record in group if record.value]
            tasks.append(
                {"id": number, "data": data, "predictions": [prediction], "annotations": annotations}
            )
        config = path.with_name(f"{path.stem}.config.xml")
        write_json(path, tasks)
        with atomic_write(config) as file:
            file.write(_CONFIG % "".join(map(_control, self.questions)))
        return [path, config]


def _control(question: Question) -> str:
    """Return the header and the control of a question, shown if it is asked of the post."""
    when = ' visibleWhen="choice-selected" whenTagName="label" whenChoiceValue="relevant"'
    control = "Choices" if question.options else "TextArea"
    choices = "".join(f"\n      <Choice value={quoteattr(str(one))}/>" for one in question.options)
    single = ' choice="single-radio" showInline="true"' if choices else ' maxSubmissions="1"'
    return (
        f"  <View{when if question.relevant_only else ''}>\n    <Header value={quoteattr(question.text)}/>\n"
        f'    <{control} name="{question.column}" toName="text"{single} '
        f'required="{str(question.required).lower()}">{choices}\n    </{control}>\n  </View>\n'
    )


def _annotation(record: LabeledPost, texts: Collection[str]) -> dict[str, Any]:
    result: list[dict[str, Any]] = []
    if record.value in ("relevant", "not"):
        result.append(_region("label", "choices", {"choices": [record.value]}))
    if record.note:
        result.append(_region("note", "textarea", {"text": [record.note]}))
    for name, answer in record.columns.items():
        kind, field = ("textarea", "text") if name in texts else ("choices", "choices")
        result.append(_region(name, kind, {field: [str(answer)]}))
    annotation: dict[str, Any] = {
        "result": result,
        "was_cancelled": record.value == "skip",
        **other_times(record),
    }
    if record.annotator:
        annotation["annotator"] = record.annotator
    if record.time:
        annotation["created_at"] = record.time.isoformat()
    return annotation


def _region(control: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": control, "from_name": control, "to_name": "text", "type": kind, "value": value}
