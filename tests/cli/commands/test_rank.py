"""`linker rank` as a user runs it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from linker.data.identity import content_id
from linker.data.types import Post
from linker.ranking.ranker import load
from tests.helpers.article_pages import Site
from tests.helpers.score_files import read_run

ARTICLE = "Bridge closed after cracks\n\nThe council closed the old bridge because of cracks in its northern pier.\n"
POSTS: list[dict[str, Any]] = [
    {"id": "p1", "text": "cracks in the BRIDGE again, well done council", "author": "kim", "likes": 3},
    {"id": "p2", "text": "what a goal, that striker is on fire", "created_at": "2031-05-14T10:00:00Z"},
    {"id": "p3", "text": "so the bridge is shut. how do i get to work?", "score": "a field of theirs"},
    {"id": "p4", "text": 'line one\nline "two", with a comma', "tags": ["a", "b"]},
    {"id": "p5", "text": "cracks in the BRIDGE again, well done council"},
]

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs `linker rank` in this process, in a folder with article.txt and posts.jsonl: code, stdout, stderr."""
    (tmp_path / "article.txt").write_text(ARTICLE)
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(post) + "\n" for post in POSTS))
    monkeypatch.chdir(tmp_path)

    def rank(*arguments: str, stdin: bytes | None = None) -> tuple[int, str, str]:
        if stdin is not None:
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
        return command("rank", *arguments)

    return rank


BASIC = ("--article", "article.txt", "--posts", "posts.jsonl")


def test_two_options_are_enough(run: Run) -> None:
    code, out, err = run(*BASIC)
    assert code == 0
    lines = out.strip().splitlines()
    assert lines[0].split() == ["rank", "score", "post"]
    assert [line.split()[0] for line in lines[2:-1]] == ["1", "2", "3", "4"]
    assert lines[-1].startswith("score: 0 to 100, how well the post's text fits the article;")
    assert lines[2].endswith("cracks in the BRIDGE again, well done council (+1 near-duplicate)")
    assert 'line one line "two"' in out
    assert err.splitlines() == [
        "reading the article ...",
        'article: "Bridge closed after cracks", 17 words, no date, article.txt',
        "no --model given: ranking with `best`, the bundled model",
    ]


def test_jsonl_keeps_all_fields_of_the_posts(run: Run) -> None:
    code, out, _ = run(*BASIC, "--format", "jsonl", "--model", "bm25", "--copies")
    records = [json.loads(line) for line in out.splitlines()]
    expected = load("bm25").rank(ARTICLE, [Post(str(p["id"]), str(p["text"])) for p in POSTS], copies=True)
    assert code == 0
    assert [(r["rank"], r["score"], r["id"], r["text"]) for r in records] == [
        (e.rank, e.score, e.post.id, e.post.text) for e in expected
    ]
    assert [r["id"] for r in records[:3]] == ["p5", "p1", "p3"]
    by_id = {r["id"]: r for r in records}
    assert (by_id["p1"]["author"], by_id["p1"]["likes"]) == ("kim", 3)
    assert by_id["p2"]["created_at"] == "2031-05-14T10:00:00+00:00"
    assert by_id["p3"]["post_score"] == "a field of theirs"
    assert by_id["p4"]["tags"] == ["a", "b"]


def test_trec_runs_are_read_by_our_reader(run: Run, tmp_path: Path) -> None:
    assert run(*BASIC, "--format", "trec", "--out", "deep/er/out.txt")[0] == 0
    table = read_run(tmp_path / "deep/er/out.txt")
    assert list(table) == ["article.txt"]
    assert next(iter(table["article.txt"])) == "p5"
    assert all(line.endswith(" best") for line in (tmp_path / "deep/er/out.txt").read_text().splitlines())


def test_top_and_threshold(run: Run) -> None:
    assert len(run(*BASIC, "--top", "2", "--format", "csv")[1].splitlines()) == 3
    scores = [json.loads(line)["score"] for line in run(*BASIC, "--format", "jsonl")[1].splitlines()]
    out = run(*BASIC, "--format", "jsonl", "--threshold", f"score={scores[2]}")[1]
    assert [json.loads(line)["score"] for line in out.splitlines()] == scores[:3]
    out = run(*BASIC, "--format", "jsonl", "--threshold", f"score={scores[2]}", "--top", "2")[1]
    assert [json.loads(line)["score"] for line in out.splitlines()] == scores[:2]
    code, out, err = run(*BASIC, "--format", "jsonl", "--threshold", "100")
    assert (code, out) == (0, "")
    assert "no post has a score of 100" in err


