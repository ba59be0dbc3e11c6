"""Data frames, Series and single posts as the input of `rank`; and what is refused, with what it says."""

import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linker
from linker.common.errors import DataError
from linker.data.identity import content_id
from linker.data.types import Article, Post
from linker.ranking.data_frames import frame_of
from linker.ranking.inputs import _note, as_articles, as_posts

TEXTS = ["an otter in the river", "what a goal", "the storm took the bridge"]
LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]
libraries = pytest.mark.parametrize("make", LIBRARIES, ids=["pandas", "polars", "pyarrow"])
Make = Callable[[dict[str, Any]], Any]


@libraries
def test_a_frame_is_read_like_the_list_of_its_rows(make: Make) -> None:
    at = [datetime(2021, 5, day, tzinfo=timezone.utc) for day in (1, 2, 3)]
    rows = [
        {"id": number, "text": text, "created_at": moment, "likes": (number - 6) * 10}
        for number, text, moment in zip((7, 8, 9), TEXTS, at)
    ]
    frame = make({name: [row[name] for row in rows] for name in rows[0]})
    posts = as_posts(frame)
    assert posts == as_posts(rows)
    assert posts[0] == Post("7", TEXTS[0], created_at=at[0])
    assert [post.extra for post in posts] == [{"likes": 10}, {"likes": 20}, {"likes": 30}]
    assert type(posts[0].created_at) is datetime
    if isinstance(frame, pl.DataFrame):
        lazy: Any = frame.lazy()
        assert as_posts(lazy) == posts


@libraries
def test_columns_with_other_names_are_named(make: Make) -> None:
    frame = make({"tweet_id": ["x", "y", "z"], "body": TEXTS})
    posts = as_posts(frame, columns={"text": "body", "id": "tweet_id"})
    assert [(post.id, post.text) for post in posts] == list(zip("xyz", TEXTS))
    (post,) = as_posts({"body": "an otter", "tweet_id": 5}, columns={"text": "body", "id": "tweet_id"})
    assert post == Post("5", "an otter")
    with pytest.raises(DataError, match=r'column "words" is missing'):
        as_posts(frame, columns={"text": "words"})
    with pytest.raises(DataError, match=r'column "number" is missing'):
        as_posts(frame, columns={"text": "body", "id": "number"})


