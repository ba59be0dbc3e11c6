"""The bundled models: they load anywhere, and are no worse than BM25 on stories they never saw."""

import re
from pathlib import Path

import numpy as np
import pytest

from linker import load
from linker.common.errors import ModelError
from linker.data import read_articles, read_posts
from linker.data.types import Article, LinkedPosts, Post
from linker.evaluation.evaluate import evaluate
from linker.models.bm25 import BM25Model
from linker.models.files.resolve import resolve_models
from linker.models.pretrained import FOLDERS

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize("name", FOLDERS)
def test_it_knows_words_that_mean_similar_things(name: str) -> None:
    posts = ["the physician saw her patients", "the goalkeeper saved a penalty", "interest rates went up"]
    for article, best in (
        ("Doctors at the hospital", 0),
        ("A football match", 1),
        ("The bank and inflation", 2),
    ):
        ranking = load(name).rank(Article("a", "", article), posts)
        assert ranking[0].post.text == posts[best]


@pytest.mark.parametrize("name", FOLDERS)
def test_on_invented_stories_it_is_above_bm25(name: str) -> None:
    articles = [a for a in read_articles(str(DATA / "articles.jsonl")) if a.split == "dev"]
    known = {article.id for article in articles}
    posts = [post for post in read_posts(str(DATA / "posts.jsonl")) if known & set(post.article_ids)]
    linked = LinkedPosts(articles, posts)
    own = evaluate(load(name).model.score(articles, posts), linked)
    assert own["MAP"] > evaluate(BM25Model().score(articles, posts), linked)["MAP"]


def test_best_finds_posts_in_other_languages() -> None:
    pytest.importorskip("pycld2", reason="has no wheel for this platform")
    about = ["Lokführer streiken, Mittwoch kein Zug", "火车又停运三天？司机罢工", "huelga: días sin tren"]
    others = ["Rezept für Apfelkuchen mit Zimt", "今天天气真好，去公园散步吧", "mi equipo ha perdido"]
    posts = [Post(str(number), text) for number, text in enumerate([*about, *others])]
    english = "The train drivers will stop work for three days from Wednesday, their union said."
    ranked = load("best").rank(Article("a", english), posts)
    assert {one.post.id for one in ranked[: len(about)]} == {"0", "1", "2"}
    german = "Die Lokführer legen von Mittwoch an für drei Tage die Arbeit nieder, sagt ihre Gewerkschaft."
    best, *rest = load("best").rank(Article("a", german), posts)
    assert (best.post.id, best.score > 50) == ("0", True)
    assert all(one.score < 50 for one in rest)


def test_its_files_do_not_tell_where_it_was_made() -> None:
    for file in FOLDERS["best"].rglob("*"):
        if file.suffix in (".json", ".md"):
            text = file.read_text(encoding="utf-8")
            assert not re.search(r'"/[a-z][\w.-]*/\w|site-packages', text)


def test_no_word_of_it_names_an_account_or_an_address() -> None:
    words = (FOLDERS["distilled"] / "part-0/vocabulary.txt").read_text(encoding="utf-8").split("\n")
    assert not [word for word in words if (word.startswith("@") and word != "@user") or "/" in word]
    assert len(words) > 30_000


@pytest.mark.parametrize("name", FOLDERS)
def test_its_name_means_its_folder_and_any_text_has_a_finite_score(name: str) -> None:
    found = resolve_models([name])[0]
    assert (found.name, found.kind) == (name, "folder")
    posts = [Post(str(i), text) for i, text in enumerate(["", "🔥", "qzxv ẞtrange 東京", "a" * 5000])]
    scores = load(name).model.score([Article("a", "", ""), Article("b", "t", "words")], posts)
    assert np.isfinite(scores).all()
    with pytest.raises(ModelError, match="best, distilled, bm25, tfidf, or USER/MODEL"):
        resolve_models(["nothing-like-it"])
