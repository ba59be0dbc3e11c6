"""Ids of posts without one: the same for any order of rows, number of files, path, format and command."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.corpus.known_posts import Added, KnownPosts, post_keys
from linker.data.files.line_errors import BadLines
from linker.data.io.columns import PostColumns
from linker.data.io.records import read_posts, stream_posts
from linker.data.types import Post
from linker.ranking.inputs import as_posts
from tests.data.io.test_column_detection import write_csv

TEXTS = st.lists(
    st.sampled_from(["Ferry strike", "Café am Hafen", "nice", "Other 🌊", 'a, "b"']), min_size=1, max_size=8
)


def write(path: Path, texts: list[str]) -> str:
    return write_csv(path, ["text", "created_at"], *([text, "2024-01-19T10:00:00Z"] for text in texts))


def ids(*paths: str) -> list[str]:
    return [post.id for post in read_posts(list(paths))]


@settings(max_examples=25, deadline=None)
@given(TEXTS, st.integers(1, 4), st.integers(0, 8))
def test_a_corpus_has_the_same_ids_however_it_is_read(
    tmp_path: Path, texts: list[str], at_once: int, committed: int
) -> None:
    """In chunks of any size, after an interruption, and with the file once more."""
    path = write(tmp_path / "p.csv", texts)
    with BadLines() as bad_lines:
        posts = list(stream_posts(path, PostColumns(), bad_lines))
    keys = post_keys([post.id for post in posts], [post.text for post in posts])

    def build(known: KnownPosts, added: Added) -> list[str]:
        found = []
        for start in range(0, len(posts), at_once):
            found += [post.id for post in known.new_posts(posts[start : start + at_once], added)[0]]
        return found

    expected = ids(path)
    assert build(KnownPosts(), Added()) == expected
    # What an interrupted run committed is in the corpus, and nothing else.
    resumed, added = KnownPosts(), Added()
    resumed.add(post_keys(expected[:committed], texts[:committed]))
    assert build(resumed, added) == expected[committed:]
    assert (added.known, added.conflicting) == (min(committed, len(texts)), 0)
    again, added = KnownPosts(update=True), Added()
    again.add(post_keys(expected, texts))
    assert build(again, added) == []
    assert (added.known, added.conflicting) == (len(texts), 0)
    assert np.array_equal(keys[:, 2], np.zeros(len(texts)))


def test_an_export_with_made_ids_is_known_in_the_corpus() -> None:
    made = ["p" + "a" * 16, "p" + "a" * 16 + "-2"]
    known, added = KnownPosts(), Added()
    assert [post.id for post in known.new_posts([Post(made[0], "x")] * 2, added)[0]] == made
    later = KnownPosts()
    later.add(post_keys(made, ["x", "x"]))
    assert later.new_posts([Post(id_, "x") for id_ in made], added)[0] == []


def test_posts_twice_and_headers_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    path.write_text(
        "post_id,body\n1,Ferry strike\npost_id,body\n2,other thing\n1,Ferry strike (edited)\n2,other thing\n"
    )
    assert ids(str(path)) == ["1", "2"]
    err = capsys.readouterr().err
    assert "2 duplicates (1 with another text), 1 repeated header left out" in err
    rows = [{"post_id": "1", "body": "Ferry strike"}, {"post_id": "post_id", "body": "body"}]
    lines = tmp_path / "p.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert ids(str(lines)) == ["1"]
    assert "1 repeated header left out" in capsys.readouterr().err


def test_restored_ids_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.csv"
    path.write_text("id,text\n12.0,Ferry strike\n'13,other\n14,third\n")
    assert ids(str(path)) == ["12", "13", "14"]
    assert "2 ids that a program had changed restored (12.0 is 12)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "expected", "message"),
    [
        ("id,text\n1,a\n\ufeffID,Text\n2,b\n", ["1", "2"], "1 repeated header left out"),
        ("sep=;\nid;text\n1;a\nsep=;\nid;text\n2;b\n", ["1", "2"], "2 repeated headers left out"),
        ("sep=,\nid;text\n1;a, b\n2;c\n", ["1", "2"], ""),
        ("Post;;Meta\nid;text;created_at\n1;a;2024-01-19\n2;b;\n", ["1", "2"], "header in line 2"),
        ("Report:,x\n\nid,text\n1,a\nReport:,x\n\nid,text\n2,b\n", ["1", "2"], "2 repeated headers"),
        ("id,id_str,text\n1.57E+18,1571234567890124801,a\n", ["1571234567890124801"], 'id from "id_str"'),
        (
            "id,text\n1571234567890120000,a\n1571234567890130000,b\n",
            ["1571234567890120000", "1571234567890130000"],
            "2 of 2 long ids end as if a program had rounded them",
        ),
    ],
)
def test_tables_that_programs_wrote_have_the_ids_of_their_posts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, expected: list[str], message: str
) -> None:
    path = tmp_path / "p.csv"
    path.write_text(content)
    assert ids(str(path)) == expected
    assert message in capsys.readouterr().err


def test_long_ids_that_are_whole_give_no_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.csv"
    path.write_text("id,text\n1571234567890120000,a\n1571234567890124801,b\n1571234567890124907,c\n")
    assert len(ids(str(path))) == 3
    assert "rounded" not in capsys.readouterr().err


def test_ids_are_made_where_all_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("id,text\nnan,a\n,b\n")
    other = tmp_path / "q.csv"
    other.write_text("text\na\nb\n")
    assert ids(str(path)) == ids(str(other))


def test_a_file_that_is_given_twice_is_read_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(write(tmp_path / "p.csv", ["a", "b", "b"]))
    os.symlink("p.csv", tmp_path / "link.csv")
    assert ids(str(tmp_path), str(path)) == ids(str(path))
    assert "given more than once, read once" in capsys.readouterr().err


@pytest.mark.parametrize("newest_first", [False, True])
def test_the_newest_version_of_an_edited_post_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], newest_first: bool
) -> None:
    versions = [("11", ["11"]), ("12", ["11", "12", "13"]), ("13", ["11", "12", "13"]), ("20", ["20"])]
    rows = [{"id": id_, "text": f"v {id_}", "edit_history_tweet_ids": history} for id_, history in versions]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (rows[::-1] if newest_first else rows)))
    assert sorted(ids(str(path))) == ["13", "20"]
    assert "2 older versions" in capsys.readouterr().err
    assert sorted(post.id for post in as_posts(rows)) == ["13", "20"]
