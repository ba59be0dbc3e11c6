"""Labels written for a tool and read back are the same labels; errors name the line."""

import csv
import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.annotation.formats import write
from linker.annotation.formats.label_format import LabeledPost, LabelFormat
from linker.common.errors import ConfigError, DataError
from linker.data.io.fields import clean_id, has_no_id
from linker.data.labels.reading import read_labels
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import LabelValue
from linker.data.types import Post

FORMATS = ("argilla", "csv", "doccano", "jsonl", "label_studio", "prodigy")
GOLDEN = Path(__file__).parents[2] / "golden" / "annotation"
NOON = datetime(2026, 3, 1, 12, 30, 15, 250000, tzinfo=timezone.utc)


def read(path: Path, format: str | None = None) -> list[ImportedLabel]:
    return list(read_labels(path, format).labels)


def _is_id(text: str) -> bool:
    try:
        return clean_id(text) == text and not has_no_id(text)
    except ValueError:
        return False


any_text = st.text(max_size=30) | st.sampled_from(
    [
        "=1+1", "+49", "-x", "@anna", "'=1", "''@", "'quoted'", "\ttab", "a\r\nb", "a\u2028b",
        "\x85", "\0", "＝1", "\ufeffx",
    ]
)  # fmt: skip
names = any_text.filter(bool)
notes = names.filter(lambda text: "\0" not in text)
# What posts and annotators are called: no control characters, no space around, no marks of text.
proper = any_text.map(str.strip).filter(lambda text: bool(text) and text.isprintable() and _is_id(text))
times = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(lambda t: t.replace(tzinfo=timezone.utc))


@st.composite
def records(draw: st.DrawFn) -> list[LabeledPost]:
    made = []
    for post_id in draw(st.lists(proper, unique=True, max_size=4)):
        post = Post(post_id, draw(any_text), created_at=draw(st.none() | times))
        score = draw(st.floats(-5, 50))
        annotators = draw(st.lists(proper, unique=True, max_size=2))
        for name in annotators:
            value: LabelValue = draw(st.sampled_from(["relevant", "not", "skip"]))
            made.append(LabeledPost(post, "a1", score, value, name, draw(st.none() | notes), draw(times)))
        if not annotators:
            made.append(LabeledPost(post, "a1", score))
    return made


def _note(note: str | None) -> str:
    """A note as every format holds it: line ends are newlines, and a note of spaces is none."""
    return re.sub(r"\r\n?", "\n", note) if note and note.strip() else ""


def facts(labels: Sequence[LabeledPost | ImportedLabel], *, with_time: bool) -> list[tuple[Any, ...]]:
    return sorted(
        (
            one.post.id if isinstance(one, LabeledPost) else one.post_id,
            one.annotator,
            one.value,
            _note(one.note),
            one.time if with_time else None,
        )
        for one in labels
        if one.value is not None
    )


def test_the_formats_there_are() -> None:
    assert LabelFormat.available() == sorted([*FORMATS, "asreview", "xlsx"])
    with pytest.raises(ConfigError, match="unknown format of labels 'cvs'"):
        read(Path("x.csv"), "cvs")


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25)
@given(made=records())
def test_what_is_written_is_read_back(name: str, made: list[LabeledPost], tmp_path: Path) -> None:
    path = tmp_path / "labels"
    assert write(path, name, made)[0] == path
    if not any(one.value for one in made):
        with pytest.raises(DataError, match=r"no labels|empty|unknown format|not a list"):
            read(path, name)
        return
    with_time = name != "argilla"
    assert facts(read(path, name), with_time=with_time) == facts(made, with_time=with_time)


@pytest.mark.parametrize("name", FORMATS)
def test_half_a_surrogate_pair_does_not_stop_an_export(name: str, tmp_path: Path) -> None:
    write(
        tmp_path / "labels",
        name,
        [LabeledPost(Post("1", "half \ud83d"), "a", 1.0, "not", "\ud83d", None, NOON)],
    )
    assert [one.value for one in read(tmp_path / "labels", name)] == ["not"]


