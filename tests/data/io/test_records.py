"""Good lines become articles and posts, bad ones are reported, none is lost."""

import io
import json
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linker.common.errors import DataError, LinkerError
from linker.data import Article, ArticleColumns, PairColumns, Post, PostColumns, read_articles, read_posts
from linker.data.files import line_errors
from linker.data.files.line_errors import BadLines
from linker.data.identity import content_id
from linker.data.io.columns import SingleFileColumns
from linker.data.io.records import iter_posts
from linker.data.readers.articles_and_posts import ArticlesAndPosts
from linker.data.readers.pairs_file import SingleFile

GOOD_ARTICLE = {"id": "a1", "title": "Dam breaks", "text": "The dam broke at night."}


def write(path: Path, *rows: object) -> str:
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


def errors_of(path: str, folder: Path) -> list[dict]:
    side = folder / f"{Path(path).name}.errors.jsonl"
    return [json.loads(line) for line in side.read_bytes().splitlines()] if side.exists() else []


def all_of(path: Path, count: int) -> tuple[list[Post], list[dict]]:
    """Posts and bad lines of a file, which with those that were left out are all of its records."""
    (path.parent / f"{path.name}.errors.jsonl").unlink(missing_ok=True)
    with BadLines("skip") as bad_lines:
        posts = list(iter_posts(str(path), PostColumns(), bad_lines))
    errors = errors_of(str(path), path.parent)
    assert len(posts) + len(errors) + sum(file.left_out.total() for file in bad_lines.files) == count
    return posts, errors


BAD_LINES = [
    (b'{"id": "x", "text": ', "broken JSON"),
    (b'{"id": "x", "text": NaN}', 'empty text: nothing in "text"'),
    (b"[" * 100_000, "broken JSON: nested too deeply"),
    (b'{"id": "x", "text": "a", "more": ' + b"[" * 900 + b"]" * 900 + b"}", "broken JSON: nested too deeply"),
    (b'{"id": "x", "text": 1e999}', 'empty text: nothing in "text"'),
    (b'{"id": "x", "text": ' + b"9" * 5000 + b"}", "broken JSON: a number too long"),
    (b'["x", "y"]', "not a JSON object: but a list"),
    (b'"text"', 'not a JSON object: but "text"'),
    (b'{"id": "x", "text": "cut \\ud83d"}', "invalid Unicode: half of a surrogate pair"),
    (b'{"id": "x", "text": 3}', "wrong type: \"text\" is '3' (int), expected a string"),
    (b'{"id": "x", "text": ["a"]}', 'wrong type: "text"'),
    (b'{"id": true, "text": "a"}', 'wrong type: "id"'),
    (b'{"id": 1.5, "text": "a"}', 'wrong type: "id"'),
    (b'{"id": "x", "text": "  "}', "empty text"),
    (b'{"id": "x", "text": null}', "empty text"),
    (b'{"id": "", "text": "a"}', "empty id"),
    (b'{"id": "a\\u0000b", "text": "a"}', "unusable id"),
    (b'{"id": "x", "txt": "a"}', 'missing column: column "text" is missing; did you mean "txt"?'),
    (b'{"ID": "x", "text": "a"}', 'missing column: column "id" is missing'),
    (b'{"id": "ok", "text": "a", "article_id": "b"}', "duplicate id: ok (first in line 1)"),
    (b'{"id": "x", "text": "a", "article_ids": "[\\"a\\""}', 'wrong type: "article_ids"'),
    (b'{"id": "x", "text": "a", "article_ids": ["a", null]}', 'wrong type: "article_ids"'),
]


@pytest.mark.parametrize(
    "written", ["yesterday", True, "0001-01-01", "2106-02-07T06:28:15Z", "2h", "21:38 IST"]
)
def test_posts_whose_dates_cannot_be_read_stay(
    tmp_path: Path, written: object, capsys: pytest.CaptureFixture[str]
) -> None:
    dated = {"id": "a", "text": "fine", "created_at": "2024-01-01"}
    path = write(tmp_path / "p.jsonl", dated, {"id": "b", "text": "fine", "created_at": written})
    assert [post.created_at is None for post in read_posts(path)] == [False, True]
    assert f'{path}: 1 date in "created_at" left out: {str(written)!r} is no' in capsys.readouterr().err