def test_a_table_has_twenty_rows_and_other_formats_have_all(run: Run, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("".join(f"bridge {str(i) * 9} {i * 7919}\n" for i in range(50)))
    many = ("--article", "article.txt", "--posts", "many.txt")
    assert len(run(*many)[1].strip().splitlines()) == 23  # with two lines above, and one about scores below
    assert len(run(*many, "--format", "csv")[1].splitlines()) == 51


def test_near_duplicates_are_shown_once(run: Run, tmp_path: Path) -> None:
    texts = [
        "The BRIDGE is closed after cracks in its pier",
        "a goal!",
        "trains are late today, as every day",
    ]
    posts = [
        {"id": "a1", "text": texts[0]},
        {"id": "b", "text": texts[1]},
        {"id": "a2", "text": f"RT @kim: {texts[0]} https://t.co/x", "lang": "en"},
        {"id": "a3", "text": f"{texts[0]}!!", "lang": "en"},
        {"id": "c", "text": texts[2], "lang": "en"},
    ]
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(post) + "\n" for post in posts))
    bm25 = (*BASIC, "--model", "bm25", "--format")
    records = [json.loads(line) for line in run(*bm25, "jsonl")[1].splitlines()]
    assert [(r["rank"], r["id"], r["copies"]) for r in records] == [(1, "a3", 2), (2, "c", 0), (3, "b", 0)]
    records = [json.loads(line) for line in run(*bm25, "jsonl", "--copies")[1].splitlines()]
    assert [(r["id"], r["copies"]) for r in records] == [("a3", 0), ("a1", 0), ("a2", 0), ("c", 0), ("b", 0)]
    rows = list(csv.DictReader(io.StringIO(run(*bm25, "csv", "--lang", "en")[1])))
    # The language of a1 is identified; that of b is not.
    assert [(row["id"], row["copies"]) for row in rows] == [("a3", "2"), ("c", "0")]
    assert len(run(*bm25, "trec")[1].splitlines()) == 5, "a run holds all posts, to be evaluated"


CONDITIONS = [
    {"id": "e1", "text": "the bridge has cracks", "lang": "en", "created_at": "2031-05-14T10:00:00Z"},
    {"id": "e2", "text": "bridge closed today", "language": "en", "created_at": "2031-05-16T10:00:00"},
    {"id": "d1", "text": "die Bridge ist zu", "lang": "de", "created_at": "2031-05-14T12:00:00+02:00"},
    {"id": "n1", "text": "the council did it again", "lang": None},
    {"id": "u1", "text": "42", "lang": "und"},
]


@pytest.mark.parametrize(
    ("options", "kept", "told"),
    [
        (
            ("--lang", "en"),
            ["e1", "e2", "n1"],
            "left out by --lang en: 1 post in other languages (de 1), 1 of unknown language",
        ),
        (("--lang", "german"), ["d1"], "left out by --lang de: 3 posts in other languages (en 3)"),
        (
            ("--lang", "en-US", "--lang", "de"),
            ["e1", "e2", "d1", "n1"],
            "--lang en de: 1 post of unknown language",
        ),
        (("--since", "2031-05-15"), ["e2"], "left out 2 of 5 posts: without a time (--since, --until)"),
        (("--until", "2031-05-14T10:00:00Z"), [], "no post meets the conditions"),
        (("--since", "2031-05-14T10:00:00Z", "--until", "2031-05-16"), ["e1", "d1"], "without a time"),
    ],
)
def test_conditions_without_a_corpus(run: Run, tmp_path: Path, options, kept, told) -> None:
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(post) + "\n" for post in CONDITIONS))
    everything = run(*BASIC, "--model", "bm25", "--format", "jsonl")[1].splitlines()
    scores = {(post := json.loads(line))["id"]: post["score"] for line in everything}
    code, out, err = run(*BASIC, "--model", "bm25", "--format", "jsonl", *options)
    found = {(post := json.loads(line))["id"]: post["score"] for line in out.splitlines()}
    assert code == 0
    assert found == {name: scores[name] for name in kept}, "conditions change no score"
    assert told in err


