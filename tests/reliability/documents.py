"""Workbooks, tables, archives and PDFs that name other files, lie about their characters, or unpack without end."""

import codecs
import gzip
import io
import json
import random
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import xlsxwriter

from tests.helpers.pdfs import pdf
from tests.reliability.harness import LIMITED, SAMPLE, START, Tally, must, run

_SECRET = "the-secret-of-this-file"
_ROWS = [("id", "text"), ("1", "otters below the weir"), ("2", "the festival was never booked")]
_CSV = "".join(f"{id_},{text}\n" for id_, text in _ROWS)
_JSON = "".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in _ROWS[1:])
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def _entity(secret: str) -> str:
    return f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret}">]>'


def _laughs() -> str:
    lines = "".join(f"<!ENTITY e{k + 1} '{f'&e{k};' * 10}'>" for k in range(12))
    return f"<!DOCTYPE x [<!ENTITY e0 'ha'>{lines}]>"


def zip_bytes(members: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def workbook(prolog: str = "", cell: str = "otters", rows: str = "", dimension: str = "A1:B3") -> bytes:
    """A workbook of Excel; `prolog` is before each part, `cell` the text of a post, inline and shared."""
    packed = io.BytesIO()
    with xlsxwriter.Workbook(packed) as book:
        sheet = book.add_worksheet("posts")
        for number, row in enumerate((("id", "text"), ("1", "CELL"), ("2", "CELL"))):
            sheet.write_row(number, 0, row)
    parts = {}
    with zipfile.ZipFile(packed) as archive:
        for name in archive.namelist():
            part = archive.read(name).decode().replace("?>", f"?>{prolog}", 1).replace("CELL", cell)
            part = part.replace('ref="A1:B3"', f'ref="{dimension}"')
            inline = f'<c r="B2" t="inlineStr"><is><t>{cell}</t></is></c>'
            part = re.sub(r'<c r="B2" t="s"><v>\d</v></c>', inline, part)
            if rows:
                part = re.sub("<sheetData>.*</sheetData>", f"<sheetData>{rows}</sheetData>", part, flags=re.S)
            parts[name] = part.encode()
    return zip_bytes(parts)


def _ods(prolog: str = "", cell: str = "otters", rows: str = "", cells: str = "") -> bytes:
    """A workbook of LibreOffice; `rows` and `cells` are attributes of its last row and its last cell."""

    def line(first: str, second: str, of_row: str = "", of_cell: str = "") -> str:
        start = '<table:table-cell office:value-type="string"'
        before = f"<table:table-row {of_row}>{start}><text:p>{first}</text:p></table:table-cell>"
        return f"{before}{start} {of_cell}><text:p>{second}</text:p></table:table-cell></table:table-row>"

    kind = "application/vnd.oasis.opendocument.spreadsheet"
    names = " ".join(f'xmlns:{name}="{_ODF}:{name}:1.0"' for name in ("office", "table", "text", "manifest"))
    content = (
        f"<office:document-content {names}><office:body><office:spreadsheet>"
        f'<table:table table:name="posts">{line("id", "text")}{line("1", cell)}{line("2", cell, rows, cells)}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    entry = f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
    manifest = f"<manifest:manifest {names}>{entry}</manifest:manifest>"
    start = f'<?xml version="1.0"?>{prolog}'.encode()
    return zip_bytes(
        {
            "mimetype": kind.encode(),
            "content.xml": start + content.encode(),
            "META-INF/manifest.xml": start + manifest.encode(),
        }
    )


def _tables(secret: str, huge: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield files of posts: what they try, their name, their content."""
    for name, prolog, cell in (
        ("plain", "", "otters"),
        ("external entity", _entity(secret), "&e;"),
        ("billion laughs", _laughs(), "&e12;"),
        ("bomb", "", "x" * huge),
    ):
        yield f"xlsx, {name}", "a.xlsx", workbook(prolog, cell)
        yield f"ods, {name}", "a.ods", _ods(prolog, cell)
    near = '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c></row>'
    far = '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c></row>'
    for name, content in {
        "of a huge dimension": workbook(dimension="A1:XFD1048576"),
        "with a far cell": workbook(rows=far),
        "from corner to corner": workbook(rows=near + far),
        "that is another zip": zip_bytes(dict.fromkeys(("../../x", "/etc/x", "content.xml"), b"x")),
    }.items():
        yield f"xlsx {name}", "b.xlsx", content
    most, wide = 'table:number-rows-repeated="1048576"', 'table:number-columns-repeated="16384"'
    beyond = 'table:number-rows-repeated="99999999999999999999"'
    for rows, cells in ((most, ""), ("", wide), (most, wide), (beyond, "")):
        yield f"ods, {rows} {cells}", "b.ods", _ods(rows=rows, cells=cells)
    for encoding in (
        "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-7", "cp037", "cp1252", "shift_jis",
    ):  # fmt: skip
        yield f"csv in {encoding}", f"{encoding}.csv", (_CSV + "3,otters é ü\n").encode(encoding, "replace")
        yield f"jsonl in {encoding}", f"{encoding}.jsonl", _JSON.encode(encoding)
    bom = codecs.BOM_UTF8
    for name, between in {
        "marks of byte order inside": bom, "overlong": b"\xc0\xaf\xe0\x80\xaf", "surrogates": b"\xed\xa0\xbd",
        "zeros": b"\0\0", "end of file": b"\x1a", "beyond Unicode": b"\xf4\x90\x80\x80", "half": b"\xe2\x82",
        "UTF-16 inside": "ü".encode("utf-16"), "line separators": "\u2028\x85\x0b\x0c".encode(), "returns": b"\r\r\n\r",
        "escapes": b"\x1b[2J\x1b]0;x\x07", "ISO 2022": b"\x1b$B%*\x1b(B",
    }.items():  # fmt: skip
        row = b"3,otters " + between + b" weir\n"
        yield f"csv with {name}", "g.csv", _CSV.encode() + row
        yield f"tsv with {name}", "g.tsv", (_CSV.encode() + row).replace(b",", b"\t")
        yield (
            f"jsonl with {name}",
            "g.jsonl",
            _JSON.encode() + b'{"id":"3","text":"otters ' + between + b'"}\n',
        )
        yield f"header with {name}", "h.csv", b"id," + between + b"text\n1,otters\n"
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
    yield "zip", "s.csv", zip_bytes({"a.csv": _CSV.encode()})


def _pages(secret: str, huge: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield files of articles, likewise."""
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


def hostile_documents(tally: Tally, folder: Path, size: int, chance: random.Random) -> None:
    """Read documents of about that size: each is read, or refused with one message, without content of other files."""
    secret = folder / "secret.txt"
    secret.write_text(_SECRET, encoding="utf-8")
    must(START, folder)
    (folder / "session").rename(folder / "unchanged")
    found = [*_tables(secret.as_uri(), size), *_pages(secret.as_uri(), size)]
    for name, file, content in found if size > 10**6 else chance.sample(found, 25):
        (folder / file).write_bytes(content)
        rank = ("rank", "--posts", file, *SAMPLE[:2], "--model", "bm25", "--out", "out.jsonl")
        page = ("rank", "--article", file, *SAMPLE[2:], "--model", "bm25", "--force")
        commands: list[tuple[str, ...]] = [page if "pdf" in file or "html" in file else rank]
        if file.endswith((".csv", ".xlsx", ".jsonl")):
            commands.append(("annotate", "import", "session", file, "--annotator", "Ada"))
        for arguments in commands:
            shutil.copytree(folder / "unchanged", folder / "session")
            ended = run(arguments, folder, 90, shell=LIMITED)
            fault = ended.fault((0, 2))
            out = folder / "out.jsonl"
            written = out.read_text(errors="replace") if out.exists() else ""
            if _SECRET in ended.out + ended.err + written:
                fault = "content of another file"
            tally.time(ended.seconds, name)
            tally.without(fault, f"{arguments[0]} {arguments[1]}, {name}")
            out.unlink(missing_ok=True)
            shutil.rmtree(folder / "session")
        (folder / file).unlink()
