"""Pages on the web that name odd charsets, files of this machine and private addresses, for `rank` and `fetch`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.reliability.commands import FETCH, SAMPLE, Tally, fault_of, run
from benchmarks.reliability.loopback import STORY, Loopback, Page
from benchmarks.reliability.pages import CHARSETS

_SECRET = "the-secret-of-this-machine"
_AT_ONCE = 2
#: What a page may want of its reader; `{}` is the address of a secret.
_WISHES = {
    "refresh": '<meta http-equiv="refresh" content="0; url={}">',
    "base": '<base href="{}">',
    "canonical": '<link rel="canonical" href="{}"><meta property="og:url" content="{}">',
    "style": '<link rel="stylesheet" href="{}"><?xml-stylesheet href="{}"?>',
    "frame": '<iframe src="{}"></iframe><object data="{}"></object><embed src="{}">',
    "picture": '<img src="{}"><video src="{}"></video>',
    "next": '<link rel="next" href="{}"><link rel="amphtml" href="{}">',
}
_DOCTYPES = {
    "entity": '<!DOCTYPE html [<!ENTITY e SYSTEM "{}">]>',
    "parameter entity": '<!DOCTYPE html [<!ENTITY % p SYSTEM "{}"> %p;]>',
    "document type": '<!DOCTYPE html SYSTEM "{}">',
    "inclusion": '<html xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{}" parse="text"/>',
}
_TYPES = ("text/html", "application/xhtml+xml", "text/xml", "application/xml")


def _html(head: str = "", start: str = "") -> bytes:
    return f"{start}<html><head>{head}<title>Otters</title></head><body><article><p>&e; {STORY}</article>".encode()


def _pages(secrets: tuple[str, ...], chance: random.Random) -> Iterator[tuple[str, Page]]:
    for secret in secrets:
        for name, wish in _WISHES.items():
            yield name, Page(_html(wish.replace("{}", secret)))
        for name, doctype in _DOCTYPES.items():
            for kind in _TYPES:
                start = '<?xml version="1.0"?>' + doctype.replace("{}", secret)
                yield f"{name} as {kind}", Page(_html(start=start), kind)
    for charset in CHARSETS:
        shown = charset.replace("\0", "%00")
        for body in (_html(), _html() + chance.randbytes(500), STORY.encode("utf-16"), STORY.encode("utf-7")):
            yield f"charset {shown[:20]}", Page(body, f"text/html; charset={shown}")
            yield f"quoted charset {shown[:20]}", Page(body, f'text/html; charset="{shown}')
    contradictions = (("utf-8", "utf-16"), ("utf-16", "utf-8"), ("ascii", "utf-7"), ("shift_jis", "big5"))
    for header, meta in contradictions:
        page = _html(f'<meta charset="{meta}"><meta http-equiv=content-type content="text/html; charset=x">')
        for mark in (b"", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"+/v8-"):
            yield f"{header} and {meta}", Page(mark + page, f"text/html; charset={header}")


def web_pages(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Fetch hostile pages: the commands end well, ask for no private address, and show no file of this machine.

    Args:
        folder: an empty folder.
        rounds: 1: a tenth of the pages is ranked for; more: all of them. All are crawled.
        chance: which, and noise.
    """
    tally = Tally()
    secret = folder / "secret.txt"
    secret.write_text(_SECRET, encoding="utf-8")
    with Loopback(pages=1) as web:
        names = {}
        for number, (name, page) in enumerate(_pages((secret.as_uri(), web.private_url), chance)):
            web.pages[f"/page-{number}"] = page
            names[web.page_url(number)] = name

        def ranked(url: str) -> str:
            arguments = ("rank", "--article", url, "--posts", SAMPLE[3], "--model", "bm25", "--explain")
            code, out, err = run((*arguments, "--format", "json"), folder, 120, web.environment)
            return fault_of(code, err, (0, 2)) or ("shows a file" if _SECRET in out + err else "")

        chosen = sorted(names) if rounds > 1 else chance.sample(sorted(names), len(names) // 10)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for url, fault in zip(chosen, pool.map(ranked, chosen), strict=True):
                tally.check(not fault, f"rank, {names[url]}: {fault}")
        (folder / "links.txt").write_text(
            "".join(f"{url}\n" for url in [*names, *web.urls]), encoding="utf-8"
        )
        code, out, err = run(FETCH, folder, 3_600, web.environment)
        tally.check(not (fault := fault_of(code, err, (0,))), f"fetch: {fault}")
        states = (folder / "crawl" / "states.csv").read_text(encoding="utf-8")
        for url, name in names.items():
            tally.check(f"{url}," in states and f"{url},waiting" not in states, f"fetch, {name}: not done")
        tally.check(states.count(",fetched,") > len(names) // 3, f"fetch: {states.count(',fetched,')} pages")
        shown = [path.name for path in (folder / "crawl").rglob("*") if _shows(path)]
        tally.check(not shown and _SECRET not in out + err, f"fetch: a file of this machine is in {shown}")
        tally.check(not web.private, f"{web.private} requests for a private address")
        tally.notes = f"{len(chosen)} pages in rank, {len(names)} in fetch; {web.private} private requests"
    return tally


def _shows(path: Path) -> bool:
    """Return whether a file holds the secret; what pages themselves say of it is its address."""
    return path.is_file() and _SECRET.encode() in path.read_bytes()