def test_a_condition_on_times_that_no_post_has(run: Run, tmp_path: Path) -> None:
    (tmp_path / "posts.txt").write_text("the bridge\ncracks\n")
    code, _, err = run("--article", "article.txt", "--posts", "posts.txt", "--since", "2031-05-01")
    assert code == 2
    assert "no post has a time" in err
    assert "--column created_at=NAME" in err


def test_standard_input_for_articles_and_for_posts(run: Run) -> None:
    expected = run(*BASIC, "--format", "csv")[1]
    posts = ("--posts", "posts.jsonl", "--format", "csv")
    assert run("--article", "-", *posts, stdin=ARTICLE.encode())[1] == expected
    lines = "".join(json.dumps(post) + "\n" for post in POSTS).encode()
    article = ("--article", "article.txt", "--format", "csv")
    read = run(*article, "--posts", "-", stdin=lines)[1]
    assert read.replace("standard input:", "posts.jsonl:") == expected


def test_columns_of_other_names_and_none_for_ids(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tweets.csv").write_text("body,who\nthe bridge has cracks,kim\na goal,lee\n")
    tweets = ("--article", "article.txt", "--posts", "tweets.csv", "--format", "jsonl")
    code, out, _ = run(*tweets, "--column", "text=body", "--column", "id=")
    first = json.loads(out.splitlines()[0])
    assert code == 0
    made = content_id(None, None, None, "the bridge has cracks")
    assert (first["id"], first["text"], first["who"]) == (made, "the bridge has cracks", "kim")
    assert first["source"] == "tweets.csv:2"
    code, _, err = run(*tweets, "--column", "txt=body")
    assert code == 2
    assert "txt" in err
    assert "text" in err
    code, out, err = run(*tweets)
    assert code == 0
    assert json.loads(out.splitlines()[0])["text"] == "the bridge has cracks"
    assert 'tweets.csv: text from "body", ids are made from the content of posts' in err
    (tmp_path / "tweets.csv").write_text("reach,words,fold\n3,the bridge has cracks,a\n")
    code, _, err = run(*tweets, "--column", "split=part", "--top", "3")
    assert code == 2
    assert (
        'column "part" is missing; column "text" is missing; did you mean "words"? (columns: reach, words, fold)'
        in err
    )
    assert err.splitlines()[-1] == "Add: --column split=NAME --column text=words"


def test_bad_lines_stop_or_are_set_aside(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "posts.jsonl").open("a") as file:
        file.write("{broken\n")
    code, out, err = run(*BASIC, "--format", "csv")
    assert (code, out) == (2, "")
    assert "posts.jsonl, line 6" in err
    code, out, err = run(*BASIC, "--format", "csv", "--on-error", "skip")
    assert (code, len(list(csv.reader(io.StringIO(out))))) == (0, 5)
    assert "1 of 6 lines set aside" in err
    assert (tmp_path / "posts.jsonl.errors.jsonl").exists()


def test_explain_marks_the_words(run: Run) -> None:
    words = (*BASIC, "--model", "bm25", "--explain")
    out = run(*words, "--top", "1")[1]
    assert "words of the article by TF-IDF: " in out
    assert "*cracks* in the *BRIDGE* again, well done *council*" in out
    record = json.loads(run(*words, "--format", "jsonl")[1].splitlines()[0])
    assert [word for word, _ in record["post_words"]] == ["cracks", "bridge", "council"]
    assert sorted(word for word, _ in record["article_words"]) == ["bridge", "council", "cracks"]
    raw = sum(weight for _, weight in record["post_words"])
    assert float(load("bm25").model.score_scale()(raw)) == pytest.approx(record["score"], rel=1e-4)
    assert sum(record["points"].values()) == pytest.approx(record["score"], rel=1e-4)
    assert f"= {record['score']:.1f}" in out


def test_a_model_that_cannot_explain_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mute.jsonnet").write_text("{ type: 'elapsed_time' }")
    code, out, err = run(*BASIC, "--model", "mute.jsonnet", "--explain")
    assert code == 0
    assert "mute cannot explain its scores" in err
    assert "*" not in out


def test_posts_cannot_write_to_the_terminal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text(
        json.dumps({"id": "1", "text": "bridge \x1b[2J\x07 \u202e [red]x[/red]"})
    )
    out = run(*BASIC)[1]
    assert not set("\x1b\x07\u202e") & set(out)
    assert "[red]x[/red]" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--article", "none.html", "--posts", "posts.jsonl"), "none.html: file not found"),
        (("--article", "article.txt", "--posts", "none.csv"), "none.csv: file not found"),
        (("--article", "article.txt", "--posts", "runs"), "runs: the folder has no data file"),
        (("--article", "-", "--posts", "-"), "standard input can be read once only"),
        ((*BASIC, "--model", "runs/none"), "runs/none: model not found"),
        ((*BASIC, "--out", "."), "is a folder"),
        ((*BASIC, "--out", "ranked.foo"), ".xlsx"),
        (
            (*BASIC, "--lang", "xx"),
            "--lang xx: not a language; write its code of ISO 639, such as en, or its",
        ),
        ((*BASIC, "--since", "2031"), "--since: "),
        ((*BASIC, "--out", "article.txt/x.csv"), "cannot be written"),
        ((*BASIC, "--out", "posts.jsonl"), "would overwrite an input"),
        ((*BASIC, "--column", "body"), "expected KEY=COL"),
        (("--article", "ftp://127.0.0.1/x", "--posts", "posts.jsonl"), "ftp addresses cannot be fetched"),
        (("--article", "http://127.0.0.1:1/x", "--posts", "posts.jsonl"), "no connection"),
        ((*BASIC, "--threshold", "nan"), "--threshold nan"),
        (
            (*BASIC, "--threshold", "0.5"),
            "did you mean --threshold 50? For a score of 0.5 of 100 write score=0.5; for a share",
        ),
        (("--posts", "posts.jsonl"), "Missing option '--article'"),
    ],
)
def test_mistakes_end_with_2_and_one_message(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.setattr(
        "linker.models.files.resolve.ModelReference.load", lambda _: pytest.fail("the model was loaded")
    )
    Path("runs").mkdir()
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err


def test_an_id_that_trec_cannot_hold(run: Run, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text('{"id": "a b", "text": "x"}\n')
    code, _, err = run(*BASIC, "--format", "trec", "--out", "run.trec")
    assert code == 2
    assert "'a b' holds white space" in err
    assert not (tmp_path / "run.trec").exists()


def test_each_article_gets_its_ranking_in_one_file_or_in_its_own(run: Run, tmp_path: Path) -> None:
    rows = ({"id": name, "text": f"The bridge is {name}."} for name in ("a/b", "A?b", "../x"))
    (tmp_path / "articles.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    each = ("--article", "articles.jsonl", *BASIC[2:], "--model", "bm25", "--each", "--top", "2")
    lines = partial(pd.read_json, lines=True)
    readers = {"json": pd.read_json, "jsonl": lines, "csv": pd.read_csv, "parquet": pd.read_parquet}
    for form, read in readers.items():
        assert run(*each, "--out", f"all.{form}")[:2] == (0, "")
        assert read(f"all.{form}")["article_id"].tolist() == ["a/b", "a/b", "A?b", "A?b", "../x", "../x"]
    assert run(*each, "--out", "all.trec")[:2] == (0, "")
    assert list(read_run("all.trec")) == ["a/b", "A?b", "../x"]
    assert run(*each)[1].count("Ranking of 2 posts for ") == 3
    page = run(*each, "--format", "html", "--explain")[1]
    assert (page.count("<section"), page.count("<table>"), page.count('<li><a href="#article-')) == (3, 3, 3)
    assert run(*each, "--out", "rankings/")[:2] == (0, "")
    assert sorted(path.name for path in Path("rankings").iterdir()) == ["A-b-2.csv", "a-b.csv", "x.csv"]
    (tmp_path / "labels.csv").write_text("id,label\np1,1\np2,0\n")
    assert "labels.csv: labels that name no article" in run(*each, "--labels", "labels.csv")[2]


def test_an_address_and_a_file_as_one_query(run: Run, site: Site) -> None:
    paragraphs = "".join(
        f"<p>The council has closed the bridge again, for the {i}th time.</p>" for i in range(9)
    )
    page = f"<html><head><title>Bridge news</title></head><body><article>{paragraphs}</article></body></html>"
    address = site.on("/news.html", page)
    code, out, err = run("--article", address, *BASIC, "--format", "trec")
    assert code == 0, err
    assert out.splitlines()[0].split()[:4] == [f"{address}+1", "Q0", "p5", "1"]
    gone = site.on("/gone.html", "", status=404)
    assert run("--article", gone, "--posts", "posts.jsonl") == (
        2,
        "",
        f"fetching the article ...\nerror: {gone}: page not found (status 404); check the address\n",
    )