def test_a_workbook_holds_texts_that_are_no_formulas(tmp_path: Path) -> None:
    texts = [
        "=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "https://news.example", "12345678901234567890",
        "🦦",
    ]  # fmt: skip
    made = [LabeledPost(Post(text, text), "a1", -1.5, "not", text, text, NOON) for text in texts]
    made.append(LabeledPost(Post("none", "unlabeled"), "a1", 2.0))
    write(tmp_path / "labels.xlsx", "xlsx", made)
    assert facts(read(tmp_path / "labels.xlsx", "xlsx"), with_time=True) == facts(made, with_time=True)


def test_no_text_in_csv_begins_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    hostile = ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "＝1"]
    write(
        path, "csv", [LabeledPost(Post(text, text), text, -1.5, "not", text, text, NOON) for text in hostile]
    )
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["text"] for row in rows] == ["'" + text for text in hostile]
    for row in rows:
        assert row.pop("score") == "-1.5"  # a number, not a formula
        assert not [cell for cell in row.values() if re.match(r"[=+\-@\t\r＝]", cell)]


def test_a_spreadsheets_csv_is_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(
        '\ufefflabel,post_id,note\r\nYes,1,\r\n,2,later\r\nNOT relevant,3,"a\r\nb"\r\n0,4,\r\n'.encode()
    )
    labels = read(path, "csv")
    assert [(one.post_id, one.value, one.note, one.line) for one in labels] == [
        ("1", "relevant", "", 2),
        ("3", "not", "a\nb", 4),
        ("4", "not", "", 6),
    ]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("csv", "code,label\n1,not\n", "no column names the posts (columns: code, label)"),
        ("csv", "post_id,label\n1,not\n2,perhaps\n", '1 label is unknown in the column "label"'),
        ("csv", "post_id,label\n,not\n", "line 2: no post: post_id is missing"),
        ("csv", "post_id,label\n1,not\n2,not,3\n", "line 3: wrong number of fields"),
        ("csv", "post_id,label,time\n1,not,5/6/2015\n", "line 2: unreadable time: '5/6/2015' is ambiguous"),
        ("jsonl", '{"post_id": "1", "label": "not"}\n{"post_id": "1"\n', "line 2: broken JSON"),
        ("jsonl", '{"post_id": ["1"], "label": "not"}\n', 'line 1: wrong type: "post_id"'),
        ("doccano", '{"post_id": "1", "label": ["not", "relevant"]}\n', 'line 1: \'["not", "relevant"]\''),
        ("prodigy", '{"post_id": "1", "answer": "perhaps"}\n', "line 1: 'perhaps'"),
        ("label_studio", "[{}\n{}]", "line 2: broken JSON"),
        ("label_studio", '{"data": {}}', "no labels in this file"),
        ("label_studio", '[{"data":{"x":"x"},"annotations":[{"was_cancelled":true}]}]', "post_id is missing"),
        ("argilla", '[{"id": "1", "responses": {"label": [3]}}]', "line 1: not a JSON object: label"),
    ],
)
def test_errors_are_reported_with_its_line(name: str, content: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "labels"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(told)) as raised:
        read(path, name)
    assert str(path) in str(raised.value)


