"""Articles from pages, files and texts."""

import gzip
import io
import json
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest

from linker.articles.extraction import extract_article
from linker.articles.loading import load_articles
from linker.articles.page import Page, looks_like_html
from linker.common.errors import DataError, FetchError, LinkerError, StubError
from tests.helpers.pdfs import pdf

TITLE = "Otters return to the Brell after forty years"


def from_stdin(monkeypatch: pytest.MonkeyPatch, content: bytes):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    return load_articles("-")


def test_a_page_becomes_its_article_without_menu_and_footer(site, article_html: str) -> None:
    url = site.on("/otters", article_html)
    (article,) = load_articles(url)
    assert article.id == article.url == url
    assert article.title == TITLE
    assert article.published == datetime(2021, 5, 14, 8, 30, tzinfo=timezone.utc)
    assert "Two otters were filmed" in article.text
    assert "railway bridge until August" in article.text
    for noise in ("Sport", "Imprint", "cookie banner"):
        assert noise not in article.text


def test_the_same_page_as_a_file_or_on_standard_input(
    tmp_path: Path, article_html: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "saved page.html").write_text(article_html, encoding="utf-8")
    (tmp_path / "page").write_text(article_html, encoding="utf-8")
    (tmp_path / "page.html.gz").write_bytes(gzip.compress(article_html.encode()))
    articles = [load_articles(path)[0] for path in sorted(tmp_path.iterdir())]
    articles += from_stdin(monkeypatch, article_html.encode())
    assert len({(article.title, article.text) for article in articles}) == 1
    assert [article.id for article in articles] == ["page", "page.html.gz", "saved page.html", "stdin"]
    assert articles[0].title == TITLE


def test_an_empty_extraction_says_what_to_do(site) -> None:
    script = (
        '<html><head><title>News</title></head><body><div id="root"></div><script>go()</script></body></html>'
    )
    for force in (False, True):
        with pytest.raises(FetchError, match=r"/app: no article found.*save it as HTML.*\.txt file"):
            load_articles(site.on("/app", script), force=force)


def test_a_scrap_is_refused_and_forced(site) -> None:
    url = site.on("/menu", "<html><body><nav>Home</nav></body></html>")
    with pytest.raises(StubError, match=r"only 1 word was found \('Home'\)"):
        load_articles(url)
    (article,) = load_articles(url, force=True)
    assert article.text == "Home"


def test_plain_text_and_markdown(site, tmp_path: Path) -> None:
    text = "A title\n\nFirst line.\nSecond line.\n"
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "a.md").write_text("# " + text)
    (tmp_path / "b.txt").write_text("First line.\nSecond line.\n")
    (tmp_path / "c.txt").write_bytes("Überschrift\r\n\r\nText – so".encode("cp1252"))
    for source in (tmp_path / "a.txt", tmp_path / "a.md", site.on("/a.txt", text, type_="text/plain")):
        (article,) = load_articles(source)
        assert (article.title, article.text) == ("A title", "First line.\nSecond line.")
    (article,) = load_articles(tmp_path / "b.txt")
    assert (article.title, article.text) == ("", "First line.\nSecond line.")
    (article,) = load_articles(tmp_path / "c.txt")
    assert (article.title, article.text) == ("Überschrift", "Text – so")


def test_json_articles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"title": "T", "text": "x", "published": "2031-05-14"}
    two = [{"id": "n1", **one}, {"title": "U"}]
    (tmp_path / "one.json").write_text(json.dumps(one, indent=2))
    (tmp_path / "two.json").write_text(json.dumps(two))
    (tmp_path / "two.jsonl").write_text("\n".join(map(json.dumps, two)) + "\n")
    (article,) = load_articles(tmp_path / "one.json")
    assert (article.id, article.title, article.text) == ("one.json", "T", "x")
    assert article.published == datetime(2031, 5, 14, tzinfo=timezone.utc)
    for name in ("two.json", "two.jsonl"):
        assert [article.id for article in load_articles(tmp_path / name)] == ["n1", f"{name}:2"]
    assert [article.title for article in from_stdin(monkeypatch, json.dumps(one).encode())] == ["T"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.html", b"%PDF-1.7 x", "damaged PDF"),
        ("a.txt", b"", "empty file"),
        ("a.txt", b"\n \n", "empty file"),
        ("a.txt", b"abc\0def", "not text"),
        ("a.docx", b"PK\x03\x04...", "save it as PDF"),
        ("a.zip", b"PK\x03\x04...", "a zip archive; unpack it"),
        ("a.mhtml", b"From: <x>\r\nContent-Type: multipart/related;\r\n\r\n", "save the page as HTML"),
        ("a.json", b"[]", "no article in this file"),
        ("a.json", b"[1]", "JSON object"),
        ("a.json", b"{'a': 1}", "line 1: broken JSON"),
        ("a.jsonl", b'{"title": "T"}\n{"title": 5}\n', "line 2: wrong type"),
        ("a.jsonl", b'{"headline": "T"}\n', "is missing"),
        ("a.html", b"<html><body></body></html>", "no article found"),
    ],
)
def test_files_that_hold_no_article(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises((DataError, FetchError), match=words) as caught:
        load_articles(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_of_articles_keeps_hours_and_reports_dates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "articles.csv"
    rows = [
        "id,title,text,published",
        "a,Strike,Crews strike,16 Jan 2024 09:30 CET",
        "b,Vote,Crews vote,no idea",
    ]
    path.write_text("\n".join(rows), encoding="utf-8")

    articles = load_articles(path)

    assert [(a.id, a.title, a.text) for a in articles] == [
        ("a", "Strike", "Crews strike"),
        ("b", "Vote", "Crews vote"),
    ]
    assert [a.published for a in articles] == [datetime(2024, 1, 16, 8, 30, tzinfo=timezone.utc), None]
    assert "1 date in \"published\" left out: 'no idea' is not a date" in capsys.readouterr().err


def test_sources_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="file not found"):
        load_articles(tmp_path / "none.html")
    with pytest.raises(DataError, match="no article in this folder"):
        load_articles(tmp_path)
    with pytest.raises(DataError, match="ftp addresses cannot be fetched"):
        load_articles("ftp://127.0.0.1/a.html")


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 20_000 + "word " * 100 + "</div>" * 20_000,
        "<!-- -->" * 2000 + "word",
        "<p" * 50_000,
        "<!-- " * 3000,
    ],
)
def test_hostile_pages_end_in_an_article_or_in_a_word(body: str) -> None:
    page = Page("a", "http://news.test/", f"<html><body>{body}</body></html>".encode(), "http://news.test/")
    try:
        texts = [extract_article(page).text]
    except FetchError:
        texts = []
    assert all("word" in text for text in texts)


