"""Long articles by passages: how they are cut, and what posts then score."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linker
from linker.cli.main import main
from linker.common.errors import LinkerError
from linker.data.types import Article, Post
from linker.models.passage_pooling import (
    PassagePooling,
    passages_of,
    sentences,
)
from linker.ranking.ranker import Ranker
from tests.conftest import toy_posts
from tests.helpers.score_files import read_scores


def article_of(text: str, title: str = "") -> Article:
    return Article("a", text, title)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It rained. Nobody came! Why? They slept…  All day.",
            ["It rained.", "Nobody came!", "Why?", "They slept…", "All day."],
        ),
        (
            "Mr. Tarn met J. K. Row of the U.S. Army. He left.",
            ["Mr. Tarn met J. K. Row of the U.S. Army.", "He left."],
        ),
        (
            '"Never again." She smiled. “Never?” he said.',
            ['"Never again."', "She smiled.", "“Never?” he said."],
        ),
        ("It cost 3.5 million. 40 people paid.", ["It cost 3.5 million.", "40 people paid."]),
        ("a headline\nanother line\n\n- a list", ["a headline", "another line", "- a list"]),
        ("Es hat geregnet. Überall. Ёлка стоит.", ["Es hat geregnet.", "Überall.", "Ёлка стоит."]),
        ("下雨了。没有人来。", ["下雨了。", "没有人来。"]),
        ("  \n ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_passages_are_whole_sentences_of_about_the_same_length_with_the_title() -> None:
    own = [f"Sentence {i} has exactly these eight words." for i in range(30)]  # 210 words
    passages = passages_of(article_of(" ".join(own), "The title"), words=50)
    assert [passage.title for passage in passages] == ["The title"] * 4
    assert " ".join(passage.text for passage in passages) == " ".join(own)
    assert all(passage.text.endswith("words.") for passage in passages)
    assert all(42 <= len(passage.text.split()) <= 63 for passage in passages)
    assert len({passage.id for passage in passages}) == 4


def test_short_articles_stay_whole() -> None:
    for words in (0, 1, 74):
        article = article_of("word " * words, "Title")
        assert passages_of(article, words=50) == [article]
    assert len(passages_of(article_of("word " * 76), words=50)) == 2


@settings(max_examples=60)
@given(st.text('ab .!?\n"。é', max_size=400), st.integers(1, 12))
def test_no_word_is_lost_or_doubled(text: str, words: int) -> None:
    passages = passages_of(article_of(text), words)
    assert [word for passage in passages for word in passage.text.split()] == text.replace(
        "。", "。 "
    ).split() or (len(passages) == 1 and passages[0].text == text)
    assert all(passage.text or len(passages) == 1 for passage in passages)
    # A passage is never more than half a cut sentence longer at either end.
    assert len(passages) == 1 or all(len(passage.text.split()) <= 3 * words for passage in passages)


def two_themes() -> tuple[Article, list[Post]]:
    """A long article, most of it about one thing, one passage about another."""
    harbour = "The harbour was closed for ships because the harbour wall had cracks. " * 20
    goat = "A goat walked over the glacier and ate the flag of the expedition. " * 4
    posts = [
        Post("goat", "that goat on the glacier ate the flag"),
        Post("harbour", "harbour closed, cracks in the wall, ships wait"),
        Post("other", "what a goal tonight"),
    ]
    return Article("a", harbour + goat, "News of the day"), posts


def test_the_best_passage_counts() -> None:
    article, posts = two_themes()
    linker_ = linker.load("bm25")
    passages = passages_of(article)
    alone, scale = linker_.model.score(passages, posts), linker_.model.score_scale()
    for how, expected in (("best", alone.max(axis=0)), ("mean", alone.mean(axis=0))):
        got = {r.post.id: r.score for r in linker_.rank(article, posts, passages=how)}  # type: ignore[arg-type]
        assert [got[post.id] for post in posts] == pytest.approx(scale(expected).tolist(), rel=1e-5)
    gain = {
        how: linker_.score([article], posts, how)[0, 0] / linker_.score([article], posts, how)[0, 1]
        for how in ("whole", "best", "mean")
    }
    assert gain["mean"] < gain["best"] > gain["whole"]


def test_several_articles_count_alike_however_long() -> None:
    article, posts = two_themes()
    short = Article("b", "The striker shot a late goal tonight.", "Late goal")
    linker_ = linker.load("bm25")
    apart = PassagePooling(linker_.model, "best").score([article, short], posts)
    got = {r.post.id: r.score for r in linker_.rank([article, short], posts, passages="best")}
    assert [got[post.id] for post in posts] == pytest.approx(
        linker_.model.score_scale()(apart.mean(axis=0)).tolist(), rel=1e-5
    )


@pytest.mark.parametrize("how", ["whole", "best", "mean"])
def test_articles_that_are_one_passage_score_as_they_are(how: str) -> None:
    toy = toy_posts()
    linker_ = linker.load("tfidf")
    got = linker_.score(toy.articles, toy.posts, how)  # type: ignore[arg-type]
    # Passages are scored one by one, and TF-IDF counts words in the article and the posts only.
    raw = linker_.model.score_independently(toy.articles, toy.posts)
    assert (got == linker_.model.score_scale()(raw)).all()


def test_explanations_are_of_whole_articles() -> None:
    article, posts = two_themes()
    with pytest.raises(LinkerError, match="explanations cover whole articles"):
        linker.load("bm25").rank(article, posts, explain=True, passages="best")


def test_the_wrapped_model_is_a_model() -> None:
    article, posts = two_themes()
    model = linker.load("bm25").model
    got = Ranker(PassagePooling(model, "best", words=30)).score([article], posts)
    passages = passages_of(article, 30)
    assert got.shape == (1, 3)
    assert got[0].tolist() == model.score_scale()(model.score(passages, posts).max(axis=0)).tolist()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    article, posts = two_themes()
    (tmp_path / "a.json").write_text(json.dumps({"id": "a", "title": article.title, "text": article.text}))
    lines = [json.dumps({"id": post.id, "text": post.text, "article_id": "a"}) for post in posts]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["linker", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_rank_and_evaluate_score_alike(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    article, posts = two_themes()
    expected = linker.load("bm25").score([article], posts, "best")
    ranking = linker.load("bm25").rank("a.json", "p.jsonl", passages="best")
    ranked = {row.post.id: row.score for row in ranking}
    assert [ranked[post.id] for post in posts] == pytest.approx(expected[0].tolist(), rel=1e-6)
    evaluate = ("evaluate", "bm25", "--articles", "a.json", "--posts", "p.jsonl", "--passages", "best")
    assert run(monkeypatch, *evaluate, "--scores", "s.npz") == 0
    assert read_scores(files / "s.npz").scores.tolist() == expected.tolist()


def test_what_does_not_go_together_is_reported(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LinkerError, match="explanations cover whole articles"):
        linker.load("bm25").rank("a.json", "p.jsonl", passages="mean", explain=True)
    rank = ("rank", "--article", "a.json", "--posts", "p.jsonl", "--passages", "mean")
    assert run(monkeypatch, *rank) == 2
    assert "--passages: not an option of `linker rank`; use" in capsys.readouterr().err
