"""Neighboring passages of running text."""

import json

import pytest

from linker.common.errors import ConfigError, DataError
from linker.contrib.deboom2016.passages import Passages, plain_words
from linker.data.splitters.by_article import ByArticleSplitter


@pytest.fixture
def articles(tmp_path):
    file = tmp_path / "articles.jsonl"
    texts = [
        " ".join(f"a{chr(97 + i)}w{chr(97 + k % 26)}{'x' * (k // 26)}" for k in range(300)) for i in range(12)
    ]
    file.write_text("".join(json.dumps({"id": f"n{i}", "text": text}) + "\n" for i, text in enumerate(texts)))
    return file, texts


def test_words_are_lower_case_without_punctuation_and_numbers_are_0():
    assert plain_words("In 2015, 3.5m people—Über 1,000 don't!") == [
        *("in", "0", "0", "0m", "people", "über", "0", "0", "don", "t")
    ]


def test_passages_follow_one_another_with_two_words_between(articles):
    file, texts = articles
    data = Passages(str(file), min_words=10, max_words=30).read()
    lengths = set()
    for i, text in enumerate(texts):
        words, at = text.split(), 0
        own = [(a, p) for a, p in zip(data.articles, data.posts) if a.story == f"n{i}"]
        assert len(own) >= 4
        for first, second in own:
            assert second.article_ids == (first.id,)
            for passage in (first.text.split(), second.text.split()):
                assert passage == words[at : at + len(passage)]
                at += len(passage) + (2 if passage == first.text.split() else 0)
                lengths.add(len(passage))
    assert min(lengths) >= 10
    assert max(lengths) <= 30
    assert len(lengths) > 15


def test_fixed_lengths_and_the_same_pairs_every_time(articles):
    file, _ = articles
    data = Passages(str(file), min_words=20, max_words=20).read()
    assert len(data.articles) == 12 * (300 // 42)
    texts = [article.text for article in data.articles] + [post.text for post in data.posts]
    assert {len(text.split()) for text in texts} == {20}
    assert Passages(str(file)).read() == Passages(str(file)).read()
    assert Passages(str(file)).read() != Passages(str(file), seed=1).read()


def test_a_split_by_article_keeps_an_articles_pairs_together(articles):
    parts = ByArticleSplitter(train=0.5, dev=0.25, test=0.25).split(Passages(str(articles[0])).read())
    stories = [{a.story for a in part.articles} for part in (parts.train, parts.dev, parts.test) if part]
    assert len(stories) == 3
    assert sum(map(len, stories)) == len(set.union(*stories)) == 12


def test_what_cannot_be_is_reported_in_words(articles, tmp_path):
    with pytest.raises(ConfigError, match="min_words"):
        Passages("x", min_words=20, max_words=10)
    with pytest.raises(DataError, match="long enough"):
        Passages(str(articles[0]), min_words=200, max_words=200).read()
