"""The pairs of the Twitter4SSE benchmark: ids, further pairs, the order of the runs."""

import json

from benchmarks.papers.twitter4sse import every_pair, further_pairs, tweet_objects
from linker.data.io.columns import SingleFileColumns
from linker.data.readers.pairs_file import SingleFile
from tests.helpers.tweets import read_pairs, write

PARENTS = {
    "reply": "officials say the bridge in the harbor is closed until friday",
    "quote": "the museum opens its new wing of modern paintings on monday",
}


def archives(folder):
    """A reply and a quote, each the first of its kind, as two archives."""
    pairs = [
        {
            "kind": kind,
            "text": f"so my way home takes twice as long, thank you for that {kind}",
            "parent_text": parent,
            "truncated": False,
            "parent_truncated": False,
            "created_at": "2020-01-01T00:00:00Z",
        }
        for kind, parent in PARENTS.items()
    ]
    write(folder / "pairs.jsonl.gz", pairs)
    for kind in PARENTS:
        write(folder / f"{kind}.jsonl.gz", tweet_objects(folder / "pairs.jsonl.gz", kind))
    return [folder / f"{kind}.jsonl.gz" for kind in PARENTS]


def test_every_tweet_keeps_its_own_parent_when_the_archives_are_read_together(tmp_path):
    every_pair(archives(tmp_path), tmp_path / "every.jsonl.gz")
    found = read_pairs(tmp_path / "every.jsonl.gz")
    assert {pair["kind"]: pair["anchor_text"] for pair in found} == PARENTS


def test_further_pairs_can_be_read_with_those_of_the_paper(tmp_path):
    one, other, tweet = "the first reply to the tweet", "the second reply to the tweet", "the tweet itself"
    paper = {"anchor_id": "1", "anchor_text": one, "id": "2", "text": other}
    every = [
        {"anchor_id": "0", "anchor_text": tweet, "id": "1", "text": one},
        {"anchor_id": "0", "anchor_text": tweet, "id": "2", "text": other},
        paper,
    ]
    lines = [json.dumps(pair).encode() + b"\n" for pair in every]
    further = further_pairs(lines, lines[2:])
    (tmp_path / "train.jsonl").write_bytes(b"".join([lines[2], *further]))
    columns = SingleFileColumns(url="anchor_id", article="anchor_text")
    linked = SingleFile(str(tmp_path / "train.jsonl"), columns).read()
    texts = {article.id: article.text for article in linked.articles}
    assert [(texts[post.article_ids[0]], post.text) for post in linked.posts] == [
        (one, other),
        (tweet, one),
        (tweet, other),
    ]
