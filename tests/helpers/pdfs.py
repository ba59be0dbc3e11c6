"""Small PDFs, written by hand so that tests know what is in them."""

import zlib


def pdf(*pages: list[str] | bytes, title: str = "", pack: bool = False, extra: str = "") -> bytes:
    """A PDF of some pages.

    Args:
        pages: the lines of each page, in characters of Latin-1; or its content stream.
        title: of the metadata.
        pack: pack the content streams, as most programs do.
        extra: what to add to the trailer.
    """
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>"
        % (len(pages), b" ".join(b"%d 0 R" % (5 + 2 * n) for n in range(len(pages)))),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title (%s) >>" % _escaped(title),
    ]
    for number, page in enumerate(pages):
        content = page if isinstance(page, bytes) else _content(page)
        packing = b"/Filter /FlateDecode " if pack else b""
        content = zlib.compress(content) if pack else content
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (6 + 2 * number)
        )
        objects.append(b"<< %s/Length %d >>\nstream\n%s\nendstream" % (packing, len(content), content))
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, one in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s>>\n" % (len(objects) + 1, extra.encode())
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def _content(lines: list[str]) -> bytes:
    shown = b"".join(b"(%s) Tj T*\n" % _escaped(line) for line in lines)
    return b"BT /F1 12 Tf 14 TL 50 780 Td\n" + shown + b"ET"


def _escaped(text: str) -> bytes:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("cp1252")
