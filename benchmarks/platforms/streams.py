"""Generated streams: events of Jetstream as JSON lines, comments of Reddit in zstd with the window of its dumps."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_CHUNK = 5_000
#: Distinct records; more only repeat them with other ids.
_DISTINCT = 2_000


def _words(rng: random.Random, least: int, most: int) -> str:
    return " ".join(f"word{int(60_000 * rng.random() ** 3)}" for _ in range(rng.randint(least, most)))


def _jetstream_event(rng: random.Random, number: int) -> dict[str, object]:
    """An event: four fifths posts, a sixth of them with a link card, a third replies; else likes and deletions."""
    did = f"did:plc:{rng.randrange(10**9):024d}"
    kind = rng.random()
    commit: dict[str, object] = {
        "rev": "3lz",
        "operation": "create",
        "collection": "app.bsky.feed.post",
        "rkey": f"k{number}",
        "cid": "bafyreidc6sydkkbchcyg62v77wbhzvb2mvytlmsychqgwf2xojjtirmzj4",
    }
    if kind > 0.97:
        commit["operation"] = "delete"
    elif kind > 0.81:
        commit["collection"] = "app.bsky.feed.like"
        commit["record"] = {"$type": "app.bsky.feed.like", "createdAt": "2026-09-09T19:46:02.102Z"}
    else:
        record: dict[str, object] = {
            "$type": "app.bsky.feed.post",
            "createdAt": "2026-09-09T19:46:02.102Z",
            "langs": ["en"],
            "text": _words(rng, 4, 40),
        }
        if rng.random() < 0.33:
            uri = f"at://{did}/app.bsky.feed.post/p{rng.randrange(10**6)}"
            record["reply"] = {"parent": {"cid": "b", "uri": uri}, "root": {"cid": "b", "uri": uri}}
        if rng.random() < 0.17:
            url = f"https://site{rng.randrange(400)}.example/news/{rng.randrange(10**6)}"
            record["facets"] = [{"features": [{"$type": "app.bsky.richtext.facet#link", "uri": url}]}]
            record["embed"] = {
                "external": {"uri": url, "title": _words(rng, 5, 12), "description": _words(rng, 10, 30)}
            }
        commit["record"] = record
    return {"did": did, "time_us": 1725911162329308 + number, "kind": "commit", "commit": commit}


def _reddit_comment(rng: random.Random, number: int) -> dict[str, object]:
    """A comment; a twentieth are removed, deleted or of AutoModerator. The dumps have about 40 further keys."""
    author, body = f"user{rng.randrange(400_000)}", _words(rng, 4, 80)
    if (kind := rng.random()) > 0.95:
        author, body = ("AutoModerator", body) if kind > 0.98 else ("[deleted]", "[removed]")
    return {
        "id": f"c{number}",
        "author": author,
        "body": body,
        "link_id": f"t3_{rng.randrange(10**5)}",
        "parent_id": f"t1_{rng.randrange(10**6)}",
        "subreddit": "news",
        "created_utc": 1767225601 + number,
        "permalink": f"/r/news/comments/a/b/c{number}/",
        **{f"further_key_{i}": None if i % 2 else i for i in range(40)},
    }


KINDS = {"jetstream": _jetstream_event, "reddit": _reddit_comment}


def _lines(kind: str, count: int) -> Iterator[bytes]:
    rng = random.Random(0)
    records = [json.dumps(KINDS[kind](rng, number)) for number in range(_DISTINCT)]
    for number in range(count):
        text = records[number % _DISTINCT]
        # Each id once.
        text = text.replace(f'"k{number % _DISTINCT}"', f'"k{number}"').replace(
            f'"id": "c{number % _DISTINCT}"', f'"id": "c{number}"'
        )
        yield text.encode() + b"\n"


def write_stream(path: Path, kind: str, count: int) -> None:
    """Write records, in zstd with a window of 2^31 bytes if the name ends in `.zst`."""
    lines = _lines(kind, count)
    options: dict[int, int] = {
        zstd.CompressionParameter.window_log: 31,
        zstd.CompressionParameter.compression_level: 1,
    }
    compressor = zstd.ZstdCompressor(options=options) if path.suffix == ".zst" else None
    with open(path, "wb") as file:
        while chunk := b"".join(line for _, line in zip(range(_CHUNK), lines)):
            file.write(compressor.compress(chunk) if compressor else chunk)
        if compressor:
            file.write(compressor.flush())
