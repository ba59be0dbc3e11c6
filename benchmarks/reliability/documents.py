"""Workbooks, tables, archives and PDFs that name other files, lie about their characters, or unpack without end."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import random
import shutil
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.reliability.commands import DATA, SAMPLE, Tally, environment, fault_of, run

_SECRET = "the-secret-of-this-file"
_SECONDS, _GIGABYTES = 90, 6
_ROWS = [("id", "text"), ("1", "otters below the weir"), ("2", "the festival was never booked")]
_CSV = "".join(f"{id_},{text}\n" for id_, text in _ROWS)
_JSON = "".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in _ROWS[1:])
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def _entity(secret: str) -> str:
    return f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret}">]>'


def _laughs() -> str:
    lines = "".join(f"<!ENTITY e{k + 1} '{f'&e{k};' * 10}'>" for k in range(12))
    return f"<!DOCTYPE x [<!ENTITY e0 'ha'>{lines}]>"


def _zip(members: Mapping[str, bytes | str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def workbook(prolog: str = "", cell: str = "otters", rows: str = "", dimension: str = "A1:B3") -> bytes:
    """A workbook of Excel; `prolog` is before each part, `cell` the text of a post."""

    def xml(root: str) -> str:
        return f'<?xml version="1.0"?>{prolog}{root}'

    def text(place: str, value: str) -> str:
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'

    rows = rows or (
        f'<row r="1">{text("A1", "id")}{text("B1", "text")}</row><row r="2">{text("A2", "1")}{text("B2", cell)}</row>'
        f'<row r="3">{text("A3", "2")}<c r="B3" t="s"><v>0</v></c></row>'
    )
    kinds = "".join(
        f'<Override PartName="/xl/{part}.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        f'spreadsheetml.{kind}+xml"/>'
        for part, kind in (
            ("workbook", "sheet.main"), ("worksheets/sheet1", "worksheet"), ("sharedStrings", "sharedStrings"),
        )
    )  # fmt: skip
    return _zip(
        {
            "[Content_Types].xml": xml(
                f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.'
                f'openxmlformats-package.relationships+xml"/>{kinds}</Types>'
            ),
            "_rels/.rels": xml(
                f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
                f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
            ),
            "xl/workbook.xml": xml(
                f'<workbook xmlns="{_SHEET}" xmlns:r="{_RELATIONS}"><sheets><sheet name="posts" sheetId="1" '
                'r:id="r1"/></sheets></workbook>'
            ),
            "xl/_rels/workbook.xml.rels": xml(
                f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" Type="{_RELATIONS}/worksheet" '
                f'Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="{_RELATIONS}/sharedStrings" '
                'Target="sharedStrings.xml"/></Relationships>'
            ),
            "xl/worksheets/sheet1.xml": xml(
                f'<worksheet xmlns="{_SHEET}"><dimension ref="{dimension}"/><sheetData>{rows}</sheetData></worksheet>'
            ),
            "xl/sharedStrings.xml": xml(f'<sst xmlns="{_SHEET}"><si><t>{cell}</t></si></sst>'),
        }
    )


def _ods(prolog: str = "", cell: str = "otters", rows: str = "", cells: str = "") -> bytes:
    """A workbook of LibreOffice; `rows` and `cells` are attributes of its last row and its last cell."""

    def line(first: str, second: str, of_row: str = "", of_cell: str = "") -> str:
        kind = 'office:value-type="string"'
        one = f"<table:table-cell {kind}><text:p>{first}</text:p></table:table-cell>"
        other = f"<table:table-cell {kind} {of_cell}><text:p>{second}</text:p></table:table-cell>"
        return f"<table:table-row {of_row}>{one}{other}</table:table-row>"

    names = " ".join(f'xmlns:{name}="{_ODF}:{name}:1.0"' for name in ("office", "table", "text"))
    content = (
        f'<?xml version="1.0"?>{prolog}<office:document-content {names}><office:body><office:spreadsheet>'
        f'<table:table table:name="posts">{line("id", "text")}{line("1", cell)}{line("2", cell, rows, cells)}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    return _zip(
        {"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content}
        | {
            "META-INF/manifest.xml": f'<?xml version="1.0"?>{prolog}<manifest:manifest '
            f'xmlns:manifest="{_ODF}:manifest:1.0"><manifest:file-entry manifest:full-path="/" '
            'manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>'
        }
    )


def _tables(secret: str, huge: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield files of posts: what they try, their name, their content."""
    for what, prolog in (("external entity", _entity(secret)), ("billion laughs", _laughs())):
        cell = "&e;" if "external" in what else "&e12;"
        yield f"xlsx, {what}", "a.xlsx", workbook(prolog, cell)
        yield f"ods, {what}", "a.ods", _ods(prolog, cell)
    yield "xlsx", "plain.xlsx", workbook()
    yield "ods", "plain.ods", _ods()
    yield "xlsx of a huge dimension", "b.xlsx", workbook(dimension="A1:XFD1048576")
    far = '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c></row>'
    yield "xlsx with a far cell", "c.xlsx", workbook(rows=far)
    near = '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c></row>'
    yield "xlsx from corner to corner", "d.xlsx", workbook(rows=near + far)
    yield "xlsx bomb", "e.xlsx", workbook(cell="x" * huge)
    yield "ods of repeated rows", "b.ods", _ods(rows='table:number-rows-repeated="1048576"')
    yield "ods of repeated cells", "c.ods", _ods(cells='table:number-columns-repeated="16384"')
    both = {"rows": 'table:number-rows-repeated="1048576"', "cells": 'table:number-columns-repeated="16384"'}
    yield "ods of repeated rows and cells", "d.ods", _ods(**both)
    yield (
        "ods repeated beyond numbers",
        "e.ods",
        _ods(rows='table:number-rows-repeated="99999999999999999999"'),
    )
    yield "zip in a workbook's name", "f.xlsx", _zip({"../../x": "x", "/etc/x": "x", "content.xml": "x"})
    for encoding in (
        "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-7", "cp037", "cp1252", "shift_jis",
    ):  # fmt: skip
        yield f"csv in {encoding}", f"{encoding}.csv", (_CSV + "3,otters é ü\n").encode(encoding, "replace")
        yield f"jsonl in {encoding}", f"{encoding}.jsonl", _JSON.encode(encoding)
    bom = codecs.BOM_UTF8
    for what, between in {
        "marks of byte order inside": bom, "overlong": b"\xc0\xaf\xe0\x80\xaf", "surrogates": b"\xed\xa0\xbd",
        "zeros": b"\0\0", "end of file": b"\x1a", "beyond Unicode": b"\xf4\x90\x80\x80", "half": b"\xe2\x82",
        "UTF-16 inside": "ü".encode("utf-16"), "line separators": "\u2028\x85\x0b\x0c".encode(), "returns": b"\r\r\n\r",
        "escapes": b"\x1b[2J\x1b]0;x\x07", "ISO 2022": b"\x1b$B%*\x1b(B",
    }.items():  # fmt: skip
        yield f"csv with {what}", "g.csv", _CSV.encode() + b"3,otters " + between + b" weir\n"
        yield (
            f"tsv with {what}",
            "g.tsv",
            _CSV.replace(",", "\t").encode() + b"3\totters " + between + b" weir\n",
        )
        yield (
            f"jsonl with {what}",
            "g.jsonl",
            _JSON.encode() + b'{"id":"3","text":"otters ' + between + b'"}\n',
        )
        yield f"header with {what}", "h.csv", b"id," + between + b"text\n1,otters\n"
    yield "three marks of byte order", "i.csv", bom * 3 + _CSV.encode()
    yield "open quotation mark", "j.csv", (_CSV + '3,"otters\n').encode() + b"4,weir\n" * (huge // 10)
    yield "many columns", "k.csv", (",".join(f"c{n}" for n in range(huge // 20)) + ",id,text\n").encode()
    yield "many keys", "k.jsonl", (json.dumps({f"k{n}": n for n in range(huge // 20)}) + "\n").encode()
    yield "one line", "l.jsonl", b'{"id":"1","text":"' + b"x" * huge
    yield "deep JSON", "m.json", b"[" * huge
    yield "deep list of posts", "n.json", b'{"data":' * (huge // 10)
    yield "long number", "o.jsonl", b'{"id":' + b"9" * huge + b',"text":"x"}\n'
    yield "gzip bomb", "p.jsonl.gz", gzip.compress(b'{"id":"1","text":"' + b" " * (200 << 20), 1)
    yield "gzip of nothing", "q.jsonl.gz", gzip.compress(b"", 1) * 100_000
    yield "nested gzip", "r.jsonl.gz", gzip.compress(gzip.compress(_JSON.encode()))
    yield "zip", "s.csv", _zip({"a.csv": _CSV})


def _pages(secret: str, huge: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield files of articles, likewise."""
    from tests.helpers.pdfs import pdf

    packet = f"<?xpacket?>{_entity(secret)}<x:xmpmeta xmlns:x='adobe:ns:meta/'>&e;</x:xmpmeta>"
    lines = ["Two otters were filmed below the weir at Marrow on Tuesday, the first for years."] * 30
    yield "PDF with an entity in its metadata", "a.pdf", pdf(lines, title=packet)
    yield "PDF bomb", "b.pdf", pdf(b"BT (otters) Tj ET " * (huge // 10), pack=True)
    yield "PDF of white space", "c.pdf", pdf(b" " * (huge * 20), pack=True)
    yield "PDF of open states", "d.pdf", pdf(b"q " * huge, pack=True)
    yield "PDF of arrays", "e.pdf", pdf(b"[" * huge)
    yield "PDF without objects", "f.pdf", b"%PDF-1.7\n" + b"1 0 obj\n" * (huge // 10)
    for name, body in {
        "XHTML": '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>&e;</p>{}</body></html>',
        "SVG": '<svg xmlns="http://www.w3.org/2000/svg"><text>&e;</text>{}</svg>',
        "inclusion": '<html xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="SECRET" parse="text"/>{}</html>',
        "parameter entity": "<html><p>%e;</p>{}</html>",
    }.items():
        text = body.replace("SECRET", secret).format(f"<p>{' '.join(lines)}</p>")
        for prolog in (f'<?xml version="1.0"?>{_entity(secret)}', _entity(secret)):
            yield f"{name} with an external entity", "g.xhtml", (prolog + text).encode()
            yield f"{name} with an external entity in UTF-16", "h.html", (prolog + text).encode("utf-16")
        yield f"{name} of laughs", "i.html", (_laughs() + text.replace("&e;", "&e12;")).encode()
    response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    page = f"<html><body><p>{' '.join(lines)}</p></body></html>".encode()
    for what, head, content in (
        ("plain", b"", page),
        ("gzip bomb", b"Content-Encoding: gzip\r\n", gzip.compress(b"<p>" * (huge * 10), 1)),
        ("broken gzip", b"Content-Encoding: gzip\r\n", page),
        ("deflate bomb", b"Content-Encoding: deflate\r\n", zlib.compress(b"<p>" * (huge * 10), 1)),
        ("endless chunk", b"Transfer-Encoding: chunked\r\n", b"FFFFFFFFFFFF\r\nx"),
        ("odd charset", b"", page.replace(b"<body>", b"<meta charset=zlib_codec><body>")),
    ):
        record = response + head + b"\r\n" + content
        for length in (len(record), 10**18, 0):
            yield f"WARC, {what}, length {length}", "j.warc", (
                b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
                b"WARC-Date: 2026-01-01T00:00:00Z\r\n"
                b"WARC-Target-URI: https://news.example/2026/03/otters-below-the-weir.html\r\n"
                b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n" % length
                + record
                + b"\r\n\r\n"
            )  # fmt: skip


def _read(arguments: tuple[str, ...], folder: Path) -> tuple[int | None, str, str, float]:
    """Run a command with limits of memory and time; returns its code, outputs, and how long it took, in seconds."""
    limited = f'ulimit -v {_GIGABYTES << 20}; exec "$@"'
    command = ["bash", "-c", limited, "bash", sys.executable, "-m", "linker", *arguments]
    begun = time.monotonic()
    try:
        ended = subprocess.run(
            command, cwd=folder, env=environment(), capture_output=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, timeout=_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, "", "", time.monotonic() - begun
    return ended.returncode, ended.stdout, ended.stderr, time.monotonic() - begun


def hostile_documents(folder: Path, size: int, chance: random.Random) -> Tally:
    """Read documents: each is read, or refused with one message, without content of other files.

    Args:
        folder: an empty folder.
        size: bytes of the longest, about.
        chance: not used.
    """
    tally, slowest = Tally(), (0.0, "")
    secret = folder / "secret.txt"
    secret.write_text(_SECRET, encoding="utf-8")
    code, _, err = run(("annotate", "start", "kept", *SAMPLE, "--model", "bm25"), folder)
    assert code == 0, err
    link = "https://news.example/2026/03/otters-below-the-weir.html"
    said = "my mum saw {} of them swim past the mill last night and nobody believed her " + link
    linked = [{"id": str(n), "text": said.format(n * n)} for n in range(9)]
    (folder / "linked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in linked), encoding="utf-8")
    for what, name, content in (*_tables(secret.as_uri(), size), *_pages(secret.as_uri(), size)):
        (folder / name).write_bytes(content)
        rank = ("rank", "--posts", name, *SAMPLE[:2], "--model", "bm25", "--out", "out.jsonl")
        labels = ("annotate", "import", "session", name, "--annotator", "Ada")
        page = ("rank", "--article", name, "--posts", str(DATA / "posts.jsonl"), "--model", "bm25", "--force")
        mined = ("mine", "links", "linked.jsonl", "--articles", name, "--out", "mined")
        commands: list[tuple[str, ...]] = (
            [mined] if name.endswith(".warc") else [page] if "pdf" in name or "html" in name else [rank]
        )
        if name.endswith((".csv", ".xlsx", ".jsonl")):
            commands.append(labels)
        for arguments in commands:
            shutil.copytree(folder / "kept", folder / "session")
            code, out, err, took = _read(arguments, folder)
            fault = fault_of(code, err, (0, 2))
            written = [path.read_bytes() for path in folder.rglob("out.jsonl")]
            if _SECRET in out + err or any(_SECRET.encode() in one for one in written):
                fault = "content of another file"
            slowest = max(slowest, (took, what))
            tally.check(not fault, f"{arguments[0]} {arguments[1]}, {what}: {fault}")
            (folder / "out.jsonl").unlink(missing_ok=True)
            for made in ("session", "mined"):
                shutil.rmtree(folder / made, ignore_errors=True)
        (folder / name).unlink()
    tally.notes = f"slowest {slowest[0]:.1f} s: {slowest[1]}"
    return tally
