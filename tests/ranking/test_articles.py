"""Articles from pages, files and texts."""

from __future__ import annotations

import gzip
import io
import json
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest

from linker.errors import DataError, FetchError
from linker.ranking.articles import load_articles
from linker.ranking.extraction import extract_article
from linker.ranking.fetching import Page, looks_like_html

TITLE = "Otters return to the Brell after forty years"


def from_stdin(monkeypatch: pytest.MonkeyPatch, content: bytes):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    return load_articles("-")


def test_a_page_becomes_its_article_without_menu_and_footer(site, article_html: str) -> None:
    url = site.on("/otters", article_html)
    (article,) = load_articles(url)
    assert article.id == article.url == url
    assert article.title == TITLE
    assert article.published == datetime(2021, 5, 14, tzinfo=timezone.utc)
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
    with pytest.raises(FetchError, match=r"/app: no article could be found.*save it as HTML.*\.txt file"):
        load_articles(site.on("/app", script))


def test_a_paywalled_beginning_is_warned_about_and_used(
    site, article_html: str, capsys: pytest.CaptureFixture[str]
) -> None:
    start = article_html.index("<p>The animals")
    end = article_html.index("</article>")
    wall = "<p>Already a subscriber? Sign in to continue reading.</p>"
    cut = article_html[:start] + wall + article_html[end:]
    (article,) = load_articles(site.on("/cut", cut))
    assert "paper mill" in article.text
    assert "the rest may be missing" in " ".join(capsys.readouterr().err.split())
    load_articles(site.on("/short", article_html))
    assert capsys.readouterr().err == ""
    paragraph = "<p>" + "The river rose again in the night and nobody slept. " * 20 + "</p>"
    load_articles(site.on("/long", article_html.replace("</article>", paragraph + wall + "</article>")))
    assert capsys.readouterr().err == ""


def test_a_scrap_is_used_and_warned_about(site, capsys: pytest.CaptureFixture[str]) -> None:
    (article,) = load_articles(site.on("/menu", "<html><body><nav>Home</nav></body></html>"))
    assert article.text == "Home"
    assert "only 'Home' was found on the page" in " ".join(capsys.readouterr().err.split())


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
        ("a.pdf", b"%PDF-1.7 x", "is a PDF"),
        ("a.html", b"%PDF-1.7 x", "is a PDF"),
        ("a.txt", b"", "is empty"),
        ("a.txt", b"\n \n", "is empty"),
        ("a.txt", b"abc\0def", "not text"),
        ("a.docx", b"PK\x03\x04...", "zip archive"),
        ("a.mhtml", b"From: <x>\r\nContent-Type: multipart/related;\r\n\r\n", "save the page as HTML"),
        ("a.json", b"[]", "not one article"),
        ("a.json", b"[1]", "JSON object"),
        ("a.json", b"{'a': 1}", "line 1: broken JSON"),
        ("a.jsonl", b'{"title": "T"}\n{"title": 5}\n', "line 2: wrong type"),
        ("a.jsonl", b'{"headline": "T"}\n', "no column"),
        ("a.html", b"<html><body></body></html>", "no article could be found"),
    ],
)
def test_files_that_hold_no_article(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises((DataError, FetchError), match=words) as caught:
        load_articles(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sources_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        load_articles(tmp_path / "none.html")
    with pytest.raises(DataError, match="is a folder"):
        load_articles(tmp_path)
    with pytest.raises(DataError, match="ftp addresses cannot be fetched"):
        load_articles("ftp://127.0.0.1/a.html")
    with pytest.raises(DataError, match=r"give https://www\.example\.org/news"):
        load_articles("www.example.org/news")


@pytest.mark.parametrize(
    "body", ["<div>" * 20_000 + "word " * 100 + "</div>" * 20_000, "<!-- -->" * 2000 + "word", "<p" * 50_000]
)
def test_hostile_pages_end_in_an_article_or_in_a_word(body: str) -> None:
    page = Page("http://news.test/", f"<html><body>{body}</body></html>", "html")
    try:
        texts = [extract_article(page, "a").text]
    except FetchError:
        texts = []
    assert all("word" in text for text in texts)


def test_looking_at_the_beginning_of_a_page_is_quick() -> None:
    assert not looks_like_html("<!-- -->" * 500 + "x")
    assert looks_like_html("\n<!-- -->" * 300 + "<html>")
