"""Posts paired by hashtags, times and words."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from linker.common.errors import DataError
from linker.contrib.deboom2016.hashtag_pairs import HashtagPairs

START = datetime(2031, 5, 1, tzinfo=timezone.utc)


def pairs_of(tmp_path, posts, **settings):
    """The pairs of (minute, text) rows, as the rows' numbers, and what the reader gave."""
    file = tmp_path / "posts.jsonl"
    rows = [
        {"id": str(i), "text": text, "created_at": (START + timedelta(minutes=minute)).isoformat()}
        for i, (minute, text) in enumerate(posts)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = HashtagPairs(str(file), **settings).read()
    return [tuple(map(int, article.id.split("+"))) for article in data.articles], data


FLOOD = "water rises over the old bridge #flood"
ROAD = "the road to town stays closed tonight #flood"


@pytest.mark.parametrize(
    ("other", "paired"),
    [
        ((5, ROAD), True),
        ((15, ROAD), True),
        ((15.1, ROAD), False),  # too late
        ((5, "the road closed again #flood"), False),  # four words
        ((5, "@you road closed again today http://t.co/x #flood"), False),  # four, without mention and link
        ((5, "water rises over the old mill #flood"), False),  # 5 of 7 words are the same
        ((5, f"{ROAD} #storm"), True),  # 1 of 2 hashtags
        ((5, f"{ROAD} #storm #wind"), False),  # 1 of 3
        ((5, f"{ROAD} #storm #breaking #News"), True),  # those two do not count
        ((5, ROAD.replace("#flood", "#FLOOD")), True),
        ((5, ROAD.replace("#flood", "flood")), False),
    ],
)
def test_the_four_rules(tmp_path, other, paired):
    control = [(100, "one two three four five #control"), (101, "six seven eight nine ten #control")]
    pairs, _ = pairs_of(tmp_path, [(0, FLOOD), other, *control])
    assert pairs == ([(0, 1)] if paired else []) + [(2, 3)]


def test_shared_hashtags_mentions_and_links_are_gone_and_other_hashtags_are_words(tmp_path):
    texts = ["RT @you: Water rises over 3 bridges #Flood https://t.co/x", f"{ROAD} #Storm2031 #news"]
    _, data = pairs_of(tmp_path, [(0, texts[0]), (1, texts[1])])
    assert data.articles[0].text == "rt water rises over 0 bridges"
    assert data.posts[0].text == "the road to town stays closed tonight storm0"
    assert data.posts[0].extra["hashtags"] == ["flood", "storm2031"]


def test_nobody_is_in_two_pairs_and_the_nearest_before_is_the_partner(tmp_path):
    words = ["aa bb cc dd ee", "ff gg hh ii jj", "kk ll mm nn oo", "pp qq rr ss tt", "uu vv ww xx yy"]
    posts = [(minute, f"{text} #x") for minute, text in zip((0, 3, 4, 9, 10), words)]
    assert pairs_of(tmp_path, posts)[0] == [(0, 1), (2, 3)]
    assert pairs_of(tmp_path, posts, per_hashtag=1)[0] == [(0, 1)]
    late = [(0, f"{words[0]} #x"), (3, f"{words[1]} #y"), (4, f"{words[2]} #x #y")]
    assert pairs_of(tmp_path, late)[0] == [(1, 2)]


def test_without_a_pair_the_message_counts(tmp_path):
    with pytest.raises(DataError, match="of 2 posts 2 have"):
        pairs_of(tmp_path, [(0, FLOOD), (60, ROAD)])
