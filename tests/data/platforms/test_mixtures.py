"""Files with records of several formats: each record is read by its own, and authors are hashed."""

import json
import random
from pathlib import Path

import pytest

from linker.common.errors import DataError
from linker.data import PostColumns, read_posts
from linker.data.io.records import posts_of_records
from linker.data.platforms.platform import hashed
from tests.data.platforms.exports import EXPORTS

SUBMISSION = json.loads(EXPORTS["reddit_submissions"][0].content.splitlines()[0])
COMMENT = json.loads(EXPORTS["reddit_comments"][0].content.splitlines()[0])


def reddit(number: int) -> tuple[list[str], list[str]]:
    """Return submissions and comments, as lines."""
    submissions = [SUBMISSION | {"id": f"s{i}", "name": f"t3_s{i}", "author": "ann"} for i in range(number)]
    comments = [COMMENT | {"id": f"c{i}", "author": "bob"} for i in range(number)]
    return [json.dumps(row) + "\n" for row in submissions], [json.dumps(row) + "\n" for row in comments]


@pytest.mark.parametrize("order", ["half and half", "one after the other", "the other way around"])
def test_submissions_and_comments_in_one_file(
    tmp_path: Path, order: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # More than the first records, which choose the formats.
    submissions, comments = reddit(300)
    rows = comments + submissions if order == "the other way around" else submissions + comments
    if order == "half and half":
        random.Random(0).shuffle(rows)
    path = tmp_path / "reddit.jsonl"
    path.write_text("".join(rows))
    posts = {post.id: post for post in read_posts(str(path))}
    assert len(posts) == 600
    assert posts["t3_s0"].extra["author"] == hashed("ann")
    assert posts["t3_s0"].extra["platform"] == "reddit_submissions"
    assert posts["t1_c0"].extra["author"] == hashed("bob")
    assert posts["t1_c0"].extra["thread"] == "t3_abc"
    line = capsys.readouterr().err
    assert "600 posts of 600 lines" in line
    assert "Reddit submissions" in line
    assert "Reddit comments" in line


@pytest.mark.parametrize(
    "names",
    [
        ("tiktok", "tiktok_comments"),
        ("x", "x_1"),
        ("mastodon", "bluesky_jetstream", "reddit_comments", "telegram"),
    ],
)
def test_records_of_other_formats_are_read_by_theirs(
    tmp_path: Path, names: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [EXPORTS[name][0] for name in names]
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(case.content for case in cases))
    posts = {post.id: post for post in read_posts(str(path))}
    expected = {post["id"]: post for case in cases for post in case.posts}
    assert posts.keys() == expected.keys()
    for id_, post in expected.items():
        assert posts[id_].text == post["text"]
        if "author" in post:
            assert posts[id_].extra["author"] == hashed(post["author"])
    assert "bad" not in capsys.readouterr().err


def test_deletions_of_all_formats_are_honored(tmp_path: Path) -> None:
    cases = [EXPORTS["x_1"][0], EXPORTS["bluesky_tap"][0]]
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(case.content for case in cases))
    ids = {post["id"] for case in cases for post in case.posts}
    assert {post.id for post in read_posts(str(path))} == ids
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert {post.id for post in posts_of_records("posts", records, PostColumns()) or []} == ids
    assert posts_of_records("posts", [{"id": "1", "text": "x"}], PostColumns()) is None


def test_a_format_that_was_named_is_the_only_one(tmp_path: Path) -> None:
    submissions, comments = reddit(2)
    path = tmp_path / "reddit.jsonl"
    path.write_text("".join(submissions + comments))
    with pytest.raises(DataError, match=r"2 bad lines.*\n.*line 3: not a record of Reddit submissions"):
        read_posts(str(path), PostColumns(format="reddit_submissions"))


def test_mostly_unknown_records_are_of_no_format(tmp_path: Path) -> None:
    submissions, comments = reddit(2)
    own = [json.dumps({"id": str(i), "text": f"own text {i}"}) + "\n" for i in range(5)]
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(own + submissions + comments))
    with pytest.raises(DataError, match='missing column: column "text" is missing'):
        read_posts(str(path))
