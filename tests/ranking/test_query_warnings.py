"""Warnings about languages that a model was not trained on."""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from linker.data import read_articles
from linker.data.languages import languages_of
from linker.data.types import Article, Post
from linker.models.ensemble import EnsembleModel
from linker.models.tfidf import TfidfModel
from linker.ranking.query_warnings import RECIPE, language_warning, several_warning
from tests.helpers.forked import run_linker

pytest.importorskip("pycld2", reason="has no wheel for this platform")

ROOT = Path(__file__).parents[2]
TEXTS = ROOT / "benchmarks" / "quality" / "texts"
ENGLISH = Article("e", "The train drivers will stop work for three days from Wednesday, their union said.")
GERMAN = Article("g", "Die Lokführer legen von Mittwoch an für drei Tage die Arbeit nieder.")


def model(languages: list[str] | None = None, other_weights: list[float] | None = None) -> EnsembleModel:
    return EnsembleModel([TfidfModel()], fusion="sum", languages=languages, other_weights=other_weights)


def posts(*languages: str) -> list[Post]:
    return [Post(str(i), "text", extra={"lang": language}) for i, language in enumerate(languages)]


def test_what_was_found_what_it_means_and_what_to_do() -> None:
    sentence = language_warning(model(["en"], [0.5]), [GERMAN], languages_of(posts(*["de"] * 5, "en")))
    assert sentence == (
        "article: German; posts: 83 % German. The model was trained on English: words that article and posts share "
        f"lead the ranking. For other languages, train a multilingual model: linker train {RECIPE} --data DIR"
    )
    assert (ROOT / RECIPE).is_file()
    headline = Article("h", "", "Tokyo ’20")
    guessed = language_warning(model(["en"], [0.5]), [headline], languages_of(posts(*["de"] * 5, "en")))
    assert guessed == sentence.replace("; ", " (as most posts: the text is too short to tell); ", 1)


def test_posts_alone_are_reason_enough_from_15_percent_on() -> None:
    english = ["en"] * 17
    assert language_warning(model(["en"]), [ENGLISH], languages_of(posts(*english, "de", "es"))) is None
    sentence = language_warning(model(["en"]), [ENGLISH], languages_of(posts(*english, "de", "de", "es")))
    assert sentence is not None
    assert sentence.startswith("posts: 10 % German, 5 % Spanish. The model was trained on English: it misses")


def test_no_warning_without_a_reason() -> None:
    assert language_warning(model(), [GERMAN], languages_of(posts("de", "de"))) is None  # states no languages
    assert language_warning(model(["en", "de"]), [GERMAN, ENGLISH], languages_of(posts("de", "en"))) is None
    assert language_warning(model(["en"]), [ENGLISH], languages_of([])) is None
    assert language_warning(model(["en"]), [], languages_of([])) is None
    assert language_warning(TfidfModel(), [GERMAN], languages_of(posts("de"))) is None


def test_several_articles_and_languages() -> None:
    sentence = language_warning(
        model(["en", "fr"]), [GERMAN, ENGLISH], languages_of(posts("de", "es", "it", "pt", "tr", "fr"))
    )
    assert sentence is not None
    assert "1 of 2 articles: German; posts: 17 % German, 17 % Spanish, 17 % Italian, 33 % others." in sentence
    assert "trained on English and French" in sentence
    rare = language_warning(model(["en"]), [ENGLISH], Counter({"de": 300, "fr": 1}))
    assert rare is not None
    assert rare.startswith("posts: 100 % German. The model")  # 0 % French


def test_articles_of_one_story_are_one_query_and_others_are_warned_of() -> None:
    sample = {article.id: article for article in read_articles(str(ROOT / "data" / "articles.jsonl"))}
    story = [sample[f"s01-a{n}"] for n in range(1, 5)]
    assert several_warning(story) is several_warning(story[:1]) is None
    assert "share few words, but are one query" in (several_warning([*story, sample["s02-a1"]]) or "")
    old = replace(story[0], published=datetime(2030, 1, 1))
    assert "were published 447 days apart, but" in (several_warning([old, *story[:4]]) or "")
    assert several_warning([ENGLISH, replace(ENGLISH, id="f", text="What a goal.")]) is None  # too short


def rank(article: Path, of_posts: Path, *options: str) -> str:
    done = run_linker(ROOT, "rank", "--article", str(article), "--posts", str(of_posts), *options)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_command_warns_in_one_line_outside_english_only(tmp_path: Path) -> None:
    german = tmp_path / "german.txt"
    german.write_text(read_articles(str(TEXTS / "german" / "articles.jsonl"))[0].full_text, encoding="utf-8")
    german_posts = TEXTS / "german" / "posts.jsonl"
    english, distilled = ROOT / "data" / "article.html", ("--model", "distilled")
    found = rank(german, german_posts, *distilled).splitlines()
    (warning,) = (line for line in found if line.startswith("warning"))
    assert "article: German; posts: 100 % German" in warning
    assert "warning" not in rank(english, ROOT / "data" / "posts.jsonl", *distilled)
    assert "warning" in rank(english, german_posts, *distilled)
    for model in ("bm25", "best"):  # knows words only; knows German
        assert "warning" not in rank(german, german_posts, "--model", model)