def test_looking_at_the_beginning_of_a_page_is_quick() -> None:
    assert not looks_like_html("<!-- -->" * 500 + "x")
    assert looks_like_html("\n<!-- -->" * 300 + "<html>")


def test_text_in_place_of_a_file() -> None:
    (article,) = load_articles("Otters return to the Brell")
    assert (article.id, article.title, article.text) == ("text", "", "Otters return to the Brell")
    (article,) = load_articles("Otters return\n\nTwo were filmed.")
    assert (article.title, article.text) == ("Otters return", "Two were filmed.")
    long = "otter" * 100
    assert load_articles(long)[0].text == long


@pytest.mark.parametrize(
    "name", ["nne.html", "my page.html", "two words.pdf", "otters", "nne.txt.gz", "news/a.docx"]
)
def test_a_missing_file_is_not_a_text(name: str) -> None:
    with pytest.raises(
        DataError, match=r"file not found; for a web page, .*https://.*; for text, "
    ) as caught:
        load_articles(name)
    assert str(caught.value).startswith(f"{name}: ")


@pytest.mark.parametrize(
    "address", ["news.example/otters", "www.news.example", "news.example/a.html", "a.b.example:80/x"]
)
def test_an_address_without_its_scheme_is_completed(address: str) -> None:
    with pytest.raises(DataError, match=f"give https://{address}"):
        load_articles(address)


@pytest.mark.parametrize("empty", ["", "  ", "\n"])
def test_nothing_is_not_an_article(empty: str) -> None:
    with pytest.raises(DataError, match="the article is empty"):
        load_articles(empty)


def test_a_list_of_addresses(
    site, tmp_path: Path, article_html: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [site.on("/a", article_html), site.on("/b", article_html)]
    content = f"{urls[0]}\r\n\n  {urls[1]}\n{urls[0]}\n"
    (tmp_path / "urls.txt").write_text(content)
    assert [one.id for one in load_articles(tmp_path / "urls.txt")] == urls
    assert [one.id for one in from_stdin(monkeypatch, content.encode())] == urls
    assert [one.id for one in load_articles(" ".join(urls))] == urls
    (tmp_path / "text.txt").write_text(f"{urls[0]} tells of otters")
    assert load_articles(tmp_path / "text.txt")[0].text == f"{urls[0]} tells of otters"


def test_all_addresses_of_a_list_that_fail_are_named_at_once(site, tmp_path: Path, article_html: str) -> None:
    good, gone, bad = site.on("/a", article_html), site.on("/b", status=404), site.on("/c", status=500)
    (tmp_path / "urls.txt").write_text("\n".join((gone, good, bad)))
    with pytest.raises(LinkerError, match="2 problems") as caught:
        load_articles(tmp_path / "urls.txt")
    assert f"{gone}: page not found" in str(caught.value)
    assert f"{bad}: the site cannot serve" in str(caught.value)


def test_a_folder_gives_every_article_in_it(
    tmp_path: Path, article_html: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b.html").write_text(article_html)
    (tmp_path / "a.txt").write_text("Bridge closed after cracks")
    (tmp_path / "c.pdf").write_bytes(pdf(["The council closed the old bridge because of cracks."] * 3))
    (tmp_path / "d.json").write_text('[{"title": "T"}, {"title": "U"}]')
    (tmp_path / "e.html").write_text("")
    for left_out in ("README.md", ".hidden.txt", "photo.jpg", "LICENSE.txt", "posts.txt"):
        (tmp_path / left_out).write_text("not an article")
    (tmp_path / "b_files").mkdir()
    (tmp_path / "b_files" / "frame.html").write_text(article_html)
    articles = load_articles(tmp_path)
    assert [one.id for one in articles] == ["a.txt", "b.html", "c.pdf", "d.json:1", "d.json:2"]
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"{tmp_path}: 5 articles in this folder, 1 could not be read"
    assert lines[1].startswith(f"skipped: {tmp_path / 'e.html'}: empty file")


def test_a_folder_without_a_readable_article(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("")
    (tmp_path / "b.html").write_text("")
    with pytest.raises(LinkerError, match=r"2 problems:\n  .*a\.html: empty file.*\n  .*b\.html: empty file"):
        load_articles(tmp_path)