@pytest.mark.parametrize(("line", "reason"), BAD_LINES)
def test_bad_line(tmp_path: Path, line: bytes, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "p.jsonl", {"id": "ok", "text": "fine"}, line, {"id": "ok2", "text": "fine"})
    with pytest.raises(DataError) as caught:
        read_posts(path)
    assert f"{path}, line 2: {reason}" in str(caught.value)
    assert "1 bad line" in str(caught.value)

    posts = read_posts(path, on_error="skip")
    assert [post.id for post in posts] == ["ok", "ok2"]
    (record,) = errors_of(path, tmp_path)
    assert record["file"] == path
    assert record["line"] == 2
    assert record["reason"].startswith(reason)
    assert record["raw"].encode("utf-8", "surrogateescape") == line
    summary = capsys.readouterr().err
    assert f"{path}: 1 of 3 lines set aside (1 {reason.partition(':')[0]})" in summary


@pytest.mark.parametrize(
    ("name", "header", "first", "second"),
    [
        ("p.jsonl", "", '{"id": "1", "text": "one"}', '{"id": "2", "text": "two"}'),
        ("p.csv", "id,text\n", "1,one", "2,two"),
        ("p.csv", "id,text\n", "1,one\n ,\n,", "2,two"),  # rows that were emptied in Excel
        ("p.tsv", "id\ttext\n", "1\tone", "2\ttwo"),
        ("p.txt", "", "one", "two"),
    ],
)
@pytest.mark.parametrize("above", ["", "\n", "\ufeff\r\n \t\r\n"])
def test_blank_lines_are_left_out_and_counted(
    tmp_path: Path,
    name: str,
    header: str,
    first: str,
    second: str,
    above: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / name
    path.write_text(f"{above}{header}{first}\n\n  \t \n{second}\n\n", newline="", encoding="utf-8")
    posts = read_posts(str(path))
    assert [post.text for post in posts] == ["one", "two"]
    number = above.count("\n") + 3 + first.count("\n")
    assert f"{number} blank lines left out" in capsys.readouterr().err
    line = f"{above}{header}".count("\n") + 1
    assert [post.source for post in posts] == [f"{name}:{line}", f"{name}:{line + first.count(chr(10)) + 3}"]


def test_strict_lists_twenty_and_counts_all(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", *([b"oops"] * 33), {"id": 1, "text": "x"})
    with pytest.raises(DataError) as caught:
        read_posts(path)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("33 bad lines")
    assert [f", line {n}: broken JSON" in line for n, line in enumerate(lines[1:21], 1)] == [True] * 20
    assert lines[21:] == ["  … and 13 more"]
    assert not list(tmp_path.glob("*errors*"))


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", b"oops")
    with pytest.raises(DataError, match="does not contain a single post"):
        read_posts(path, on_error="skip")
    assert len(errors_of(path, tmp_path)) == 1


def test_a_place_where_no_side_file_can_be_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_errors, "_side_path", lambda path: Path("/proc/p.jsonl.errors.jsonl"))
    path = write(tmp_path / "p.jsonl", {"id": 1, "text": "x"}, b"oops")
    with pytest.raises(LinkerError, match=r"p\.jsonl\.errors\.jsonl: cannot be written"):
        read_posts(path, on_error="skip")


def test_inputs_with_the_same_name_share_a_side_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(line_errors.os, "access", lambda folder, mode: False)  # no folder is writable
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(write(tmp_path / folder / "p.jsonl", {"id": folder, "text": "x"}, b"oops"))
    read_posts(paths, on_error="skip")
    assert [error["file"] for error in errors_of("p.jsonl", tmp_path)] == paths
    read_posts(paths[1], on_error="skip")  # a second reading replaces it
    assert [error["file"] for error in errors_of("p.jsonl", tmp_path)] == paths[1:]


def test_csv_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(
        b'id,text\n1,"two\nlines"\n\n2\n3,caf\xe9\n4,"unended "quote"\n5,a,b\n'
        b'6,"three\nmore\nlines"\n7,\n8,ok\n'
    )
    with pytest.raises(DataError) as caught:
        read_posts(str(path))
    said = [line.split(", ", 1)[1] for line in str(caught.value).splitlines()[1:]]
    assert [(line.split(":")[0], line.split(": ")[1]) for line in said] == [
        ("line 5", "wrong number of fields"),
        ("line 7", "broken CSV"),
        ("line 8", "wrong number of fields"),
        ("line 12", "empty text"),
    ]
    posts = read_posts(str(path), on_error="skip")
    assert [(post.id, post.text) for post in posts] == [
        ("1", "two\nlines"),
        ("3", "café"),
        ("6", "three\nmore\nlines"),
        ("8", "ok"),
    ]


def test_parquet_values(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    when = datetime(2014, 1, 2, 3, 4, tzinfo=timezone.utc)
    rows = {
        "id": [1, 2, None],
        "text": ["a", "b", "c"],
        "created_at": [when, None, when],
        "article_ids": [["x", "y"], [], None],
        "likes": [1.5, float("nan"), 2.0],
    }
    pyarrow.parquet.write_table(pa.table(rows), path)
    posts = read_posts(str(path), on_error="skip")
    assert posts == [Post("1", "a", ("x", "y"), when), Post("2", "b")]
    assert posts[0].extra == {"likes": 1.5}
    told = [(error["line"], error["reason"][:8]) for error in errors_of(str(path), tmp_path)]
    assert told == [(3, "empty id")]


# Contents of a line, mostly almost valid.
values = st.one_of(
    st.text(max_size=8),
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.lists(st.text(max_size=2), max_size=2),
)
keys = st.sampled_from(["id", "text", "article_id", "article_ids", "created_at", "split", "other"])
objects = st.dictionaries(keys, values, max_size=7).map(lambda row: json.dumps(row).encode())
dirty_lines = st.one_of(
    objects,
    st.builds(lambda i: json.dumps({"id": i, "text": "good"}).encode(), st.integers(0, 9)),
    st.binary(max_size=30).map(lambda raw: b"x" + re.sub(rb"[\n\r\0]", b"", raw)),
    st.text(max_size=20).map(
        lambda text: b"x" + re.sub(rb"[\n\r\0]", b"", text.encode("utf-8", "surrogatepass"))
    ),
)


@settings(max_examples=200)
@given(st.lists(dirty_lines, max_size=12), st.booleans())
def test_every_json_line_is_a_post_or_a_reported_error(
    tmp_path: Path, lines: list[bytes], last_line_ended: bool
) -> None:
    path = tmp_path / "p.jsonl"
    good = b'{"id": "the good one", "text": "so that something is left"}'
    end = b"\n" if last_line_ended or not lines or not lines[-1] else b""
    path.write_bytes(b"\n".join([good, *lines]) + end)
    posts, errors = all_of(path, 1 + len(lines))
    assert len({post.id for post in posts}) == len(posts)
    for error in errors:
        line = lines[error["line"] - 2]
        if line.isascii():
            assert error["raw"].encode() == line
    if errors:
        with pytest.raises(DataError, match=f"{len(errors)} bad lines?"):
            read_posts(str(path))


@settings(max_examples=200)
# Python 3.10 knows no NUL in CSV: there such a line is reported, and a record of several lines more than once.
@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", min_codepoint=1), max_size=6), min_size=1, max_size=4)
    )
)
@example([["0"], ["DATA"], ["x"]])
def test_every_csv_record_is_a_post_or_a_reported_error(tmp_path: Path, records: list[list[str]]) -> None:
    path = tmp_path / "p.csv"
    quoted = [",".join('"' + field.replace('"', '""') + '"' for field in record) for record in records]
    path.write_bytes("\n".join(["id,text", "first,good", *quoted, ""]).encode())
    all_of(path, 1 + len(records))


