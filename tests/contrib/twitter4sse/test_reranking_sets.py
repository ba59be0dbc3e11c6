"""DQ, DR, CQ, CR, and training sets without their tweets."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.papers.twitter4sse_metrics import read_reranking
from linker.common.errors import DataError
from linker.contrib.twitter4sse.mine_benchmarks import Reranking, mine_benchmarks
from linker.contrib.twitter4sse.mine_pairs import mine_pairs
from tests.helpers.tweets import read_pairs, v1, write

SETS = ("dq", "dr", "cq", "cr")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tweets 1 to 12: each has 7 quotes (n01 to n07) and 6 replies (n11 to n16); 13 has 4 quotes only."""
    objects: list[Any] = []
    for n in range(1, 13):
        objects += [v1(100 * n + i, quotes=v1(n)) for i in range(1, 8)]
        objects += [v1(100 * n + i, replies_to=n) for i in range(11, 17)]
    objects += [v1(1300 + i, quotes=v1(13)) for i in range(4)]
    write(tmp_path / "in" / "a.json", objects[::2])
    write(tmp_path / "in" / "b.json.gz", objects[1::2])
    return tmp_path


def target(tweet: str) -> str:
    """What a tweet of the fixture quotes or answers."""
    return str(int(tweet) // 100)


def build(folder: Path, **options: Any) -> dict[str, list[Reranking]]:
    out = folder / "benchmarks"
    mine_benchmarks([folder / "in"], out, **options)
    return {
        name: read_reranking(out / f"{name}.jsonl.gz") for name in SETS if (out / f"{name}.jsonl.gz").exists()
    }


def test_the_four_sets(folder: Path) -> None:
    sets = build(folder)
    assert {name: len(queries) for name, queries in sets.items()} == dict.fromkeys(SETS, 12)
    for name, queries in sets.items():
        assert len({query.query_id for query in queries}) == 12
        for query in queries:
            is_reply = name.endswith("r")
            assert query.set == name
            assert query.query.endswith(f"number {query.query_id}")
            assert (
                query.query_id == query.parent_id
                if name[0] == "d"
                else target(query.query_id) == query.parent_id
            )
            ids = [one.id for one in query.candidates]
            assert len(set(ids)) == 30
            assert query.query_id not in ids
            relevant = [one.id for one in query.candidates if one.relevant]
            assert len(relevant) == 5
            assert {target(one) for one in relevant} == {query.parent_id}
            assert query.parent_id not in {target(one.id) for one in query.candidates if not one.relevant}
            assert all((int(one) % 100 > 10) == is_reply for one in ids)
            assert all(one.text.endswith(f"number {one.id}") for one in query.candidates)


def test_the_order_of_candidates_reveals_nothing(folder: Path) -> None:
    places = [
        place for query in build(folder)["dq"] for place, one in enumerate(query.candidates) if one.relevant
    ]
    assert 8 < sum(places) / len(places) < 21
    assert len(set(places)) > 15


def test_the_report_adds_up(folder: Path) -> None:
    build(folder, queries=4, negatives=15)
    report = json.loads((folder / "benchmarks" / "benchmarks.report.json").read_text())
    assert report["lines"]["read"] == 12 * 13 + 4
    assert report["links to quotes"]["found"] == 12 * 7 + 4
    assert report["queries of dq"] == {"in all": 12, "more than --queries": 8, "written": 4}
    for name, section in report.items():
        if name not in ("settings", "damaged archives"):
            whole, *parts = section.values()
            assert whole == sum(parts), name


def test_training_sets_lose_every_tweet_of_the_benchmarks(folder: Path) -> None:
    for way in ("quotes", "coreplies"):
        mine_pairs([folder / "in"], way, folder / f"{way}.jsonl.gz")
    train = [folder / name for name in ("quotes.jsonl.gz", "coreplies.jsonl.gz")]
    before = [path.read_bytes() for path in train]
    sets = build(folder, queries=3, negatives=10, train=train)
    assert [path.read_bytes() for path in train] == before, "the files themselves stay as they are"

    used = {one.id for queries in sets.values() for query in queries for one in query.candidates}
    used |= {query.query_id for queries in sets.values() for query in queries}
    for name in ("quotes", "coreplies"):
        kept = read_pairs(folder / "benchmarks" / "train" / f"{name}.jsonl.gz")
        all_pairs = read_pairs(folder / f"{name}.jsonl.gz")
        assert 0 < len(kept) < len(all_pairs)
        assert not used & {pair[key] for pair in kept for key in ("id", "anchor_id", "parent_id")}
        assert [pair for pair in all_pairs if pair in kept] == kept


def test_texts_of_the_benchmarks_leave_too(folder: Path) -> None:
    (query, *_) = build(folder)["dq"]
    copies = [{"text": f"@you {query.query.upper()}", "anchor_text": "words of its own"}]
    copies.append({"text": "what nobody else says", "anchor_text": "words of its own"})
    (folder / "own.jsonl").write_text("".join(json.dumps(copy) + "\n" for copy in copies))
    build(folder, train=[folder / "own.jsonl"])
    assert read_pairs(folder / "benchmarks" / "train" / "own.jsonl") == copies[1:]
    report = json.loads((folder / "benchmarks" / "benchmarks.report.json").read_text())
    assert report["training set own.jsonl"] == {"in all": 2, "a text of a benchmark": 1, "written": 1}


@pytest.mark.parametrize("line", ["{", "[]", "3", '{"text": "one only"}', '{"text": 1, "anchor_text": "x"}'])
def test_a_training_set_that_is_none(folder: Path, line: str) -> None:
    (folder / "own.jsonl").write_text(json.dumps({"text": "a", "anchor_text": "b"}) + f"\n{line}\n")
    with pytest.raises(DataError, match=r"own\.jsonl, line 2: "):
        build(folder, train=[folder / "own.jsonl"])


def test_sets_that_cannot_be_made(folder: Path) -> None:
    (folder / "in" / "b.json.gz").unlink()  # now nobody has more than 4 quotes or 3 replies
    with pytest.raises(
        DataError, match=r"no reranking set can be made.*dq: 0, dr: 0, cq: 0, cr: 0.*give more archives"
    ):
        build(folder)
    sets = build(folder, positives=2, negatives=10)
    assert {len(query.candidates) for queries in sets.values() for query in queries} == {12}


def test_a_set_without_queries_is_not_written(folder: Path) -> None:
    quotes = [v1(100 * n + i, quotes=v1(n)) for n in range(1, 13) for i in range(1, 8)]
    build(folder)
    (folder / "in" / "b.json.gz").unlink()
    write(folder / "in" / "a.json", quotes)
    assert set(build(folder)) == {"dq", "cq"}, "nor is one of an earlier run left"


def test_texts_that_several_say_are_in_one_query(folder: Path) -> None:
    spam = [v1(2000 + n, "follow me for many more of these", quotes=v1(n)) for n in range(1, 13)]
    write(folder / "in" / "c.json", spam)
    sets = build(folder, negatives=5)
    assert set(sets) == set(SETS)
    for name, queries in sets.items():
        for query in queries:
            texts = [query.query, *(one.text for one in query.candidates)]
            assert len(set(texts)) == len(texts), name


def test_reading_a_set_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "dq.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"set": "dq"}\n'))
    with pytest.raises(DataError, match=r"dq\.jsonl\.gz, line 1: not a query"):
        read_reranking(path)
    path.write_bytes(gzip.compress(b""))
    with pytest.raises(DataError, match="no queries in this file"):
        read_reranking(path)
