"""Cleaning, and which tweets will do."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.common.errors import ConfigError
from linker.contrib.twitter4sse.cleaning import TweetFilter, Usable, clean, text_hash
from linker.contrib.twitter4sse.tweets import Tweet

TEXT = "This is long enough, is it not?"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("@user  Look:\n\nHTTPS://t.co/AbC now", "look: now"),
        ("RT @a_b1: www.example.org/x?y=1 END", "rt : end"),
        ("pic.twitter.com/abc tail", "tail"),
        ("mail me@home.org", "mail me@home.org"),
        ("cut http…", "cut"),
        ("and/or …", "and/or …"),
        ("＠user Ärger\u00a0\u3000UND\tFreude 🎉", "ärger und freude 🎉"),
        ("#Hashtag $AAPL stays", "#hashtag $aapl stays"),
    ],
)
def test_clean(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text(alphabet=st.sampled_from("aB @_/.…:\n\u3000") | st.characters(exclude_categories=["Cs"])))
def test_clean_texts_have_single_spaces_and_no_mentions(text: str) -> None:
    cleaned = clean(text)
    assert cleaned == " ".join(cleaned.split())
    assert not re.search(r"(?:^|\s)@[a-z0-9_]", cleaned)


def test_the_shortcuts_of_clean_miss_nothing() -> None:
    from linker.contrib.twitter4sse import cleaning

    def slowly(text: str) -> str:
        return " ".join(cleaning._MENTION.sub(" ", cleaning._URL.sub(" ", text)).lower().split())

    for text in ("WWW.a.b", "wWw.x.y z", "httpS:…", "t.co/x", "http://", "a@b @c", "bit.ly/1…"):
        assert clean(text) == slowly(text)


class TestFilter:
    def test_a_good_one(self) -> None:
        cleaned = "this is long enough, is it not?"
        assert TweetFilter().judge(Tweet("1", TEXT, language="en")) == Usable(cleaned, text_hash(cleaned))

    def test_the_original_text_on_request(self) -> None:
        usable = TweetFilter(texts="original").judge(Tweet("1", f"@you {TEXT}", language="en"))
        assert usable == Usable(f"@you {TEXT}", text_hash(clean(TEXT)))

    @pytest.mark.parametrize(
        ("tweet", "reason"),
        [
            (Tweet("1", TEXT, language="fr"), "another language"),
            (Tweet("1", TEXT), "language unknown"),
            (Tweet("1", TEXT, cut=True, language="en"), "cut off"),
            (Tweet("1", "@user_with_a_long_name short", language="en"), "too short"),
            (Tweet("1", TEXT + "\ud83d", language="en"), "half a character"),
        ],
    )
    def test_why_not(self, tweet: Tweet, reason: str) -> None:
        assert TweetFilter().judge(tweet) == reason

    def test_less_strict(self) -> None:
        filter = TweetFilter(min_length=3, languages=[])
        assert isinstance(filter.judge(Tweet("1", "oui", language="fr")), Usable)

    def test_the_length_is_counted_in_characters(self) -> None:
        filter = TweetFilter(min_length=4)
        assert filter.judge(Tweet("1", "äöü", language="en")) == "too short"
        assert isinstance(filter.judge(Tweet("1", "äöüß", language="en")), Usable)

    def test_no_length(self) -> None:
        with pytest.raises(ConfigError, match="min_length is 0"):
            TweetFilter(min_length=0)
