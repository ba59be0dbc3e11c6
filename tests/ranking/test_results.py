"""`Ranking`: a sequence, a table in notebooks and terminals, a data frame, a file; and embeddings of texts."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from lxml.html import fromstring

import linker
from linker.common.errors import LinkerError, ModelError
from linker.data.types import Article, Post
from linker.models.model import Model, embedding_submodel
from linker.models.score_scale import UNSCALED, ScoreScale
from linker.ranking.explanation import Explanation
from linker.ranking.output import print_table
from linker.ranking.ranked_post import RankedPost
from linker.ranking.ranker import Ranker
from linker.ranking.results import Ranking

ARTICLE = Article("a", "The otter is back in the river.", title="Otter seen in river")
TEXTS = ["bb", "cccc", "a"]


class Lengths(Model):
    """Scores a post by its length."""

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        return np.array([[len(p.text) for p in posts] for _ in articles], dtype=np.float32)

    def score_scale(self) -> ScoreScale:
        return UNSCALED


LENGTHS = Ranker(Lengths(), "lengths")


def many(count: int) -> Ranking:
    return LENGTHS.rank(ARTICLE, [Post(f"p{n}", "x" * n) for n in range(1, count + 1)], copies=True)


def test_a_ranking_behaves_like_a_list() -> None:
    ranking = many(5)
    plain = list(ranking)
    assert len(ranking) == 5
    assert [ranked.post.id for ranked in ranking] == ["p5", "p4", "p3", "p2", "p1"]
    assert ranking[0] is plain[0]
    assert ranking[-1] is plain[-1]
    assert isinstance(ranking[1:3], Ranking)
    assert ranking == plain
    assert ranking[1:3] == plain[1:3]
    assert [ranked.rank for ranked in ranking[1:3]] == [2, 3]
    assert ranking != plain[1:]
    assert ranking[5:] == []
    assert plain[2] in ranking
    assert list(reversed(ranking)) == plain[::-1]
    assert isinstance(ranking, Sequence)


def test_the_terminal_shows_a_few_short_lines() -> None:
    shown = repr(LENGTHS.rank(ARTICLE, [Post("one", "an\nötter \x1b[31m 川 " + "y" * 300), Post("2", "b")]))
    lines = shown.splitlines()
    assert lines[0] == 'Ranking of 2 posts for "Otter seen in river" by lengths'
    assert lines[1].split() == ["rank", "score", "id", "post"]
    assert lines[2].startswith("   1  317.0  one  an ötter [31m 川 yyy")
    assert lines[2].endswith("yy…")
    assert max(map(len, lines)) <= 100
    assert lines[3:] == ["   2    1.0  2    b", UNSCALED.sentence]
    assert "\x1b" not in shown
    assert repr(many(1_200)).splitlines()[-2:] == ["… 1,195 more", UNSCALED.sentence]
    assert len(repr(many(1_200)).splitlines()) == 9
    assert repr(many(3)[:0]) == 'Ranking of 0 posts for "Otter seen in river" by lengths'


def test_near_duplicates_are_shown_once_with_their_number() -> None:
    texts = ["the otter is back at the mill", "the otter is back at the mill!", "a goal"]
    ranking = LENGTHS.rank(ARTICLE, pd.DataFrame({"text": texts}))
    assert repr(ranking).splitlines()[2].endswith("the otter is back at the mill! (+1 near-duplicate)")
    assert "(+1 near-duplicate)" in ranking._repr_html_()
    assert ranking.to_pandas()["copies"].tolist() == [1, 0]
    assert ranking.to_pandas().index.tolist() == [1, 2]


def rows(html: str) -> list[list[str]]:
    return [[cell.text_content() for cell in row] for row in fromstring(html).iter("tr")]


def marked(html: str) -> list[str]:
    return [mark.text_content() for mark in fromstring(html).iter("mark")]


def test_a_table_shows_the_beginning_of_a_huge_post() -> None:
    out = io.StringIO()
    print_table(out, Ranking([RankedPost(1, 50.0, Post("1", "x" * 10_000))]))
    assert out.getvalue().count("x") == 5_000
    assert "… (5,000 more characters)" in " ".join(out.getvalue().split())


def test_a_notebook_shows_a_table_in_which_nothing_of_a_stranger_is_markup() -> None:
    text = 'an <script>alert("x")</script> otter & co'
    start = text.index("otter")
    explanation = Explanation([("otter", 1.0)], [("otter", 1.0)], [(start, start + 5)])
    post = RankedPost(1, 0.25, Post("<b>1</b>", text), explanation, copies=2, probability=0.5)
    page = Ranking([post], [Article("a", "", title="<i>Otter</i>")], "<u>m</u>")._repr_html_()
    assert rows(page) == [
        ["rank", "score", "probability", "id", "post"],
        ["1", "0.2", "0.50", "<b>1</b>", f"{text} (+2 near-duplicates)"],
    ]
    assert marked(page) == ["otter"]
    tags = {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "mark", "em"}
    assert {element.tag for element in fromstring(page).iter()} == tags


def test_a_notebook_shows_at_most_20_rows_and_says_how_many_there_are() -> None:
    html = many(1_200)._repr_html_()
    assert len(rows(html)) == 21
    assert "The first 20 of 1,200 posts." in html
    assert "The first" not in many(20)._repr_html_()
    assert "<table>" not in many(3)[:0]._repr_html_()


def test_overlapping_marks_keep_the_text() -> None:
    text = "river keeper & <otter>"
    explanation = Explanation([], [], [(0, 12), (6, 12), (13, 22), (3, 5)])
    page = Ranking([RankedPost(1, 1.0, Post("1", text), explanation)])._repr_html_()
    assert rows(page)[1][-1] == text
    assert marked(page) == ["river keeper", "& <otter>"]


def test_a_frame_comes_back_with_rank_and_score_before_its_own_columns() -> None:
    frame = pd.DataFrame(
        {"tweet_id": [7, 8, 9], "body": TEXTS, "score": pd.array([1, None, 3], dtype="Int64")},
        index=["x", "y", "z"],
    )
    before = frame.copy()
    ranking = LENGTHS.rank(ARTICLE, frame, columns={"id": "tweet_id", "text": "body"})
    assert frame.equals(before)
    frame.drop(index="x", inplace=True)
    table = ranking.to_pandas()
    assert list(table.columns) == ["rank", "score", "copies", "tweet_id", "body", "post_score"]
    assert list(table.index) == ["y", "x", "z"]
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["score"].tolist() == [4.0, 2.0, 1.0]
    assert table["tweet_id"].dtype == "int64"
    assert table["post_score"].dtype == "Int64"
    assert table["post_score"].tolist() == [pd.NA, 1, 3]
    assert ranking[1:].to_pandas().equals(table[1:])
    assert ranking.to_polars()["tweet_id"].to_list() == [8, 7, 9]
    # The next article's ranking of the same rows: what linker added goes through as the user's own.
    again = LENGTHS.rank(ARTICLE, table, columns={"id": "tweet_id", "text": "body"}).to_pandas()
    assert list(again.columns)[:6] == ["rank", "score", "copies", "post_rank", "post_score", "post_copies"]


def test_frames_of_other_libraries_come_back_as_well() -> None:
    rows = {"id": [7, 8, 9], "text": TEXTS, "likes": [1, None, 3]}
    own = {"id": [8, 7], "text": ["cccc", "bb"], "likes": [None, 1]}
    expected = {"rank": [1, 2], "score": [4.0, 2.0], "copies": [0, 0], **own}
    for frame in (pl.DataFrame(rows), pa.table(rows)):
        ranking = LENGTHS.rank(ARTICLE, frame, top=2)
        assert ranking.to_polars().to_dict(as_series=False) == expected
        table = ranking.to_pandas()
        assert list(table.columns) == list(expected)
        assert table.drop(columns="likes").to_dict("list") == {
            n: v for n, v in expected.items() if n != "likes"
        }


def test_other_posts_become_frames_of_what_is_known_of_them() -> None:
    at = datetime(2021, 5, 1, tzinfo=timezone.utc)
    posts = [
        Post("1", "bb", created_at=at, extra={"rank": 9, "mixed": 1}),
        Post("2", "a", extra={"mixed": "x"}),
    ]
    ranking = LENGTHS.rank(ARTICLE, posts)
    assert ranking.to_dicts() == [
        {"rank": 1, "score": 2.0, "id": "1", "text": "bb", "copies": 0, "created_at": at.isoformat(), "post_rank": 9,
         "mixed": 1},
        {"rank": 2, "score": 1.0, "id": "2", "text": "a", "copies": 0, "mixed": "x"},
    ]  # fmt: skip
    json.dumps(ranking.to_dicts())
    table = ranking.to_pandas()
    assert list(table.columns) == [
        "rank", "score", "id", "text", "copies", "created_at", "post_rank", "mixed",
    ]  # fmt: skip
    assert table["created_at"][0] == at
    assert table["created_at"].isna().tolist() == [False, True]
    assert ranking.to_polars().columns == list(table.columns)
    assert ranking.to_polars()["created_at"].to_list() == [at, None]
    for empty in (ranking[:0].to_pandas(), ranking[:0].to_polars()):
        assert list(empty.columns) == ["rank", "score", "id", "text", "copies"]
        assert len(empty) == 0


def test_explanations_are_columns_too() -> None:
    ranking = linker.load("bm25").rank(ARTICLE, pd.DataFrame({"text": ["an otter", "a goal"]}), explain=True)
    table = ranking.to_pandas()
    assert list(table.columns) == ["rank", "score", "copies", "article_words", "post_words", "points", "text"]
    assert [word for word, _ in table["post_words"][0]] == ["otter"]
    first = ranking.to_polars()["post_words"][0].to_list()[0]
    assert first["word"] == "otter"
    assert ranking.scale(first["weight"]) == pytest.approx(ranking[0].score, rel=1e-5)
    points = ranking.to_polars()["points"].to_list()
    assert [sum(one.values()) for one in points] == pytest.approx([one.score for one in ranking], rel=1e-4)


def test_a_ranking_is_saved_by_the_ending_of_the_name(tmp_path: Path) -> None:
    ranking = LENGTHS.rank([ARTICLE, Article("b", "x")], TEXTS)
    ranking.save(tmp_path / "out.csv")
    with open(tmp_path / "out.csv", encoding="utf-8-sig", newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == ["cccc", "bb", "a"]
    ranking.save(str(tmp_path / "out.jsonl"))
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == ranking.to_dicts()
    ranking.save(tmp_path / "out.trec")
    assert (tmp_path / "out.trec").read_text().splitlines()[0] == f"a+1 Q0 {ranking[0].post.id} 1 4 lengths"
    with pytest.raises(LinkerError, match=r"out\.docx"):
        ranking.save(tmp_path / "out.docx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.jsonl", "out.trec"]


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    ranking = LENGTHS.rank(ARTICLE, TEXTS)
    with pytest.raises(LinkerError, match="pandas is not installed; install it with: pip install pandas"):
        ranking.to_pandas()
    with pytest.raises(LinkerError, match="polars is not installed"):
        ranking.to_polars()


# Embeddings


def test_embeddings_have_the_order_of_the_texts_and_give_the_scores() -> None:
    ranker = linker.load("distilled")
    texts = ["an otter in the river", "what a goal", "the storm took the bridge"]
    vectors = ranker.encode(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape[0] == 3
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert ranker.encode(texts[::-1])[::-1] == pytest.approx(vectors, abs=1e-5)
    assert ranker.encode(pd.DataFrame({"body": texts}), columns={"text": "body"}) == pytest.approx(
        vectors, abs=1e-5
    )
    articles = ranker.encode([ARTICLE], kind="article")
    assert articles.shape == (1, vectors.shape[1])
    encoder = embedding_submodel(ranker.model)
    assert encoder is not None
    posts = [Post(text, text) for text in texts]
    assert articles @ vectors.T == pytest.approx(encoder.score([ARTICLE], posts), abs=1e-5)


def test_what_has_no_embeddings_says_so() -> None:
    with pytest.raises(ModelError, match=r"bm25: compares words and has no embeddings; encode with best"):
        linker.load("bm25").encode(["an otter"])
    with pytest.raises(LinkerError, match=r"texts is a single text; give a list: \[text\]"):
        linker.load("bm25").encode("an otter")
    with pytest.raises(LinkerError, match='kind is \'tweet\'; choose "post" or "article"'):
        linker.load("bm25").encode(["an otter"], kind="tweet")  # type: ignore[arg-type]


# The names of the package


def test_the_package_has_the_names_that_it_lists() -> None:
    assert dir(linker) == sorted(linker.__all__)
    for name in linker.__all__:
        assert getattr(linker, name) is not None
    assert linker.Post is Post
    assert linker.Ranking is Ranking
    with pytest.raises(AttributeError, match="module 'linker' has no attribute 'Posts'"):
        linker.Posts  # type: ignore[attr-defined]  # noqa: B018


SCRIPT = """
import linker
import numpy as np
import numpy.typing as npt