@libraries
def test_columns_are_guessed_as_in_files_and_that_is_reported_once(
    make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = frame_of(make({"x": [1]})).kind  # type: ignore[union-attr]
    _note.cache_clear()
    frame = make({"tweet_id": [7, 8, 9], "full_text": TEXTS, "likes": [1, 2, 3]})
    for _ in range(2):
        posts = as_posts(frame)
        assert posts == [Post(str(n), text) for n, text in zip((7, 8, 9), TEXTS)]
        assert posts[0].extra == {"likes": 1}
    assert capsys.readouterr().err == f'{kind}: text from "full_text", id from "tweet_id"\n'.replace(
        kind, f"the {kind}"
    )
    assert as_posts([{"tweet_id": 7, "body": "an otter"}]) == [Post("7", "an otter")]


@libraries
def test_rows_without_ids_get_ids_from_their_content(make: Make) -> None:
    expected = [content_id(None, None, None, text) for text in TEXTS]
    assert [post.id for post in as_posts(make({"text": TEXTS}))] == expected
    assert [post.id for post in as_posts(TEXTS)] == expected
    assert [post.id for post in as_posts([TEXTS[0], *TEXTS])] == [
        expected[0],
        f"{expected[0]}-2",
        *expected[1:],
    ]


def test_a_named_pandas_index_is_a_column() -> None:
    named = pd.DataFrame({"id": [7, 8, 9], "text": TEXTS}).set_index("id")
    assert [post.id for post in as_posts(named)] == ["7", "8", "9"]
    assert as_posts(named.set_axis(pd.Index([1, 2, 3], name="user")))[0].extra == {"user": 1}


def test_series_and_arrays_are_texts() -> None:
    series = pd.Series(TEXTS)
    assert [post.text for post in as_posts(series[1:])] == TEXTS[1:]
    named = pd.DataFrame({"id": [7, 8, 9], "text": TEXTS}).set_index("id")["text"]
    assert [post.id for post in as_posts(named)] == ["7", "8", "9"]
    for given_ in (series, pl.Series(TEXTS), pa.array(TEXTS), pa.chunked_array([TEXTS])):
        assert [post.text for post in as_posts(given_)] == TEXTS
    for given_ in (np.array(TEXTS), iter(TEXTS), tuple(TEXTS), (text for text in TEXTS)):
        assert [post.text for post in as_posts(given_)] == TEXTS


def test_ids_and_times_of_every_type_are_read() -> None:
    at, stamp = datetime(2021, 5, 1, tzinfo=timezone.utc), pd.Timestamp("2021-05-01", tz="UTC")
    make, nan, number = Post, float("nan"), np.int64(8)
    rows = [{"id": number, "text": "b", "created_at": stamp}, {"id": 9.0, "text": "c", "created_at": nan}]
    posts = as_posts([make(7, "a", created_at="2021-05-01"), *rows, make("1", "d", created_at=nan)])  # type: ignore[arg-type]
    assert [(post.id, post.created_at) for post in posts] == [("7", at), ("8", at), ("9", None), ("1", None)]
    (article,) = as_articles(Article(5, "Otters.", published=stamp))  # type: ignore[arg-type]
    assert article == Article("5", "Otters.", published=at)


def test_strings_name_files_or_are_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        Path(name).write_text(f"An otter, seen in {name[0]}.\n")
    given_: Any
    for given_ in (["a.txt", "b.txt"], pd.Series(["a.txt", "b.txt"]), [Path("a.txt"), "b.txt"]):
        assert [post.text[-2:] for post in as_posts(given_)] == ["a.", "b."]
        assert [article.text[-2:] for article in as_articles(given_)] == ["a.", "b."]
    assert [post.text[-2:] for one in (Path("a.txt"), "b.txt") for post in as_posts(one)] == ["a.", "b."]
    text = "otters in a river"
    for texts in (text, [text], pd.Series([text], index=["x"]), (text,)):
        assert [post.text for post in as_posts(texts)] == [a.text for a in as_articles(texts)] == [text]


def test_single_posts_and_articles() -> None:
    assert (
        as_posts({"text": "an otter", "likes": 3})
        == as_posts(["an otter"])
        == as_posts(Post(content_id(None, None, None, "an otter"), "an otter"))
    )
    row = pd.DataFrame({"title": ["Otters"], "text": ["In the river."], "published": ["2021-05-01"]})
    expected = Article(
        "article-1", "In the river.", "Otters", published=datetime(2021, 5, 1, tzinfo=timezone.utc)
    )
    dict_ = {"title": "Otters", "text": "In the river.", "published": "2021-05-01"}
    assert (
        as_articles(dict_)
        == as_articles([dict_])
        == as_articles(row)
        == as_articles(row.iloc[0])
        == [expected]
    )
    assert as_articles(pl.from_pandas(row)) == [expected]
    assert as_articles([dict_, "A text that is none of these names."])[1].id == "article-2"


def test_numbers_that_pandas_made_floats_are_ids_again_unless_digits_were_lost() -> None:
    with_gap = pd.DataFrame({"id": [1, None, 3], "text": TEXTS})
    assert [post.id for post in as_posts(with_gap.dropna())] == ["1", "3"]
    lost = pd.DataFrame({"id": [1_390_000_000_000_000_001, None], "text": TEXTS[:2]}).dropna()
    with pytest.raises(DataError, match=r"rounded id.*export ids as text"):
        as_posts(lost)


def test_cells_of_every_kind_become_plain_values() -> None:
    frame = pd.DataFrame(
        {
            "text": pd.Series(TEXTS, dtype="string"),
            "edited": pd.to_datetime(["2021-05-01", None, "2021-05-03"]),
            "count": pd.array([1, None, 3], dtype="Int64"),
            "share": [0.5, None, 1.0],
            "list": [[1, 2], None, []],
            "array": [np.array([1]), np.array([]), np.array([2])],
            "kind": pd.Categorical(["a", "b", "a"]),
        }
    )
    first, second, _ = (post.extra for post in as_posts(frame))
    assert first == {
        "edited": datetime(2021, 5, 1), "count": 1, "share": 0.5, "list": [1, 2], "array": [1], "kind": "a"
    }  # fmt: skip
    assert second == {"edited": None, "count": None, "share": None, "list": None, "array": [], "kind": "b"}
    assert type(first["edited"]) is datetime
    assert type(first["count"]) is int


def test_the_time_is_a_column_of_dates(capsys: pytest.CaptureFixture[str]) -> None:
    dates = pd.to_datetime(["2021-05-01", None, "2021-05-03"])
    posts = as_posts(pd.DataFrame({"text": TEXTS, "posted": dates, "edited": dates, "likes": [1, 2, 3]}))
    assert [post.created_at for post in posts] == [
        datetime(2021, 5, 1, tzinfo=timezone.utc), None, datetime(2021, 5, 3, tzinfo=timezone.utc)
    ]  # fmt: skip
    assert capsys.readouterr().err == 'the pandas.DataFrame: time from "posted"\n'


def test_neither_pandas_nor_polars_is_imported_for_other_inputs() -> None:
    code = (
        "import sys; from linker.ranking.inputs import as_posts; as_posts(['otter', {'text': 'x'}]);"
        "print([m for m in ('pandas', 'polars') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


Tweet = namedtuple("Tweet", "id text")


@pytest.mark.parametrize(
    ("posts", "words"),
    [
        (b"an otter", "posts is bytes; give a text or path, a list of texts"),
        (7, "posts is an int"),
        (None, "posts is None"),
        ([], "no post"),
        ({"a", "b"}, "posts is a set, which has no order"),
        ([{"words": "x"}], 'posts: column "text" is missing'),
        ([Post("1", "a"), "b", {"id": "1", "text": "c"}], "posts 1 and 3 have the same id '1'"),
        (linker, "posts is a module"),
        ("no/such/posts.jsonl", "no/such/posts.jsonl: file not found"),
        (["no/such/posts.csv", "more.jsonl.gz"], "no/such/posts.csv: file not found"),
        (pd.Series(["an otter", None]), r"post 1 is None; give a text; .*series\.dropna\(\)"),
        ([Post("1", "a", created_at="soon")],  # type: ignore[arg-type]
         "post 1: unreadable date.*'soon' is not a date"),
        ([Post("1", None)],  # type: ignore[arg-type]
          "post 1: wrong type: the text is None"),
        ([Post("1", "a", extra=None), Post("2", "b", "a")],  # type: ignore[arg-type]
         "extra is None, expected a dict\n.* article_ids is a str, expected a tuple of ids"),
        ([["an otter"]], "post 1 is a list; give texts, dicts"),
        (["a", b"otter"], r"post 2 is bytes; give texts: post\.decode\(\)"),
        ([Tweet(1, "a")], r"post 1 is a .*Tweet; give the data frame itself, or dicts: row\._asdict\(\)"),
        ([1, "a", None], r"2 faults in 3 posts:\n  post 1 is an int\n  post 3 is None; give texts.*; give a text;"),
        ([""] * 9, r"9 faults in 9 posts:(\n  post \d: empty text.*){5}\n  …$"),
        ({"text": ["a", "b"]}, r'post 1: wrong type: "text" is .*\(list\), expected a string'),
        (pd.DataFrame({"text": []}), "the pandas.DataFrame has no rows"),
        (pd.DataFrame({"words": ["a"]}), r'the pandas.DataFrame: column "text" is missing.*columns: words'),
        (pd.DataFrame([["a", "b"]], columns=["text", "text"]), "several columns named text; rename"),
        (pa.Table.from_arrays([pa.array(TEXTS)] * 2, names=["text"] * 2), "pyarrow.Table has several columns"),
        (
            pd.DataFrame({"text": ["a", None, " "]}),
            r"2 faults in 3 posts:\n  row 1: empty text.*\n  row 2: .* with frame\.dropna\(subset=\['text'\]\)",
        ),
        (pl.DataFrame({"text": ["a", None]}), r"row 1: empty text.*frame\.drop_nulls\('text'\)"),
        (pl.DataFrame({"id": [4, 5, 4], "text": TEXTS}), "rows 0 and 2 have the same id '4'"),
        (pl.DataFrame({"text": [1, 2]}), r'2 faults in 2 posts:\n  row 0: wrong type: "text" is .1. \(int\)'),
    ],
)  # fmt: skip
def test_posts_that_cannot_be_read_are_refused_with_what_to_give(posts: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        linker.load("bm25").rank("An otter, seen.", posts)


@pytest.mark.parametrize(
    ("article", "words"),
    [
        (b"an otter", "the article is bytes; give a web address, the path of a file, a text"),
        (7, "the article is an int"),
        (None, "the article is None"),
        ("", "empty"),
        ([], "no article"),
        ("no/such/file.html", "file not found"),
        (["gopher://x/y"], "gopher"),
        ([["an otter"]], "article 1 is a list; give a web address"),
        ({"body": "an otter"}, 'article 1: missing column: column "text" is missing'),
        (pd.DataFrame({"body": ["an otter"]}), 'the pandas.DataFrame of articles: column "text" is missing'),
        (Path("no/such/article"), "no/such/article: file not found"),
    ],
)
def test_articles_that_cannot_be_read_are_refused_with_what_to_give(article: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        linker.load("bm25").rank(article, TEXTS)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"body": "text"}, r"columns: posts have no body; the keys are linker's own names \(id, text"),
        (["text"], "columns is a list; give a dict"),
    ],
)
def test_columns_the_wrong_way_round_are_refused(columns: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        as_posts(TEXTS, columns=columns)


CELLS = st.none() | st.integers(-9, 9) | st.floats() | st.text(max_size=5) | st.booleans() | st.datetimes()


@given(st.lists(st.fixed_dictionaries({"text": CELLS, "id": CELLS, "extra": CELLS}), min_size=1, max_size=5))
def test_no_frame_ends_in_anything_but_posts_or_a_message(rows: list[dict[str, Any]]) -> None:
    frame = pd.DataFrame(rows)
    try:
        posts = as_posts(frame)
    except DataError:
        return
    assert len(posts) == len(frame)
    assert frame_of(frame) is not None
