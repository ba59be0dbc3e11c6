"""Pages that are built to take for ever, to read files, or to confuse decoders."""

import random
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from linker.articles.extraction_process import SECONDS
from linker.articles.fetching import MAX_BYTES
from linker.articles.loading import load_articles
from linker.common.errors import LinkerError
from tests.reliability.harness import Tally

# What the processes may take beyond the limit on a busy machine.
_GRACE = 2.0
_SECRET = "the-secret-of-this-file"
_STORY = (
    "<p>Two otters were filmed below the weir at Marrow, the first seen on the river for forty years.</p>"
    * 20
)
#: Charsets that a page may name.
CHARSETS = (
    "utf-7", "utf-16", "utf-32", "cp037", "hz", "iso2022_jp", "zlib_codec", "idna", "x" * 5_000, "utf-8\0", "../etc",
)  # fmt: skip


def bombs(size: int) -> dict[str, str]:
    """Return pages that take quadratic time or much memory; `size` is about the length of the longest."""
    n = max(size // 100, 10)
    return {
        "attributes": f"<p {' '.join(f'a{k}=1' for k in range(n * 10))}>x</p>",
        "one long attribute": f"<p a='{'x' * size}'>x</p>",
        "open paragraphs": "<p>" * (size // 3),
        "open blocks": "<div>" * (size // 5),
        "open links": "<a href=x>" * (size // 10),
        "table in table": "<table><tr><td>" * (size // 15),
        "lists": "<ul><li>" * (size // 8),
        "entities": "&amp;" * (size // 5),
        "unended entity": "&" * size,
        "comments": "<!--" * (size // 4),
        "open tags": "<" * size,
        "scripts": "<script>" * (size // 8),
        "meta tags": f"<head>{'<meta property=og:title content=x>' * n}</head>{_STORY}",
        "JSON-LD": f"<script type='application/ld+json'>{'[' * size}</script>{_STORY}",
        "JSON-LD of many dates": "<script type='application/ld+json'>" + '{"datePublished":"2021-01-01",' * n,
        "dates": "2021-05-14 " * (size // 11),
        "times": "<time datetime='2021-05-14'>x</time>" * n,
        "digits": "1" * size,
        "white space": f"<p>{' ' * size}</p>",
        "consent": "our partners accept all we use cookies " * (size // 40),
        "styles": f"<p style='display{':' * size}none'>x</p>",
        "billion laughs": "<!DOCTYPE x ["
        + "".join(f"<!ENTITY e{k + 1} '{f'&e{k};' * 10}'>" for k in range(12))
        + f"]><html><body>&e12;{_STORY}</body></html>",
    }


def _pages(folder: Path, rounds: int, chance: random.Random) -> Iterator[tuple[str, Path]]:
    for number in range(rounds):
        size = chance.choice((100_000, 1_000_000, 4_000_000)) if rounds > 1 else 400_000
        for name, text in bombs(size).items():
            path = folder / f"{number}-{name.replace(' ', '-')}.html"
            path.write_text(f"<html>{text}", encoding="utf-8")
            yield f"{name} ({size:,})", path
    secret = folder / "secret.txt"
    secret.write_text(_SECRET, encoding="utf-8")
    for kind in ("SYSTEM", "PUBLIC 'x'"):
        for prolog in ('<?xml version="1.0"?>', ""):
            path = folder / f"entity-{kind[:3]}-{len(prolog)}.html"
            path.write_text(
                f'{prolog}<!DOCTYPE html [<!ENTITY e {kind} "{secret.as_uri()}">]><html><body><p>&e;</p>{_STORY}',
                encoding="utf-8",
            )
            yield f"external entity, {kind}", path
    for charset in CHARSETS:
        path = folder / f"charset-{zlib.crc32(charset.encode()):x}.html"
        path.write_bytes(
            f'<html><head><meta charset="{charset}"></head><body>{_STORY}'.encode() + chance.randbytes(200)
        )
        yield f"charset {charset[:20]}", path
    for number in range(20 * rounds):
        path = folder / f"noise-{number}.{chance.choice(('html', 'pdf', 'txt'))}"
        path.write_bytes(
            chance.choice((b"<html>", b"%PDF-1.7\n", b"\xff\xfe", b"")) + chance.randbytes(2_000)
        )
        yield "noise", path


def extraction(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Read pages within the limit of time, without content of other files."""
    for name, path in _pages(folder, rounds, chance):
        assert path.stat().st_size <= 2 * MAX_BYTES
        begun, fault = time.monotonic(), ""
        try:
            text = " ".join(article.full_text for article in load_articles(path, force=True))
            fault = "content of another file" if _SECRET in text else ""
        except LinkerError:
            pass
        except Exception as error:
            fault = repr(error)[:200]
        seconds = time.monotonic() - begun
        path.unlink()
        if seconds > SECONDS + _GRACE:
            fault = f"{seconds:.1f} s"
        tally.time(seconds, name)
        tally.without(fault, name)
