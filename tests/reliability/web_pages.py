"""Pages on the web that name odd charsets, files of this machine and private addresses, for `rank` and `fetch`."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.reliability.harness import FETCH, SAMPLE, Tally, run
from tests.reliability.loopback import STORY, loopback
from tests.reliability.pages import CHARSETS

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
_CONTRADICTIONS = (("utf-8", "utf-16"), ("utf-16", "utf-8"), ("ascii", "utf-7"), ("shift_jis", "big5"))


def _html(head: str = "", start: str = "") -> bytes:
    return f"{start}<html><head>{head}<title>Otters</title></head><body><article><p>&e; {STORY}</article>".encode()


def _pages(secrets: tuple[str, ...], chance: random.Random) -> Iterator[tuple[str, bytes, str]]:
    """Yield pages: what they try, their content, their Content-Type."""
    for secret in secrets:
        for name, wish in _WISHES.items():
            yield name, _html(wish.replace("{}", secret)), "text/html"
        for name, doctype in _DOCTYPES.items():
            for kind in _TYPES:
                start = '<?xml version="1.0"?>' + doctype.replace("{}", secret)
                yield f"{name} as {kind}", _html(start=start), kind
    for charset in CHARSETS:
        shown = charset.replace("\0", "%00")
        for body in (_html(), _html() + chance.randbytes(500), STORY.encode("utf-16"), STORY.encode("utf-7")):
            yield f"charset {shown[:20]}", body, f"text/html; charset={shown}"
            yield f"quoted charset {shown[:20]}", body, f'text/html; charset="{shown}'
    for header, meta in _CONTRADICTIONS:
        page = _html(f'<meta charset="{meta}"><meta http-equiv=content-type content="text/html; charset=x">')
        for mark in (b"", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"+/v8-"):
            yield f"{header} and {meta}", mark + page, f"text/html; charset={header}"


def web_pages(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Fetch hostile pages: the commands end well, ask for no private address, and show no file of this machine.

    With one round, a tenth of the pages is ranked for; with more, all of them. All are crawled.
    """
    secret = folder / "secret.txt"
    secret.write_text(_SECRET, encoding="utf-8")
    with loopback(pages=1) as web:
        names = {}
        pages = _pages((secret.as_uri(), web.url("private", "secret")), chance)
        for number, (name, body, kind) in enumerate(pages):
            web.pages[f"/page-{number}"] = (body, kind)
            names[web.url(f"page-{number % 6}", f"page-{number}")] = name

        def ranked(url: str) -> str:
            arguments = ("rank", "--article", url, *SAMPLE[2:], "--model", "bm25", "--explain")
            ended = run((*arguments, "--format", "json"), folder, changes=web.environment)
            return ended.fault((0, 2)) or ("shows a file" if _SECRET in ended.out + ended.err else "")

        chosen = sorted(names) if rounds > 1 else chance.sample(sorted(names), len(names) // 10)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for url, fault in zip(chosen, pool.map(ranked, chosen), strict=True):
                tally.without(fault, f"rank, {names[url]}")
        links = "".join(f"{url}\n" for url in [*names, *web.urls])
        (folder / "links.txt").write_text(links, encoding="utf-8")
        ended = tally.run(FETCH, folder, seconds=3_600, changes=web.environment)
        states = (folder / "crawl" / "states.csv").read_text(encoding="utf-8")
        for url, name in names.items():
            tally.check(f"{url}," in states and f"{url},waiting" not in states, f"fetch, {name}: not done")
        tally.check(states.count(",fetched,") > len(names) // 3, f"fetch: {states.count(',fetched,')} pages")
        # What pages themselves say of the secret is its address.
        written = [path for path in (folder / "crawl").rglob("*") if path.is_file()]
        shown = [path.name for path in written if _SECRET.encode() in path.read_bytes()]
        tally.check(
            not shown and _SECRET not in ended.out + ended.err, f"fetch: a file of this machine is in {shown}"
        )
        tally.check(not web.private, f"{web.private} requests for a private address")
        tally.notes = f"{len(chosen)} pages in rank, {len(names)} in fetch; {web.private} private requests"
