"""A ranking in every format: what is written can be read again, opened without harm, and looked at."""

import io
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree
from lxml.html import fromstring
from python_calamine import CalamineWorkbook

from linker.common.errors import DataError, LinkerError
from linker.data import Article, Post, read_posts
from linker.data.files.formats.delimited import guarded, unguarded
from linker.data.html_text import plain_text
from linker.ranking.explanation import Explanation
from linker.ranking.output import ENDINGS, format_of, write_rankings
from linker.ranking.post_links import link_of
from linker.ranking.ranked_post import RankedPost
from linker.ranking.results import Ranking

MOMENT = datetime(2024, 5, 1, 12, 30, 7, tzinfo=timezone.utc)
POSTS = [
    Post("10000000000000000001", '=HYPERLINK("http://evil")', ("a", "b"), MOMENT, "dev", {"likes": 3}),
    Post("p2", "@kim said (no)", (), None, None, {"likes": 4, "tags": ["x", {"y": 1}], "ok": True}),
    Post("p3", "-1 | 'quoted'", ("a|b",), MOMENT, None, {"share": 0.25, "note": "+cmd|' /C calc'!A0"}),
    Post("p4", "'=already quoted\nand a line", ("[x",), None, None, {"likes": None}),
]
RANKING = [RankedPost(i, 2.5 / i, post) for i, post in enumerate(POSTS, 1)]
READABLE = ["csv", "tsv", "xlsx", "jsonl", "json", "parquet"]


def write(
    folder: Path, form: str, posts: list[RankedPost] = RANKING, articles: Sequence[Article] = ()
) -> Path:
    path = folder / f"ranked.{form}"
    write_rankings([Ranking(posts, articles, "bm25")], path, format_of(path, None))
    return path


@pytest.mark.parametrize("form", READABLE)
def test_what_is_written_is_read_again(tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    posts = read_posts(str(write(tmp_path, form)))
    flat = (lambda text: text.replace("\n", " ")) if form == "tsv" else (lambda text: text)
    assert [(p.id, p.text, p.article_ids, p.created_at, p.split) for p in posts] == [
        (p.id, flat(p.text), p.article_ids, p.created_at, p.split) for p in POSTS
    ]
    assert [str(post.extra["rank"]) for post in posts] == ["1", "2", "3", "4"]
    assert posts[2].extra["note"] == POSTS[2].extra["note"]
    tags = posts[1].extra["tags"]
    assert tags == (
        ["x", {"y": 1}]
        if form in ("json", "jsonl")
        else '["x", {"y": 1}]'
        if form == "parquet"
        else "x, y: 1"
    )
    counted = "1 cell with tabs or line breaks, written as spaces: TSV has no quotes\n"
    assert capsys.readouterr().err == (counted if form == "tsv" else "")


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    str.strip
)
starts = st.sampled_from(["", "=", "'=", "''@(", "+(", "-|", "@", "\t=", "_x0041_"])


@pytest.mark.parametrize("form", READABLE)
@settings(max_examples=60)
@example(['"', '"'])
@given(st.lists(st.builds("".join, st.tuples(starts, texts)), min_size=1, max_size=4))
def test_every_text_survives(tmp_path: Path, form: str, written: list[str]) -> None:
    # Not HTML, which readers turn into plain text, what XML cannot hold, NUL, which Python 3.10 reads in no CSV, and
    # carriage returns, which end lines there.
    written = [
        re.sub(r"[\x00\r\ufffe\uffff]|[\x01-\x08\x0b\x0c\x0e-\x1f]", "x", plain_text(text) or "x")
        for text in written
    ]
    ranking = [RankedPost(i, 1.0, Post(f"p{i}", text)) for i, text in enumerate(written)]
    expected = [
        re.sub(r"[\t\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+", " ", text) if form == "tsv" else text
        for text in written
    ]
    assert [post.text for post in read_posts(str(write(tmp_path, form, ranking)))] == expected


@given(st.text(alphabet="'=+-@(| \ta＝"))
def test_guarding_is_undone_exactly_and_leaves_no_formula(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).lstrip(" \t").startswith(("=", "＝"))


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_names_of_fields_are_no_formulas(tmp_path: Path, form: str) -> None:
    post = Post("p", "x", extra={"=1+1": "a", "+cmd|' /C calc'!A0": "b"})
    path = write(tmp_path, form, [RankedPost(1, 1.0, post)])
    assert "'=1+1" in path.read_text()
    assert "'+cmd|" in path.read_text()
    assert read_posts(str(path))[0].extra.items() >= post.extra.items()