ranker: linker.Ranker = linker.load("bm25")
article = linker.Article(id="a", title="Otters", text="An otter in the river")
ranking: linker.Ranking = ranker.rank(article, [linker.Post("1", "an otter"), "a text", {"text": "x"}], top=3)
best: linker.RankedPost = ranking[0]
few: linker.Ranking = ranking[:2]
for ranked in few:
    print(ranked.rank + 1, ranked.score + 0.5, ranked.post.text.upper())
vectors: npt.NDArray[np.float32] = ranker.encode(["a", "b"], kind="post")
rows: list[dict[str, object]] = [dict(row) for row in ranking.to_dicts()]
ranking.save("out.csv")
"""
WRONG = """
import linker

linker.Posts
linker.load("bm25").rank("a", 3)
linker.load("bm25").rank("a", ["b"], top="3")
linker.load("bm25").encode(["a"], kind="tweet")
"""


@pytest.mark.slow
def test_types_hold_in_a_strict_script_of_a_user(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(SCRIPT)
    (tmp_path / "wrong.py").write_text(WRONG)
    package = Path(linker.__file__).parents[1]
    # As if it were installed: of what is installed only the types are read, never its own faults.
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "linker").symlink_to(package / "linker")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "right.py", "wrong.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(tmp_path / "site"), "PATH": "", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    faults = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [(fault.split(":")[0], fault.rsplit("[", 1)[1]) for fault in faults] == [
        ("wrong.py", "attr-defined]"),
        ("wrong.py", "arg-type]"),
        ("wrong.py", "arg-type]"),
        ("wrong.py", "arg-type]"),
    ], done.stdout