def test_posts_with_their_articles(tmp_path: Path) -> None:
    articles = write(
        tmp_path / "a.jsonl",
        {**GOOD_ARTICLE, "url": "http://x.org", "published": "2014-01-02", "story": 7, "split": "train"},
        {"id": "a2", "title": "Only a title", "text": None, "unread": 1},
        {"id": 3, "text": "only a text"},
    )
    posts = write(
        tmp_path / "p.jsonl",
        {"id": 1, "text": "one", "article_id": "a1", "relevant": 1},
        {"id": 2, "text": "two", "article_id": "a2", "article_ids": ["a1", "a2"], "split": "dev"},
        {"id": 3, "text": "three", "article_ids": [3]},
        {"id": 4, "text": "about nothing", "article_id": None},
    )
    data = ArticlesAndPosts(articles, posts).read()
    assert data.articles == [
        Article("a1", "The dam broke at night.", "Dam breaks", "http://x.org", datetime(2014, 1, 2,
        tzinfo=timezone.utc),
                "7", "train"),
        Article("a2", "", "Only a title"),
        Article("3", "only a text"),
    ]  # fmt: skip
    assert data.posts == [
        Post("1", "one", ("a1",)),
        Post("2", "two", ("a2", "a1"), split="dev"),
        Post("3", "three", ("3",)),
        Post("4", "about nothing"),
    ]
    assert data.posts[0].extra == {"relevant": 1}
    assert data.relevance().tolist() == [
        [True, True, False, False],
        [False, True, False, False],
        [False, False, True, False],
    ]