def test_an_apostrophe_in_other_files_is_literal(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("id,text\n1,'=x\n")
    assert read_posts(str(path))[0].text == "'=x"


def test_csv_for_excel_and_for_programs(tmp_path: Path) -> None:
    raw = write(tmp_path, "csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfrank,score,id,text,")
    assert b"\"'=HYPERLINK(" in raw
    assert b"a|b" in raw


def test_a_workbook_holds_typed_cells_and_no_formula(tmp_path: Path) -> None:
    path = write(tmp_path, "xlsx")
    header, *rows = CalamineWorkbook.from_path(path).get_sheet_by_name("posts").to_python()
    first = dict(zip(header, rows[0]))
    assert (first["rank"], first["score"], first["likes"]) == (1, 2.5, 3)
    assert first["id"] == POSTS[0].id  # digits that Excel would round
    assert first["text"] == POSTS[0].text
    assert first["created_at"] == MOMENT.replace(tzinfo=None)
    import zipfile

    sheet = zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    assert "<autoFilter" in sheet
    assert 'state="frozen"' in sheet


def test_a_long_cell_is_cut_and_that_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    posts = read_posts(str(write(tmp_path, "xlsx", [RankedPost(1, 1.0, Post("p", "x" * 40_000))])))
    assert posts[0].text == "x" * 32_766 + "…"
    assert "1 cells were cut" in capsys.readouterr().err


def test_parquet_is_typed(tmp_path: Path) -> None:
    schema = pyarrow.parquet.read_schema(write(tmp_path, "parquet"))
    kinds = {name: str(kind) for name, kind in zip(schema.names, schema.types)}
    assert kinds["created_at"] == "timestamp[us, tz=UTC]"
    assert kinds["article_ids"].startswith("list<")
    assert (kinds["rank"], kinds["score"], kinds["likes"], kinds["ok"]) == (
        "int64",
        "double",
        "int64",
        "bool",
    )


@pytest.mark.parametrize("form", [*READABLE, "html", "trec"])
def test_an_empty_ranking(tmp_path: Path, form: str) -> None:
    path = write(tmp_path, form, [])
    assert path.exists()
    if form not in ("html", "trec"):
        with pytest.raises(DataError, match="does not contain a single post"):
            read_posts(str(path))


def test_the_page_shows_all_and_runs_nothing_of_others(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)> the \u202ebridge"
    start = evil.index("bridge")
    explanation = Explanation([("bridge", 1.0)], [("bridge", 1.0)], [(start, start + 6)])
    posts = [
        RankedPost(
            1,
            100.0,
            Post("p&1", evil, (), MOMENT, None, {"url": 'https://x.org/?a=1&b="><script>'}),
            explanation,
            2,
        ),
        RankedPost(2, 0.0, Post("p2", "two", (), None, None, {"url": "javascript:alert(1)"})),
    ]
    article = Article("a", "The text " * 200, "A <b>title</b>", "https://news.example/x", MOMENT)
    text = write(tmp_path, "html", posts, [article]).read_text()
    elements = list(fromstring(text).iter(etree.Element))
    names = [element.tag for element in elements]
    assert names.count("script") == 1
    assert "img" not in names
    assert "b" not in names
    assert "link" not in names
    assert not any(name.startswith("on") for element in elements for name in element.attrib)
    links = [element.get("href") for element in elements if element.tag == "a"]
    assert links == ["https://news.example/x", 'https://x.org/?a=1&b="><script>']
    assert not any({"src", "style"} & {*element.attrib} for element in elements)
    assert "default-src 'none'" in text
    assert [element.text for element in elements if element.tag == "mark"] == ["bridge"]
    assert "\u202e" not in text
    assert "A <b>title</b>" in [element.text for element in elements]
    assert [dict(element.attrib) for element in elements if element.tag == "details"] == [
        {}
    ]  # the text is folded
    assert "2 near-duplicates" in fromstring(text).text_content()
    assert [element.get("data-rank") for element in elements if element.tag == "tr"] == [None, "1", "2"]
    widths = [element.get("width") for element in elements if element.tag == "rect"]
    assert widths == ["100.0", "0.0"]


@pytest.mark.parametrize(
    ("post", "link"),
    [
        (Post("at://did:plc:a1/app.bsky.feed.post/3k", "x"), "https://bsky.app/profile/did:plc:a1/post/3k"),
        (Post("t3_abc", "x"), "https://www.reddit.com/comments/abc/"),
        (Post("t1_c", "x", extra={"link_id": "t3_abc"}), "https://www.reddit.com/comments/abc/_/c/"),
        (Post("1", "x", extra={"permalink": "/r/x/1/", "url": "https://shared.example"}), "https://www.reddit.com/r/x/1/"),
        (Post("1234567890123", "x", extra={"retweet_count": 1}), "https://x.com/i/status/1234567890123"),
        (Post("1234567890123", "x"), None),
        (Post("1", "x", extra={"url": "ftp://x.org/a"}), None),
        (Post("1", "x", extra={"url": "https://x.org/a b"}), None),
        (Post("1", "x", extra={"URL": "https://x.org/a"}), "https://x.org/a"),
        (Post("1", "x", extra={"url": "http://[::1"}), None),
    ],
)  # fmt: skip
def test_links_to_posts(post: Post, link: str | None) -> None:
    assert link_of(post) == link


@pytest.mark.parametrize("name", ["x.foo", "x", "x.csv.gz", "x.pdf"])
def test_an_unknown_ending_is_refused_with_those_that_are_known(name: str) -> None:
    with pytest.raises(LinkerError) as caught:
        format_of(Path(name), None)
    assert all(ending in str(caught.value) for ending in ENDINGS)
    assert format_of(Path(name), "csv") == "csv"


def test_standard_output_is_binary_where_the_format_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Bridge closed\n\nThe old bridge has cracks.\n")
    (tmp_path / "p.csv").write_text("Tweet ID;Tweet Text\n7;the bridge has cracks\n8;a goal\n")

    options = ["rank", "--article", "a.txt", "--posts", "p.csv", "--model", "bm25", "--format", "parquet"]
    command = [sys.executable, "-m", "linker.cli.main", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert pyarrow.parquet.read_table(io.BytesIO(done.stdout))["id"].to_pylist() == ["7", "8"]


def test_the_page_shows_short_fields_of_platforms(tmp_path: Path) -> None:
    post = Post("1", "a", extra={"x_subreddit": "<news>", "x_quoted_text": "long " * 20})

    text = write(tmp_path, "html", [RankedPost(1, 50.0, post)]).read_text()

    assert "subreddit: &lt;news&gt;" in text
    assert "quoted_text" not in text
