"""The four ways to find pairs, by hand on a small archive; and where every line and link went."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.common.errors import DataError
from linker.contrib.twitter4sse.links import PAIR_KINDS, hash_of
from linker.contrib.twitter4sse.mine_pairs import mine_pairs, report_path
from linker.data.io.columns import SingleFileColumns
from linker.data.readers.pairs_file import SingleFile
from tests.helpers.tweets import read_pairs, v1, write

WAYS = sorted(PAIR_KINDS)
COLUMNS = SingleFileColumns(url="anchor_id", article="anchor_text", id="id")


def mine(tmp_path: Path, way: str, objects: list[Any], **options: Any) -> list[dict[str, Any]]:
    write(tmp_path / "in" / "a.json.bz2", objects)
    out = tmp_path / f"{way}.jsonl.gz"
    mine_pairs([tmp_path / "in"], way, out, **options)
    check_report(json.loads(report_path(out).read_text()), read_pairs(out), len(objects))
    return read_pairs(out)


def check_report(report: dict[str, Any], pairs: list[Any], lines: int) -> None:
    """In every section the parts add up to the whole; the wholes are what was read and made."""
    assert report["lines"]["read"] == lines
    assert report.get("pairs", {}).get("written", 0) == len(pairs)
    sections = [value for name, value in report.items() if name not in ("settings", "damaged archives")]
    assert len(sections) == (3 if pairs or "pairs" in report else 2)
    for section in sections:
        whole, *parts = section.values()
        assert whole == sum(parts), section
        assert all(count > 0 for count in parts)


def ids(pairs: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(pair["anchor_id"], pair["id"]) for pair in pairs}


def first(*numbers: int) -> list[str]:
    """Ids in the order in which children of a tweet are preferred."""
    return sorted(map(str, numbers), key=hash_of)


class TestByHand:
    """One archive. Tweet 1 is quoted by 11, 12 and 13, tweet 2 by 21; 1 is answered by 31 and 32, 2 by 33, and
    the unknown tweet 99 by 34 and 35. Tweet 11 was retweeted, and 13 is French."""

    quoted, other = v1(1), v1(2)
    objects = (
        v1(11, quotes=quoted),
        v1(12, quotes=quoted),
        v1(13, "c'est assez long pour une phrase", quotes=quoted, lang="fr"),
        v1(77, "RT @u: there", retweets=v1(11, quotes=quoted)),
        v1(21, quotes=other),
        v1(31, replies_to=1),
        v1(32, replies_to=1),
        v1(33, replies_to=2),
        v1(34, replies_to=99),
        v1(35, replies_to=99),
        {"delete": {"status": {"id": 1}}},
        b"{broken",
    )

    def test_quotes(self, tmp_path: Path) -> None:
        assert ids(mine(tmp_path, "quotes", [*self.objects])) == {("1", first(11, 12)[0]), ("2", "21")}
        report = json.loads((tmp_path / "quotes.report.json").read_text())
        assert report["lines"] == {
            "read": 12,
            "tweets, with links": 5,
            "tweets, without links": 5,
            "broken JSON": 1,
            "notice of a deletion": 1,
        }
        assert report["links to quotes"] == {
            "found": 5,
            "in pairs": 2,
            "another language": 1,
            "surplus of the same tweet": 1,
            "met again": 1,
        }

    def test_replies(self, tmp_path: Path) -> None:
        assert ids(mine(tmp_path, "replies", [*self.objects])) == {("1", first(31, 32)[0]), ("2", "33")}
        assert json.loads((tmp_path / "replies.report.json").read_text())["links to replies"] == {
            "found": 5,
            "in pairs": 2,
            "its tweet: not in the archives": 2,
            "surplus of the same tweet": 1,
        }

    def test_coquotes(self, tmp_path: Path) -> None:
        pairs = mine(tmp_path, "coquotes", [*self.objects])
        assert ids(pairs) == {tuple(first(11, 12))}
        assert pairs[0]["parent_id"] == "1"

    def test_coreplies(self, tmp_path: Path) -> None:
        pairs = mine(tmp_path, "coreplies", [*self.objects])
        assert ids(pairs) == {tuple(first(31, 32)), tuple(first(34, 35))}


class TestRules:
    def test_the_record(self, tmp_path: Path) -> None:
        quote = v1(2, "@u I really HAVE to disagree https://t.co/x", quotes=v1(1, created_at="whenever"))
        assert mine(tmp_path, "quotes", [quote]) == [
            {
                "kind": "quote",
                "parent_id": "1",
                "anchor_id": "1",
                "anchor_text": "there is quite a lot to say about number 1",
                "id": "2",
                "text": "i really have to disagree",
                "created_at": "2014-01-02T16:52:48+00:00",
            }
        ]

    def test_a_pair_says_two_things(self, tmp_path: Path) -> None:
        parent = v1(1, "Breaking: the bridge is open again")
        copies = [v1(n, "@you breaking: THE bridge is open again", quotes=parent) for n in (2, 3)]
        assert mine(tmp_path, "quotes", copies) == []
        assert ids(mine(tmp_path, "quotes", [*copies, v1(4, quotes=parent)])) == {("1", "4")}
        assert mine(tmp_path, "coquotes", copies) == []

    def test_a_text_is_in_one_pair_only(self, tmp_path: Path) -> None:
        spam = "Follow me for many more of these"
        objects = [v1(10 + n, spam, quotes=v1(n)) for n in range(1, 5)]
        assert len(mine(tmp_path, "quotes", objects)) == 1
        report = json.loads((tmp_path / "quotes.report.json").read_text())
        assert report["pairs"] == {"in all": 4, "a text of it in another pair": 3, "written": 1}

    def test_the_whole_text_of_a_tweet_met_twice(self, tmp_path: Path) -> None:
        cut = v1(2, "this is how far the text goes…", truncated=True, quotes=v1(1))
        whole = cut | {"extended_tweet": {"full_text": "this is how far the text goes and no further"}}
        for objects in ([cut, whole], [whole, cut]):
            (pair,) = mine(tmp_path, "quotes", objects)
            assert pair["text"].endswith("and no further")

    def test_an_unusable_parent_is_reported(self, tmp_path: Path) -> None:
        some = [v1(2, quotes=v1(1, "tiny")), v1(4, quotes=v1(3, lang="fr")), v1(6, quoted_status_id_str="5")]
        assert mine(tmp_path, "quotes", some) == []
        assert json.loads((tmp_path / "quotes.report.json").read_text())["links to quotes"] == {
            "found": 3,
            "its tweet: another language": 1,
            "its tweet: not in the archives": 1,
            "its tweet: too short": 1,
        }

    def test_a_sample(self, tmp_path: Path) -> None:
        objects = [v1(100 + n, quotes=v1(n)) for n in range(1, 60)]
        every = mine(tmp_path, "quotes", objects)
        assert mine(tmp_path, "quotes", objects, max_pairs=20) == every[:20]
        assert [pair["parent_id"] for pair in every] == first(*range(1, 60)), "in random order"

    def test_a_tweet_that_answers_itself(self, tmp_path: Path) -> None:
        assert mine(tmp_path, "replies", [v1(1, replies_to=1)]) == []

    def test_nothing_but_rubbish(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.json", [b"{", b"", {"delete": {}}])
        message = r"no tweets in 3 lines \(1 .*; expected are JSON lines of tweet objects"
        with pytest.raises(DataError, match=message):
            mine_pairs([path], "quotes", tmp_path / "out.jsonl")
        assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("way", WAYS)
def test_linkers_own_reader_reads_them(tmp_path: Path, way: str) -> None:
    objects = [v1(100 + n, quotes=v1(n), replies_to=n) for n in range(1, 9)]
    objects += [v1(200 + n, quotes=v1(n), replies_to=n) for n in range(1, 9)]
    pairs = mine(tmp_path, way, objects)
    data = SingleFile(str(tmp_path / f"{way}.jsonl.gz"), COLUMNS).read()
    assert len(pairs) == 8
    assert [(post.article_ids[0], post.id, post.text) for post in data.posts] == [
        (pair["anchor_id"], pair["id"], pair["text"]) for pair in pairs
    ]
    assert {article.id: article.text for article in data.articles} == {
        pair["anchor_id"]: pair["anchor_text"] for pair in pairs
    }


TEXTS = st.sampled_from(["tiny", "a text of more than twenty letters", "another such text, also long enough"])


@st.composite
def archives(draw: st.DrawFn) -> list[Any]:
    objects: list[Any] = []
    for _ in range(draw(st.integers(1, 25))):
        number, target = draw(st.integers(1, 12)), draw(st.integers(1, 6))
        text = draw(TEXTS | st.none())
        language = draw(st.sampled_from(["en", "en", "en", "fr", None]))
        kind = draw(st.sampled_from(["plain", "quote", "reply", "both", "retweet", "rubbish"]))
        more: dict[str, Any] = {"lang": language, "truncated": draw(st.booleans())}
        if kind in ("quote", "both", "retweet"):
            more["quotes"] = v1(target, draw(TEXTS | st.none()))
        if kind in ("reply", "both"):
            more["replies_to"] = target
        if kind == "rubbish":
            objects.append(draw(st.sampled_from([b"", b"{", b"\xff", b"[]", {"delete": 1}, {"x": 1}])))
        else:
            tweet = v1(number, text, **more)
            objects.append(v1(900, "RT", retweets=tweet) if kind == "retweet" else tweet)
    objects.append(v1(999))
    return objects


@settings(max_examples=40)
@given(archives(), st.sampled_from(WAYS), st.none() | st.integers(1, 3))
def test_every_line_and_link_is_accounted_for(
    tmp_path: Path, objects: list[Any], way: str, max_pairs: int | None
) -> None:
    pairs = mine(tmp_path, way, objects, max_pairs=max_pairs)
    assert len({pair["parent_id"] for pair in pairs}) == len(pairs), "one pair per parent"
    texts = [text for pair in pairs for text in (pair["anchor_text"], pair["text"])]
    assert len(set(texts)) == len(texts), "no text twice"
    assert all(len(text) >= 20 for text in texts)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(20, 99), st.integers(1, 6)), unique_by=lambda one: one[0], min_size=1),
    st.sampled_from(WAYS),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_lines_changes_nothing(
    tmp_path: Path, numbers: list[tuple[int, int]], way: str, rng: random.Random
) -> None:
    # Many tweets say the same.
    texts = {number: f"one of the texts, that is number {number % 10 or number}" for number, _ in numbers}
    objects = [v1(n, texts[n], quotes=v1(target), replies_to=target) for n, target in numbers]
    objects += [v1(target) for target in range(1, 5)]
    pairs = mine(tmp_path, way, objects)
    rng.shuffle(objects)
    assert mine(tmp_path, way, objects) == pairs
