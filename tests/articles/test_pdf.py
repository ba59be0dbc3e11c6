"""Articles from PDFs."""

import io
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from linker.articles.fetching import fetch
from linker.articles.loading import load_articles
from linker.articles.page import PageError
from linker.articles.pdf import MAX_PAGES, text_of_pdf
from linker.common.errors import DataError, FetchError, StubError
from tests.helpers.pdfs import pdf

LINES = [
    "Two otters were filmed on Tuesday below the weir at Marrow, the first seen on the",
    "river Brell since the paper mill opened there four decades ago, the county's river",
    "keepers said. The animals, a mother and a nearly grown cub, were caught by a camera.",
]
TEXT = "\n".join(LINES)


def problem(body: bytes) -> str:
    with pytest.raises(PageError) as caught:
        text_of_pdf(body)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("pack", [False, True])
def test_title_and_text(pack: bool) -> None:
    title, text = text_of_pdf(pdf(LINES, ["Grüße – «déjà vu»"], title="Otters return", pack=pack))
    assert title == "Otters return"
    assert text == TEXT + "\nGrüße – «déjà vu»"


def test_a_title_at_the_top_of_the_text_is_not_read_twice() -> None:
    assert text_of_pdf(pdf(["Otters return", *LINES], title="Otters return")) == ("Otters return", TEXT)


@pytest.mark.parametrize(
    "title",
    ["untitled", "(anonymous)", "Microsoft Word - Document1", "page7_final.indd", "https://news.test/a"],
)
def test_titles_that_programs_made_up_are_left_out(title: str) -> None:
    assert text_of_pdf(pdf(LINES, title=title)).title == ""


def test_words_split_at_the_end_of_a_line_are_joined() -> None:
    lines = ["the otters re-", "turned to the Marrow-", "Brell canal, a well-", "known one, at 5-", "6 miles"]
    text = text_of_pdf(pdf(lines)).text
    assert text == "the otters returned to the Marrow-\nBrell canal, a wellknown one, at 5-\n6 miles"


def test_running_lines_and_printed_addresses_are_left_out() -> None:
    pages = [
        [f"11/22/2031, {n}:00 PM Otters", f"page {n} begins", *LINES, f"https://news.test/a?b={n} {n}/3"]
        for n in (1, 2, 3)
    ]
    text = text_of_pdf(pdf(*pages)).text
    assert "2031" not in text
    assert "https" not in text
    assert text.count("were filmed") == 3


def test_a_file_and_an_address(site, tmp_path: Path) -> None:
    body = pdf(LINES, title="Otters return")
    (tmp_path / "a.pdf").write_bytes(body)
    (tmp_path / "no ending").write_bytes(body)
    for path in (tmp_path / "a.pdf", tmp_path / "no ending"):
        (article,) = load_articles(path)
        assert (article.id, article.title, article.text) == (path.name, "Otters return", TEXT)
    for type_ in ("application/pdf", "application/octet-stream", "text/html", None):
        url = site.on("/a.pdf", body, type_=type_)
        (article,) = load_articles(url)
        assert (article.id, article.url, article.title, article.text) == (url, url, "Otters return", TEXT)
    assert fetch(url, allow_private=True).kind == "pdf"


def test_what_is_announced_as_a_pdf_but_is_none(site) -> None:
    with pytest.raises(FetchError, match="not a web page but application/pdf"):
        load_articles(site.on("/a", "<html>", type_="application/pdf"))


def test_a_password_is_named_and_an_empty_one_is_tried() -> None:
    for password in ("secret", ""):
        writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(LINES))))
        writer.encrypt(password, "owner", algorithm="RC4-128")
        writer.write(out := io.BytesIO())
        if password:
            assert "needs a password" in problem(out.getvalue())
        else:
            assert text_of_pdf(out.getvalue()).text == TEXT


def test_scanned_pages_are_distinguished_from_empty_files(tmp_path: Path) -> None:
    assert "OCR" in problem(pdf(b"q 100 0 0 100 0 0 cm Q"))
    (tmp_path / "scan.pdf").write_bytes(pdf(["page 1"]))
    with pytest.raises(StubError, match=r"scan\.pdf: only 2 words were found in the PDF.*OCR"):
        load_articles(tmp_path / "scan.pdf")
    assert load_articles(tmp_path / "scan.pdf", force=True)[0].text == "page 1"


def test_books_are_refused() -> None:
    assert text_of_pdf(pdf(*[LINES] * MAX_PAGES)).text.count("were filmed") == MAX_PAGES
    assert f"of {MAX_PAGES + 1} pages" in problem(pdf(*[LINES] * (MAX_PAGES + 1)))


@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-1.7 x",
        b"%PDF-",
        pdf(LINES)[:60],
        b"%PDF-1.7\n" + b"\0" * 500,
        pdf(LINES).replace(b"/Kids", b"/Kidz"),
    ],
)
def test_damaged_files_are_named(body: bytes, tmp_path: Path) -> None:
    assert "PDF" in problem(body)
    (tmp_path / "a.pdf").write_bytes(body)
    with pytest.raises(DataError, match=r"a\.pdf: is a"):
        load_articles(tmp_path / "a.pdf")
