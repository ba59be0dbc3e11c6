"""Tweets out of objects: nesting, full texts, and whatever else a line may hold."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.contrib.twitter4sse.tweets import Tweet, tweets_in, tweets_of_line
from tests.helpers.tweets import v1


def by_id(value: dict[str, Any]) -> dict[str, Tweet]:
    found = tweets_in(value)
    assert len({tweet.id for tweet in found}) == len(found)
    return {tweet.id: tweet for tweet in found}


class TestVersion1:
    def test_a_tweet(self) -> None:
        assert tweets_in(v1(5, "Fish &amp; chips &lt;3")) == [
            Tweet("5", "fish & chips <3", language="en", created_at="Thu Jan 02 16:52:48 +0000 2014")
        ]

    def test_the_extended_text_is_the_text(self) -> None:
        value = v1(5, "short… https://t.co/x", truncated=True, extended_tweet={"full_text": "all of it"})
        (tweet,) = tweets_in(value)
        assert (tweet.text, tweet.cut) == ("all of it", False)

    def test_objects_in_extended_mode_have_a_full_text_only(self) -> None:
        value = v1(5, full_text="all of it")
        del value["text"]
        assert tweets_in(value)[0].text == "all of it"

    def test_a_quote_and_what_it_quotes(self) -> None:
        found = by_id(v1(5, quotes=v1(4, replies_to=3)))
        assert found["5"].quotes == "4"
        assert (found["4"].replies_to, found["4"].quotes) == ("3", None)

    def test_a_reply(self) -> None:
        assert by_id(v1(5, replies_to=4))["5"].replies_to == "4"

    def test_a_retweet_is_its_original(self) -> None:
        found = by_id(v1(6, "RT @user: there is qu…", retweets=v1(5, quotes=v1(4))))
        assert set(found) == {"5", "4"}
        assert found["5"].quotes == "4"

    def test_the_quoted_tweet_may_lie_beside_the_retweeted_quote(self) -> None:
        inner = v1(5, quoted_status_id_str="4")
        found = by_id(v1(6, retweets=inner, quotes=v1(4)))
        assert set(found) == {"5", "4"}
        assert found["5"].quotes == "4"

    def test_ids_without_strings(self) -> None:
        value = v1(5, quoted_status_id=2**60 + 1)
        del value["id_str"]
        assert by_id(value)["5"].quotes == str(2**60 + 1)


class TestCut:
    LONG = "x" * 100 + " " + "y" * 30

    @pytest.mark.parametrize("ending", ["abcde…", "abcde… https://t.co/abc", "abc… \n"])
    def test_a_long_text_that_ends_in_dots_is_cut(self, ending: str) -> None:
        assert tweets_in(v1(5, f"{self.LONG} {ending}"))[0].cut

    @pytest.mark.parametrize("text", ["well…", f"{LONG} abcde", f"{LONG}… abcde"])
    def test_others_are_whole(self, text: str) -> None:
        assert not tweets_in(v1(5, text))[0].cut

    def test_as_flagged(self) -> None:
        assert tweets_in(v1(5, truncated=True))[0].cut
        assert not tweets_in(v1(5, truncated=True, full_text="all"))[0].cut


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"delete": {"status": {"id": 5, "id_str": "5"}}},
        {"id": 5},
        {"id": 5, "text": ""},
        {"id": True, "text": "x"},
        {"id": 1e18, "text": "x"},
        {"id": "five", "text": "x"},
        {"id": "٥", "text": "x"},
        {"errors": [{"title": "Not Found Error"}]},
    ],
)
def test_no_tweet(value: dict[str, Any]) -> None:
    assert tweets_in(value) == []


MORE = ["full_text", "type", "delete", "extended_tweet", "quoted_status_id"]
NAMES = st.sampled_from([*v1(1, quotes={"id_str": "2"}, retweets={}), *MORE])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["5", "17", "en", "\ud83d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=12,
)


@settings(max_examples=300)
@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_any_object_is_understood_or_not_but_breaks_nothing(value: dict[str, Any]) -> None:
    for tweet in by_id(value).values():
        for number in (tweet.id, tweet.quotes, tweet.replies_to):
            assert number is None or (number.isascii() and number.isdigit())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "blank"),
        (b" \r\n", "blank"),
        (b"\xef\xbb\xbf\n", "blank"),
        (b'{"id": 5, "text": "\xff"}', "invalid UTF-8"),
        (b'{"id": 5, "text": ', "broken JSON"),
        (b'{"id": ' + b"9" * 5000 + b"}", "broken JSON"),
        (b"[" * 100_000, "broken JSON"),
        (b'[{"id": 5, "text": "x"}]', "not a JSON object"),
        (b'{"delete": {}}', "notice of a deletion"),
        (b'{"limit": {"track": 3}}', "no tweet in it"),
    ],
)
def test_why_a_line_holds_no_tweet(line: bytes, reason: str) -> None:
    assert tweets_of_line(line) == reason
