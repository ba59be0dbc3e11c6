"""Cleaning, and which tweets will do."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.common.errors import ConfigError
from linker.contrib.twitter4sse.tweets import Tweet, TweetFilter, clean
from linker.data.tokenizers.patterns import LINK, without_links

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


@pytest.mark.parametrize("text", ["WWW.a.b", "wWw.x.y z", "httpS:…", "t.co/x", "http://", "bit.ly/1…"])
def test_the_shortcut_of_links_misses_none(text: str) -> None:
    assert without_links(text) == LINK.sub(" ", text)


class TestFilter:
    @pytest.mark.parametrize(
        ("tweet", "fault"),
        [
            (Tweet("1", TEXT, language="en"), None),
            (Tweet("1", TEXT, language="fr"), "another language"),
            (Tweet("1", TEXT), "language unknown"),
            (Tweet("1", TEXT, cut=True, language="en"), "cut off"),
            (Tweet("1", "short", language="en"), "too short"),
            (Tweet("1", TEXT + "\ud83d", language="en"), "half a character"),
        ],
    )
    def test_why_not(self, tweet: Tweet, fault: str | None) -> None:
        assert TweetFilter().fault(tweet) == fault

    def test_less_strict(self) -> None:
        assert TweetFilter(3, ()).fault(Tweet("1", "oui", language="fr")) is None

    def test_the_length_is_counted_in_characters(self) -> None:
        filter = TweetFilter(min_length=4)
        assert filter.fault(Tweet("1", "äöü", language="en")) == "too short"
        assert filter.fault(Tweet("1", "äöüß", language="en")) is None

    def test_no_length(self) -> None:
        with pytest.raises(ConfigError, match="min_length is 0"):
            TweetFilter(min_length=0)
