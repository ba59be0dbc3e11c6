"""Extract the text of a PDF."""

import io
import logging
import re
from collections import Counter
from typing import NamedTuple

from linker.articles.page import PageError

MAX_PAGES = 50

# What pypdf raises for damaged files, besides errors of its own.
_DAMAGED = (OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
_COPY = "copy the article's text into a .txt file and give that"
_HYPHENATED = re.compile(r"(?<=[^\W\d_])(?:\u00ad|-)[ \t]*\n(?=[a-zß-öø-ÿ])")
# Browsers print the address and the page number at the foot of each page.
_PRINTED_ADDRESS = re.compile(r"(?:https?|file)://\S+(?:\s+\d+/\d+)?")
# Programs write the file name or their own name in place of a title.
_NO_TITLE = re.compile(
    r"\(?(?:untitled|anonymous|unspecified)\b|microsoft word|.*\.(?:docx?|indd|qxp|pdf|html?|tex|odt)$",
    re.IGNORECASE,
)


class PdfText(NamedTuple):
    """Title and text of a PDF; `title` is empty if the metadata has none."""

    title: str
    text: str


def text_of_pdf(body: bytes) -> PdfText:
    """Extract text in reading order, without lines that repeat on the pages; words split at line ends are joined.

    Time and memory are unbounded; see `extraction_process`.

    Raises:
        PageError: if it is damaged, needs a password, has more than `MAX_PAGES` pages, or has no text.
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns about every recoverable fault
    try:
        reader = PdfReader(io.BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            raise PageError(
                f"is a PDF that needs a password; save a copy without one in a PDF viewer, or {_COPY}"
            )
        if (count := len(reader.pages)) > MAX_PAGES:
            raise PageError(
                f"is a PDF of {count:,} pages; an article has at most {MAX_PAGES}: save the pages of the article "
                "as a PDF of their own (print to PDF)"
            )
        pages = [page.extract_text().strip().splitlines() for page in reader.pages]
        title = reader.metadata.title if reader.metadata else None
    except (PyPdfError, *_DAMAGED) as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise PageError(f"is a damaged PDF ({reason}); save or download it again, or {_COPY}") from error
    # If all lines repeat, none of them is a running header.
    lines = _without_running_lines(pages)
    lines = lines if any(lines) else [line for page in pages for line in page]
    text = _HYPHENATED.sub("", "\n".join(lines)).strip()
    if not text:
        raise PageError(
            "is a PDF without text, most likely scanned pages; run OCR on it (for example with ocrmypdf), "
            f"or {_COPY}"
        )
    title = " ".join(title.split()) if isinstance(title, str) else ""
    title = "" if _NO_TITLE.match(title) or _PRINTED_ADDRESS.match(title) else title
    if title and text.casefold().startswith(title.casefold()):
        text = text[len(title) :].lstrip()
    return PdfText(title, text)


def _without_running_lines(pages: list[list[str]]) -> list[str]:
    """Return the lines without running headers and footers: on most pages, up to digits."""

    def bare(line: str) -> str:
        return re.sub(r"\d+", "0", line.strip())

    counts = Counter(line for page in pages for line in set(map(bare, (*page[:2], *page[-2:]))))
    lines = []
    for page in pages:
        for number, line in enumerate(page):
            count = counts[bare(line)] if number < 2 or number >= len(page) - 2 else 0
            is_running = count > 1 and count > len(pages) / 2
            if not is_running and not (count and _PRINTED_ADDRESS.fullmatch(line.strip())):
                lines.append(line.rstrip())
    return lines