def test_bad_lines_of_both_files_come_at_once(tmp_path: Path) -> None:
    articles = write(tmp_path / "a.jsonl", GOOD_ARTICLE, {"id": "a2", "title": " ", "text": ""}, GOOD_ARTICLE)
    posts = write(
        tmp_path / "p.jsonl",
        {"id": 1, "text": "x", "article_id": "a1"},
        {"id": 2, "text": "x", "article_ids": ["a1", "zz"]},
    )
    with pytest.raises(DataError) as caught:
        ArticlesAndPosts(articles, posts).read()
    assert [line.strip() for line in str(caught.value).splitlines()[1:]] == [
        f'{articles}, line 2: empty text: nothing in "title", "text"',
        f"{articles}, line 3: duplicate id: a1 (first in line 1)",
        f"{posts}, line 2: unknown article id: zz",
    ]
    data = ArticlesAndPosts(articles, posts, on_error="skip").read()
    assert [article.id for article in data.articles] == ["a1"]
    assert [post.id for post in data.posts] == ["1"]


def test_renamed_and_joined_columns(tmp_path: Path) -> None:
    articles = tmp_path / "a.csv"
    articles.write_text("key,headline,lead,body\n1,Dam,It broke.,At night.\n2,Rain,,It rained.\n")
    rows = {"n": 1, "text": "see", "ocr": "DAM", "about": 1}, {"n": 2, "text": "wet"}
    posts = write(tmp_path / "p.jsonl", *rows)
    columns = PairColumns(
        ArticleColumns(id="key", title="headline", text=["lead", "body"]),
        PostColumns(id="n", text=["text", "ocr"], article_id="about"),
    )
    data = ArticlesAndPosts(str(articles), posts, columns).read()
    assert [article.text for article in data.articles] == ["It broke.\n\nAt night.", "It rained."]
    assert [(post.text, post.extra) for post in data.posts] == [("see\n\nDAM", {}), ("wet", {})]


