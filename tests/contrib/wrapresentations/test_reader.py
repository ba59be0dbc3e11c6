"""Labeled texts: what is read, how it is divided, and which pairs are made of it."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from linker.common.errors import DataError
from linker.contrib.wrapresentations.batches import balanced_pairs, count_pairs
from linker.contrib.wrapresentations.by_topic import ByTopicSplitter
from linker.contrib.wrapresentations.reader import LabelColumns, LabeledTexts
from linker.data.identity import content_id
from linker.data.types import LinkedPosts

ROWS = [
    ("1", "flood", "Reason"),
    ("2", "flood", "None"),
    ("3", "flood", "Reason"),
    ("4", "strike", "Notification"),
    ("5", "strike", "Reason"),
    ("6", "strike", "None"),
]


def write(folder, rows=ROWS, texts=None):
    """A file of labels and one of texts; the latter has a text too many."""
    labels, file = folder / "labels.csv", folder / "texts.jsonl"
    labels.write_text("tweet_id,topic,class\n" + "".join(",".join(row) + "\n" for row in rows))
    texts = texts if texts is not None else {row[0]: f"text {row[0]}" for row in rows} | {"99": "unlabeled"}
    file.write_text("".join(f'{{"id": "{own}", "text": "{text}"}}\n' for own, text in texts.items()))
    return {"labels": str(labels), "texts": str(file)}


def test_texts_of_one_class_belong_together(tmp_path):
    data = LabeledTexts(**write(tmp_path)).read()
    assert [post.id for post in data.posts] == [article.id for article in data.articles] == list("123456")
    assert data.posts[2].text == data.articles[2].text == "text 3"
    assert data.posts[3].extra == {"topic": "strike", "class": "Notification"}
    classes = [row[2] for row in ROWS]
    assert data.relevance().tolist() == [[one == other for other in classes] for one in classes]
    # One list of ids a class, however many texts it has.
    assert data.posts[0].article_ids is data.posts[2].article_ids


def test_texts_may_be_in_the_file_of_the_labels_under_any_names(tmp_path):
    file = tmp_path / "stance.tsv"
    file.write_text("task\tlabel\ttext\nabortion\tfavor\tone\nabortion\tagainst\ttwo\n")
    columns = LabelColumns(id=None, topic="task", label="label")
    data = LabeledTexts(str(file), classes=None, columns=columns).read()
    assert [(p.text, p.extra["class"]) for p in data.posts] == [("one", "favor"), ("two", "against")]
    assert [p.id for p in data.posts] == [content_id(None, None, None, p.text) for p in data.posts]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rows": [*ROWS, ("7", "flood", "Opinion")]}, ["labels.csv, line 8", "Opinion", "Notification"]),
        ({"rows": [*ROWS, ("3", "flood", "None")]}, ["labels.csv, line 8", "duplicate id: 3", "line 4"]),
        ({"texts": {"1": "a", "2": "b"}}, ["4 bad lines", "labels.csv, line 4: missing text: of 3", "of 6"]),
        ({"texts": {str(k): " " if k == 4 else "a" for k in range(1, 7)}}, ["texts.jsonl, line 4"]),
        ({"rows": []}, ["labels.csv: does not contain a single labeled text"]),
    ],
)
def test_errors_are_reported_with_file_and_line(tmp_path, change, told):
    with pytest.raises(DataError) as error:
        LabeledTexts(**write(tmp_path, **change)).read()
    for part in told:
        assert part in str(error.value)


def test_missing_texts_may_be_set_aside_and_are_counted(tmp_path, capsys):
    data = LabeledTexts(**write(tmp_path, texts={"1": "a", "2": "b"}), on_error="skip").read()
    assert [post.id for post in data.posts] == ["1", "2"]
    assert "4 of 7 lines set aside (4 missing text)" in capsys.readouterr().err
    assert len((tmp_path / "labels.csv.errors.jsonl").read_text().splitlines()) == 4


def test_a_missing_column_of_labels_is_named(tmp_path):
    settings = write(tmp_path)
    with pytest.raises(DataError, match=r'column "klass" is missing.*did you mean "class"'):
        LabeledTexts(**settings, columns=LabelColumns(label="klass")).read()


def many(folder, sizes, topics=("a", "b", "c")):
    names = [name for name, size in sizes.items() for _ in range(size)]
    rows = [(str(i), topics[i % len(topics)], name) for i, name in enumerate(names)]
    return LabeledTexts(**write(folder, rows)).read()


def divided(data: LinkedPosts, seed: int = 0) -> tuple[LinkedPosts, LinkedPosts, LinkedPosts]:
    splits = ByTopicSplitter("b", dev=0.4, seed=seed).split(data)
    assert splits.dev is not None
    assert splits.test is not None
    return splits.train, splits.dev, splits.test


def test_a_topic_is_held_out_and_the_others_are_divided_by_class(tmp_path):
    data = many(tmp_path, {"Reason": 90, "Statement": 30, "Notification": 45, "None": 12})
    train, dev, test = divided(data)
    assert {post.extra["topic"] for post in test.posts} == {"b"}
    assert len(test.posts) == 59
    ids = [{post.id for post in part.posts} for part in (train, dev, test)]
    assert sum(map(len, ids)) == len(set.union(*ids)) == 177
    counts = [Counter(p.extra["class"] for p in part.posts) for part in (train, dev)]
    assert counts[1] == {"Reason": 24, "Statement": 8, "Notification": 12, "None": 3}
    assert counts[0] == {"Reason": 36, "Statement": 12, "Notification": 18, "None": 5}
    for part in (train, dev, test):
        classes = np.array([post.extra["class"] for post in part.posts])
        assert (part.relevance() == (classes[:, None] == classes)).all()
    _, again, _ = divided(data, seed=1)
    assert {post.id for post in again.posts} != ids[1]


def test_a_division_that_cannot_be_is_refused(tmp_path):
    data = many(tmp_path, {"Reason": 6, "None": 6})
    with pytest.raises(DataError, match="no text has the topic x; topics: a, b, c"):
        ByTopicSplitter("x").split(data)
    with pytest.raises(DataError, match="the part train would have no link"):
        ByTopicSplitter(["a", "b", "c"]).split(data)
    with pytest.raises(DataError, match="the part dev would have no link"):
        ByTopicSplitter("a", dev=0.01).split(data)


def test_balanced_pairs_are_those_of_a_list_of_all():
    classes = list("aabacbbaca")
    same = {(i, j) for i, j in permutations(range(10), 2) if classes[i] == classes[j]}
    different = set(permutations(range(10), 2)) - same
    assert count_pairs(classes) == (len(same), len(different)) == (28, 62)
    seen = set()
    for seed in range(40):
        pairs = balanced_pairs(classes, seed)
        drawn = list(zip(pairs.first.tolist(), pairs.second.tolist()))
        assert set(drawn[:28]) == same
        assert pairs.same.tolist() == [True] * 28 + [False] * 28
        assert len(set(drawn[28:])) == 28
        assert set(drawn[28:]) <= different
        seen |= set(drawn[28:])
    assert seen == different
    # The other way round: most pairs are of one class, and of those a sample remains.
    pairs = balanced_pairs("aaaaaaab", 1)
    assert len(set(zip(pairs.first.tolist(), pairs.second.tolist()))) == 28
    assert pairs.same.sum() == 14


def test_fewer_pairs_are_a_balanced_sample():
    classes = list("aabacbbaca")
    pairs = balanced_pairs(classes, 3, max_pairs=11)
    assert len(set(zip(pairs.first.tolist(), pairs.second.tolist()))) == 10
    assert [classes[i] == classes[j] for i, j in zip(pairs.first, pairs.second)] == pairs.same.tolist()
    assert pairs.same.sum() == 5
    assert len(balanced_pairs(classes, 3, max_pairs=1000).first) == 56


@pytest.mark.parametrize("classes", [[], ["a"], ["a", "b"], ["a", "a"]])
def test_without_both_kinds_of_pairs_there_are_none(classes):
    with pytest.raises(DataError, match="both are needed"):
        balanced_pairs(classes, 0)
