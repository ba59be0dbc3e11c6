"""Tweet objects as the programming interfaces give them, cut down to what is read, and archives of them."""

import bz2
import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow

LONG = "there is quite a lot to say about {}"


def v1(number: int, text: str | None = None, **more: Any) -> dict[str, Any]:
    """A tweet; `quotes=` another object, `replies_to=` an id, `retweets=` another object."""
    value: dict[str, Any] = {
        "created_at": "Thu Jan 02 16:52:48 +0000 2014",
        "id": number,
        "id_str": str(number),
        "text": LONG.format(f"number {number}") if text is None else text,
        "truncated": False,
        "in_reply_to_status_id": None,
        "in_reply_to_status_id_str": None,
        "lang": "en",
        "user": {"id_str": "7"},
    }
    quoted = more.pop("quotes", None)
    if quoted is not None:
        value |= {"quoted_status_id_str": quoted["id_str"], "is_quote_status": True, "quoted_status": quoted}
    if "replies_to" in more:
        answered = more.pop("replies_to")
        value |= {"in_reply_to_status_id": answered, "in_reply_to_status_id_str": str(answered)}
    if "retweets" in more:
        value["retweeted_status"] = more.pop("retweets")
    return value | more


def lines(objects: Iterable[Any]) -> bytes:
    """JSON lines; what is bytes already is a line as it is."""
    return b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in objects)


def pack(content: bytes, name: str) -> bytes:
    """Content as a file of this name would hold it."""
    if name.endswith(".gz"):
        return gzip.compress(content)
    if name.endswith(".bz2"):
        return bz2.compress(content)
    if name.endswith(".zst"):
        return pyarrow.Codec("zstd").compress(content, asbytes=True)
    return content


def write(path: Path, objects: Iterable[Any]) -> Path:
    """An archive of these objects, packed by its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pack(lines(objects), path.name))
    return path


def read_pairs(path: Path) -> list[dict[str, Any]]:
    """The pairs of a file."""
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return [json.loads(line) for line in text.decode().splitlines()]