def test_renamed_column_that_is_not_there(tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    table.write_text("id,text,image_text\n1,a,b\n")
    lines = write(tmp_path / "p.jsonl", {"id": 1, "text": "a", "image_text": "b"})
    for path in (str(table), lines):
        with pytest.raises(DataError, match=r'column "image" is missing; did you mean "image_text"\?'):
            read_posts(path, PostColumns(text=["text", "image"]))


def test_articles_need_no_text_column_and_may_state_their_language(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\ttitle\tlanguage\n1\tDam breaks\tEnglish\n")
    assert read_articles(str(path)) == [Article("1", "", "Dam breaks", language="en")]
    path.write_text("id\theadline\n1\tDam breaks\n")
    with pytest.raises(DataError, match='column "text" is missing'):
        read_articles(str(path))


def test_posts_without_any_article_id_are_refused(tmp_path: Path) -> None:
    articles = write(tmp_path / "a.jsonl", GOOD_ARTICLE)
    posts = write(tmp_path / "p.jsonl", {"id": 1, "text": "x", "articleid": "a1"})
    with pytest.raises(DataError, match="does not contain a single post with an article id"):
        ArticlesAndPosts(articles, posts).read()


def test_single_file(tmp_path: Path) -> None:
    path = write(
        tmp_path / "pairs.jsonl",
        {"url": "u1", "article": "The dam broke.", "text": "one", "split": "train"},
        {"url": "u2", "article": "It rained.", "title": "Rain", "text": "two", "likes": 3, "split": "train"},
        {"url": "u1", "article": "", "text": "three", "split": "train"},
        {"url": "u2", "article": "It rained.", "text": "four", "split": "dev"},
        {"url": None, "article": None, "text": "about nothing"},
    )
    data = SingleFile(path).read()
    assert data.articles == [
        Article("u1", "The dam broke.", url="u1", split="train"),
        Article("u2", "It rained.", "Rain", url="u2"),
    ]
    assert [(post.id, post.text, post.article_ids, post.split) for post in data.posts] == [
        (content_id(None, None, None, text), text, articles, split)
        for text, articles, split in (
            ("one", ("u1",), "train"),
            ("two", ("u2",), "train"),
            ("three", ("u1",), "train"),
            ("four", ("u2",), "dev"),
            ("about nothing", (), None),
        )
    ]
    assert data.posts[1].extra == {"likes": 3}


def test_single_file_bad_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path / "pairs.jsonl",
        {"url": "u1", "article": "The dam broke.", "text": "one", "n": "a"},
        {"url": "u1", "article": "The dam held.", "text": "two", "n": "b"},
        {"url": "u2", "article": " ", "text": "three", "n": "c"},
        {"url": "", "article": "No address.", "text": "four", "n": "d"},
        {"url": "u3", "article": "Fine.", "text": "", "n": "e"},
        {"url": "u4", "article": "Fine.", "text": "six", "n": "a"},
    )
    reader = SingleFile(path, SingleFileColumns(id="n"), on_error="skip")
    data = reader.read()
    assert [article.id for article in data.articles] == ["u1"]
    assert [post.id for post in data.posts] == ["a"]
    assert [(error["line"], error["reason"].partition(":")[0]) for error in errors_of(path, tmp_path)] == [
        (2, "contradiction"),
        (3, "empty text"),
        (4, "empty id"),
        (5, "empty text"),
        (6, "duplicate id"),
    ]


def test_rows_of_a_json_list_are_checked_as_lines_are(tmp_path: Path) -> None:
    deep = "[" * 900 + "]" * 900
    rows = ['{"id": "a", "text": "fine", "n": [[1e300]]}', f'{{"id": "b", "text": "deep", "n": {deep}}}']
    (tmp_path / "posts.json").write_text(f"[{', '.join(rows)}]")
    with pytest.raises(DataError, match=r"1 bad line;[^\n]*\n.*nested too deeply"):
        read_posts([str(tmp_path / "posts.json")])


def test_bad_lines_are_set_aside_beside_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write(tmp_path / "data" / "p.jsonl", {"id": 1, "text": "x"}, b"oops")
    read_posts("../data/p.jsonl", on_error="skip")
    assert (tmp_path / "data" / "p.jsonl.errors.jsonl").exists()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"id": 1, "text": "x"}\noops\n')))
    read_posts("-", on_error="skip")
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["stdin.errors.jsonl"]
