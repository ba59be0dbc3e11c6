"""Articles in WARC files."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

from linker.articles.warc import articles_in_warc, is_warc
from linker.common.errors import DataError

pytest.importorskip("warcio")


def write_warc(path: Path, pages: list[tuple[str, str, str, bytes]]) -> None:
    """Write (address, status line, content type, content) as responses, after a request as crawlers write it."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    with open(path, "wb") as file:
        writer = WARCWriter(file, gzip=path.suffix == ".gz")
        for url, status, kind, body in pages:
            asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "news.example")], is_http_request=True)
            writer.write_record(writer.create_warc_record(url, "request", http_headers=asked))
            headers = StatusAndHeaders(status, [("Content-Type", kind)], protocol="HTTP/1.0")
            record = writer.create_warc_record(url, "response", payload=BytesIO(body), http_headers=headers)
            writer.write_record(record)


@pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz"])
def test_articles_of_wanted_pages(tmp_path: Path, article_html: str, name: str) -> None:
    html = article_html.encode()
    write_warc(
        tmp_path / name,
        [
            ("https://news.example/otters", "200 OK", "text/html; charset=utf-8", html),
            ("https://news.example/unlinked", "200 OK", "text/html", html),
            ("https://news.example/gone", "404 Not Found", "text/html", html),
            ("https://news.example/otter.jpg", "200 OK", "image/jpeg", b"\xff\xd8"),
            ("https://news.example/empty", "200 OK", "text/html", b"<html><body></body></html>"),
        ],
    )
    counts: Counter[str] = Counter()
    (article,) = articles_in_warc(tmp_path / name, lambda url: "unlinked" not in url, counts)
    assert article.id == article.url == "https://news.example/otters"
    assert article.title == "Otters return to the Brell after forty years"
    assert counts == {"pages that no post links to": 1, "pages without an article": 1}


def test_damage_is_reported_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(b"this is not a WARC file\n")
    with pytest.raises(DataError, match=r"a\.warc: damaged, or not a WARC file"):
        list(articles_in_warc(tmp_path / "a.warc", lambda url: True))


def test_names() -> None:
    assert is_warc("CC-NEWS-2026.WARC.GZ")
    assert not is_warc("warc.jsonl.gz")