def test_a_label_given_again_in_prodigy_has_the_new_time(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write(path, "prodigy", [LabeledPost(Post("1", "x"), "a", 0.5, "not", "anna", None, NOON)])
    task = json.loads(path.read_text())
    later = NOON + timedelta(days=1)
    path.write_text(json.dumps(task | {"answer": "accept", "_timestamp": int(later.timestamp())}))
    (label,) = read(path, "prodigy")
    assert (label.value, label.time) == ("relevant", later.replace(microsecond=0))


def test_prodigys_choices(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    tasks = [
        {"post_id": "1", "answer": "accept", "accept": ["relevant"]},
        {"post_id": "2", "answer": "accept", "accept": []},
        {"post_id": "3", "answer": "ignore", "accept": []},
        {"post_id": "4"},
    ]
    path.write_text("\n".join(map(json.dumps, tasks)))
    assert [(one.post_id, one.value) for one in read(path, "prodigy")] == [
        ("1", "relevant"),
        ("2", "not"),
        ("3", "skip"),
    ]


def test_label_studio_sorts_by_scores_between_0_and_1_and_has_no_label(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    posts = [LabeledPost(Post(str(score), "x"), "a", score) for score in [0.0, 100.0, 8.5]]
    assert [one.name for one in write(path, "label_studio", posts)] == ["tasks.json", "tasks.config.xml"]
    predictions = [task["predictions"] for task in json.loads(path.read_text())]
    assert [one["score"] for (one,) in predictions] == [0, 1, 0.085]
    assert not any(one["result"] for (one,) in predictions)


# Written by Argilla 2.8.0, and by pandas as doccano 1.8.4 calls it: scripts/check_label_formats.py.
@pytest.mark.parametrize(
    ("name", "file"), [("argilla", "argilla-own.json"), ("doccano", "doccano-own.jsonl")]
)
def test_files_of_the_tools_themselves_are_read(name: str, file: str) -> None:
    assert [(one.post_id, one.annotator, one.value, one.note) for one in read(GOLDEN / file, name)] == [
        ("1", "anna", "relevant", "sure"),
        ("1", "ben", "not", ""),
        ("2", "anna", "skip", ""),
    ]


def test_an_export_of_label_studio_is_read(tmp_path: Path) -> None:
    # As its documentation shows one, with the keys that linker does not write.
    choice = {"id": "x1", "from_name": "label", "to_name": "text", "type": "choices", "origin": "manual"}
    area = {"id": "x2", "from_name": "note", "to_name": "text", "type": "textarea", "origin": "manual"}
    task = {
        "id": 7,
        "data": {"text": "t", "post_id": "p", "article_id": "a", "score": 1},
        "annotations": [
            {
                "id": 1001,
                "completed_by": {"id": 1, "email": "anna@example.org", "first_name": "", "last_name": ""},
                "result": [
                    {**choice, "value": {"choices": ["relevant"]}},
                    {**area, "value": {"text": ["a", "b"]}},
                ],
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": "2021-03-09T22:16:08.728353Z",
                "updated_at": "2021-03-09T22:17:08.728378Z",
                "lead_time": 4.288,
            },
            {"id": 1002, "completed_by": 10, "result": [], "was_cancelled": True},
            {"id": 1003, "completed_by": 11, "result": [], "was_cancelled": False},
        ],
        "drafts": [],
        "predictions": [],
    }
    (tmp_path / "export.json").write_text(json.dumps([task]))
    first, second = read(tmp_path / "export.json", "label_studio")
    assert (first.post_id, first.annotator, first.value, first.note) == (
        "p",
        "anna@example.org",
        "relevant",
        "a\nb",
    )
    assert first.time == datetime(2021, 3, 9, 22, 17, 8, 728378, tzinfo=timezone.utc)
    assert (second.annotator, second.value) == ("10", "skip")


def test_no_annotator_of_an_export_is_unknown_to_label_studio(tmp_path: Path) -> None:
    # It refuses a whole import for one `completed_by` that is no e-mail address or number of its users.
    write(
        tmp_path / "t.json",
        "label_studio",
        [LabeledPost(Post("1", "x"), "a", 0.5, "not", "anna", None, NOON)],
    )
    assert "completed_by" not in (tmp_path / "t.json").read_text()


@pytest.mark.parametrize("form", ["csv", "jsonl", "doccano"])
def test_fields_of_platforms_are_columns_of_tables(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"labels.{'csv' if form == 'csv' else 'jsonl'}"
    posts = [Post("1", "a", extra={"x_like_count": 5, "lang": "en"}), Post("2", "b")]

    write(path, form, [LabeledPost(post, "article", 1.0, "relevant", "kim") for post in posts])

    text = path.read_text(encoding="utf-8-sig")
    assert ("x_like_count" in text) == (form != "doccano")
    assert '"en"' in text
    assert [(label.post_id, label.value) for label in read(path, form)] == [
        ("1", "relevant"),
        ("2", "relevant"),
    ]
