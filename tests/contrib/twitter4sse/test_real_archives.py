"""Mining a real set of tweet objects, checked against a plain reading of the same file."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from linker.contrib.twitter4sse.mine_pairs import mine_pairs
from linker.contrib.twitter4sse.tweets import clean
from tests.helpers.tweets import read_pairs

DATA = Path(os.environ.get("LINKER_REAL_DATA", Path(__file__).parents[4] / "shared" / "data"))
OBJECTS = DATA / "tweet_objects_v11" / "stocknet_sample.jsonl.gz"

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not OBJECTS.is_file(), reason="tweet_objects_v11 is not here"),
]


@pytest.fixture(scope="module")
def originals() -> list[dict]:
    """Every tweet of the set that is not a retweet: retweets count as their originals."""
    with gzip.open(OBJECTS, "rt", encoding="utf-8") as file:
        objects = [json.loads(line) for line in file]
    return [one.get("retweeted_status") or one for one in objects]


def usable(value: dict) -> bool:
    return value.get("lang") == "en" and not value.get("truncated") and len(clean(value["text"])) >= 20


def mine(way: str, out: Path) -> list[dict]:
    mine_pairs([OBJECTS], way, out)
    return read_pairs(out)


def test_quotes(originals: list[dict], tmp_path: Path) -> None:
    pairs = mine("quotes", tmp_path / "pairs.jsonl")
    expected = {
        (one["quoted_status"]["id_str"], one["id_str"])
        for one in originals
        if one.get("quoted_status") and usable(one) and usable(one["quoted_status"])
    }
    found = {(pair["anchor_id"], pair["id"]) for pair in pairs}
    assert found <= expected
    # What is missing repeats a text, or is another quote of the same tweet.
    assert len(found) > 0.8 * len({parent for parent, _ in expected})


def test_replies(originals: list[dict], tmp_path: Path) -> None:
    pairs = mine("replies", tmp_path / "pairs.jsonl")
    nested = [one["quoted_status"] for one in originals if one.get("quoted_status")]
    known = {one["id_str"]: one for one in [*originals, *nested] if usable(one)}
    expected = {
        (one["in_reply_to_status_id_str"], i)
        for i, one in known.items()
        if one.get("in_reply_to_status_id_str") in known
    }
    found = {(pair["anchor_id"], pair["id"]) for pair in pairs}
    assert found
    assert found <= expected
    assert len(found) > 0.8 * len({parent for parent, _ in expected})


def test_texts_are_those_of_the_objects(originals: list[dict], tmp_path: Path) -> None:
    import html

    nested = [one["quoted_status"] for one in originals if one.get("quoted_status")]
    texts = {one["id_str"]: clean(html.unescape(one["text"])) for one in [*nested, *originals]}
    for way in ("quotes", "replies", "coquotes", "coreplies"):
        for pair in mine(way, tmp_path / f"{way}.jsonl"):
            assert pair["text"] == texts[pair["id"]]
            assert pair["anchor_text"] == texts[pair["anchor_id"]]
