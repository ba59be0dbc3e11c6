"""Labels have one meaning, whatever program wrote them: files of every kind and words of every language."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from linker.common.errors import DataError
from linker.data.labels.post_labels import relevance_of
from linker.data.labels.reading import read_labels
from linker.data.labels.values import UnknownLabelError, parse_label

EXPECTED = {"101": True, "102": True, "103": False}


def test_words() -> None:
    for value, words in [
        ("relevant", "1 1.0 1,0 true YES y x Relevant included accept ja sí si oui sim 2 3.0 ✓"),
        ("not", "0 0.0 0,0 False no n not irrelevant excluded reject nein não non nee off-topic"),
        ("skip", "skip unsure maybe ? ignore unsicher"),
        (None, "-1 -1.0 NA N/A nan None null -"),
    ]:
        assert {parse_label(word).value for word in words.split()} == {value}


def test_fields() -> None:
    for field, value in [
        (None, None),
        ("  ", None),
        (True, "relevant"),
        (0, "not"),
        (-1.0, None),
        (float("nan"), None),
        ([], None),
        (["not"], "not"),
        ('["relevant"]', "relevant"),
        ({"choices": ["not relevant"]}, "not"),
        ([["Relevant"]], "relevant"),
        ("not_relevant", "not"),
    ]:
        assert parse_label(field).value == value


def test_what_is_no_label_is_refused() -> None:
    for field in ["positive", "-2", ["relevant", "not"], {"a": 1}, "12345678901"]:
        with pytest.raises(UnknownLabelError):
            parse_label(field)


FILES = {
    "mturk.csv": b"HITId,WorkerId,Input.post_id,Answer.relevant\nh1,w,101,yes\nh2,w,102,yes\nh3,w,103,no\n",
    "later.csv": (
        b"post_id,coder,label,labeled_at\n101,kim,1,2024-01-02\n101,kim,0,2024-01-01\n102,kim,1,2024-01-01\n"
        b"103,kim,1,2024-01-01\n103,kim,0,2024-01-02\n"
    ),
    "corrected.csv": b"post_id,coder,label\n101,kim,0\n102,kim,1\n103,kim,0\n101,kim,1\n",
    "excel.csv": "\ufeffpost_id;label\r\n101;relevant\r\n102;relevant\r\n103;not\r\n".encode(),
    "sep.csv": b"sep=;\npost_id;label\n101;yes\n102;yes\n103;no\n",
    "utf16.csv": "post_id\tlabel\n101\t1\n102\t1\n103\t0\n".encode("utf-16"),
    "windows.csv": "post_id,label,note\n101,ja,sch\xf6n\n102,ja,\n103,nein,\n".encode("cp1252"),
    "asreview.csv": b"record_id,post_id,abstract,included\n0,101,x,1\n1,102,y,1\n2,103,z,0\n3,104,a,-1\n",
    "synergy.csv": b"id,abstract_included,final_included\n101,1,1\n102,1,1\n103,1,0\n",
    "grades.tsv": b"tweet_id\trelevance\n101\t3\n102\t1\n103\t0\n",
    "rows.csv": b"id,annotator,label\n101,kim,1\n101,ben,1\n101,lee,0\n102,kim,1\n102,ben,0\n103,kim,0\n",
    "wide.csv": b"id,label_kim,label_ben,final\n101,1,1,\n102,0,0,1\n103,0,1,0\n",
    "coders.csv": b"id,Coder 1,Coder 2\n101,yes,yes\n102,yes,no\n103,no,no\n",
    "doccano.jsonl": b'{"id": 1, "labels": ["relevant"], "post_id": "101"}\n'
    b'{"id": 2, "labels": "relevant", "post_id": "102"}\n{"id": 3, "labels": ["not"], "post_id": "103"}\n',
    "prodigy.jsonl": b'{"text": "a", "label": "RELEVANT", "meta": {"post_id": "101"}, "answer": "accept"}\n'
    b'{"text": "b", "post_id": "102", "answer": "accept"}\n{"text": "c", "post_id": "103", "answer": "reject"}\n',
}


def _studio(post: str, **value: Any) -> dict[str, Any]:
    result = [{"from_name": "about", "type": next(iter(value)), "value": value}]
    return {"data": {"post_id": post, "text": "x"}, "annotations": [{"result": result}]}


FILES["choices.json"] = json.dumps(
    [_studio("101", choices=["yes"]), _studio("102", choices=["yes"]), _studio("103", choices=["no"])]
).encode()
FILES["ratings.json"] = json.dumps(
    [_studio("101", rating=4), _studio("102", rating=1), _studio("103", rating=0)]
).encode()
FILES["argilla.json"] = json.dumps(
    [
        {
            "id": post,
            "fields": {"text": "x"},
            "responses": {"about_it": [{"value": value, "user_id": "u"}]},
            "suggestions": {"about_it": {"value": "no", "agent": "model"}},
        }
        for post, value in (("101", "yes"), ("102", "yes"), ("103", "no"))
    ]
).encode()


@pytest.mark.parametrize("name", FILES)
def test_files_of_every_tool_mean_the_same(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    found = read_labels(tmp_path / name)
    assert relevance_of(found.labels) == EXPECTED
    assert "of 3 posts (2 relevant, 1 not)" in found.summary
    reader, writer = os.pipe()
    os.write(writer, FILES[name])
    os.close(writer)
    (tmp_path / f"pipe.{name}").symlink_to(f"/dev/fd/{reader}")
    assert read_labels(tmp_path / f"pipe.{name}").labels == found.labels
    os.close(reader)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.jsonl", '{"id": 1, "text": "x", "opinion": "good"}\n', "(columns: id, text, opinion)"),
        ("a.jsonl", '{"id": 1, "label": null}\n', 'none has a label in the column "label" (keys: id, label)'),
        ("a.jsonl", '{"_input_hash":1,"text":"x","post_id":"1"}\n', "(keys: _input_hash, text, post_id)"),
        (
            "a.json",
            json.dumps(
                [{"id": "1", "fields": {}, "responses": {"mood": [{"value": "glad", "user_id": "u"}]}}]
            ),
            "questions: mood",
        ),
        ("a.json", json.dumps([_studio("1", brush=[1])]), "controls: none"),
        ("a.csv", "id,label\n1,perhaps\n2,good\n3,perhaps\n", "3 labels are unknown"),
        ("a.csv", "id,label\n1,perhaps\n2,good\n3,perhaps\n", "lines 2, 4: 'perhaps' ×2"),
        ("a.csv", "id,rating\n1,1\n2,5\n", "the labels are the numbers 1, 5, and none is 0"),
        ("l.csv", "post_id,label\n1,1\n2,0\n3,99\n", "the label 99 ×1"),
        (
            "l.jsonl",
            '{"post_id": "1", "options": [{"id": "relevant"}, {"id": "not"}], "accept": [], "answer": "accept"}\n',
            "no labels in this file",
        ),
    ],
)
def test_a_file_without_labels_is_refused(name: str, content: str, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_labels(tmp_path / name)
    assert told in str(caught.value)


def test_one_line_says_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(
        "id,annotator,included,machine\n1,kim,1,\n1,ben,0,\n2,kim,?,\n3,kim,,\n4,kim,0,\n4,m,1,true\n"
    )
    assert read_labels(tmp_path / "l.csv").summary == (
        f"{tmp_path}/l.csv: 3 labels of 2 posts (1 relevant, 1 not), 1 unsure or skipped, 1 without a label, "
        '1 of machines left out; 1 tie counted as relevant; labels from "included"'
    )


def test_names_of_a_label_set_precede_words(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("id,label\n1,No\n2,Yes\n3,2\n")
    found = read_labels(tmp_path / "l.csv", names={"no": "relevant", "2": "not"})
    assert [label.choice for label in found.labels] == ["no", None, "2"]
    assert [label.value for label in found.labels] == ["relevant", "relevant", "not"]


def test_other_columns_of_labels_are_named(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("post_id,coder,included,label\n1,,1,0\n2,kim,0,1\n")
    found = read_labels(tmp_path / "l.csv")
    assert [(label.annotator, label.value) for label in found.labels] == [(None, "not"), ("kim", "relevant")]
    assert 'labels from "label" (ignored: "included")' in found.summary
