"""A crawl of a web of some hundred hosts on loopback, made to meet every state."""

import csv
import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from linker.articles.crawl.crawl import crawl
from linker.articles.crawl.crawler import CrawlOptions
from linker.articles.fetching import Response
from linker.articles.loading import load_articles
from linker.common.errors import ConfigError, DataError, LinkerError
from linker.version import __version__
from tests.helpers.article_pages import ARTICLE_HTML
from tests.helpers.loopback_web import MISSING, PRIVATE, Web, web

__all__ = ["web"]

CONTACT = "https://lab.example/crawler"
CONSENT = """<html><body><p>We value your privacy. We and our 120 partners store and/or access information on a
device. You can accept all or reject all, and withdraw consent at any time.</p></body></html>"""
PAYWALL = """<html><head><title>Council votes</title></head><body><article><h1>Council votes</h1><p>The council of
Marrow voted on Monday on the new bridge, after a debate that lasted until late in the night and drew a crowd.</p>
<p>Subscribe to continue reading this article.</p></article></body></html>"""
NOT_FOUND = "<html><head><title>Page not found</title></head><body><p>Page not found</p></body></html>"


def options(**changes: Any) -> CrawlOptions:
    values = {"delay": 0.0, "deadline": 5.0, "retry_wait": 0.0, "max_wait": 5.0, **changes}
    return CrawlOptions(CONTACT, **values)


def run(tmp_path: Path, links: list[str], **changes: Any) -> dict[str, dict[str, int]]:
    """Crawl the links into `out`; the sections of the report add up."""
    file = tmp_path / "links.txt"
    file.write_text("".join(f"{link}\n" for link in links), encoding="utf-8")
    report = crawl(str(file), tmp_path / "out", options(**changes))
    for counts in report.values():
        whole, *parts = counts.values()
        assert not parts or whole == sum(parts)
    return report


def states(tmp_path: Path) -> dict[str, str]:
    """State by address."""
    return {row["url"]: row["state"] for row in rows(tmp_path)}


def rows(tmp_path: Path) -> list[dict[str, str]]:
    with open(tmp_path / "out" / "states.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def articles(tmp_path: Path) -> list[dict[str, str]]:
    lines = (tmp_path / "out" / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def build(web: Web, each: int = 5) -> dict[str, str]:
    """Hosts with pages of each kind, some hundred in all; returns the expected state by address."""
    expected: dict[str, str] = {}
    for i in range(15 * each):
        expected[web.on(f"news{i}.test/{i}/otters-return-to-brell", ARTICLE_HTML)] = "fetched"
    for i in range(each):
        web.on(f"closed{i}.test/robots.txt", "User-agent: *\nDisallow: /private\n", type_="text/plain")
        expected[web.on(f"closed{i}.test/private/a-story", ARTICLE_HTML)] = "robots.txt"
        expected[web.on(f"closed{i}.test/open/a-story", ARTICLE_HTML)] = "fetched"
        expected[web.on(f"soft{i}.test/a-lost-story", NOT_FOUND)] = "soft 404"
        expected[web.address(f"gone{i}.test/a-lost-story")] = "not found"
        expected[web.on(f"wall{i}.test/a-paid-story", PAYWALL)] = "paywall"
        expected[web.on(f"consent{i}.test/a-story", CONSENT)] = "consent page"
        expected[web.on(f"loop{i}.test/a", status=301, Location="/b")] = "redirect loop"
        web.on(f"loop{i}.test/b", status=301, Location="/a")
        circle = web.address(f"circle{i}.test/b")
        expected[web.on(f"round{i}.test/a", status=301, Location=circle)] = "redirect loop"
        web.on(f"circle{i}.test/b", status=301, Location=web.address(f"round{i}.test/a"))
        expected[web.on(f"login{i}.test/a-story", status=403)] = "login or blocked"
        expected[web.on(f"optout{i}.test/a-story", ARTICLE_HTML, TDM_Reservation="1")] = "opt-out"
        meta = ARTICLE_HTML.replace("<title>", '<meta content="1" name="tdm-reservation"><title>')
        expected[web.on(f"optout{i}.test/another-story", meta)] = "opt-out"
        expected[web.on(f"image{i}.test/a-picture", b"\xff\xd8", type_="image/jpeg")] = "not HTML"
        expected[web.on(f"broken{i}.test/a-story", status=500)] = "server error"
        web.on(f"down{i}.test/robots.txt", status=503)
        expected[web.on(f"down{i}.test/a-story", ARTICLE_HTML)] = "server error"
    expected[web.on("large.test/a-story", b"<html>" + b"x" * (3 << 20))] = "too large"
    expected[web.drip("slow.test/a-story", b" ", 0.1)] = "too slow"
    expected[web.on(f"{PRIVATE}/a-story", ARTICLE_HTML)] = "refused address"
    expected[web.address(f"{MISSING}/a-story")] = "host not found"
    expected["http://127.0.0.2/a-story"] = "not an address"
    expected["ftp://news.test/a-story"] = "not an address"
    return expected


def test_every_address_of_a_web_of_hundreds_of_hosts_gets_its_state(web: Web, tmp_path: Path) -> None:
    expected = build(web)
    report = run(tmp_path, list(expected), workers=32, deadline=2.0, max_bytes=1 << 20)
    assert len(web.times) > 125
    assert states(tmp_path) == expected
    assert report["addresses"] == {"in all": len(expected), **Counter(expected.values())}
    assert {row["url"] for row in articles(tmp_path)} == {u for u, s in expected.items() if s == "fetched"}
    # A server notices late that nobody waits any more for what it drips.
    assert max(count for host, count in web.most.items() if host != "slow.test") == 1
    assert web.agents == {f"linker/{__version__} (+{CONTACT})"}
    # What a site does not allow was not asked for.
    assert not [place for place in web.asked if "/private" in place or place.startswith(PRIVATE)]
    assert not any(web.asked[f"down{i}.test/a-story"] for i in range(5))
    assert {web.asked[f"broken{i}.test/a-story"] for i in range(5)} == {3}
    before = web.asked.copy()
    assert run(tmp_path, list(expected))["requests"]["in this run"] == 0
    assert web.asked == before


def test_articles_are_read_by_the_other_commands(web: Web, tmp_path: Path) -> None:
    html = ARTICLE_HTML.replace("<title>", '<link rel="canonical" href="http://news.test/otters"><title>')
    url = web.on("news.test/2021/otters-return?utm_source=x", html)
    run(tmp_path, [url])
    (row,) = articles(tmp_path)
    assert row["id"] == f"news.test:{web.port}/2021/otters-return"
    assert row["canonical_url"] == "http://news.test/otters"
    assert row["lang"] == "en"
    (article,) = load_articles(tmp_path / "out" / "articles.jsonl")
    assert article.url == url
    assert article.title == "Otters return to the Brell after forty years"
    assert article.published is not None
    assert article.published.isoformat()[:10] == "2021-05-14"


# Politeness


def test_requests_to_a_host_keep_its_crawl_delay(web: Web, tmp_path: Path) -> None:
    web.on("slow.test/robots.txt", "User-agent: *\nCrawl-delay: 0.3\n", type_="text/plain")
    links = [web.on(f"slow.test/story-number-{i}", ARTICLE_HTML) for i in range(3)]
    run(tmp_path, links)
    times = web.times["slow.test"]
    assert [late - early >= 0.29 for early, late in pairwise(times)] == [True, True, True]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("99999999999999999999", 365 * 86_400),
        ("Thu, 01 Jan 1970 00:20:00 GMT", 200),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 365 * 86_400),  # later than any date in UTC
        ("soon", None),
    ],
)
def test_retry_after_is_at_most_a_year(value: str, seconds: int | None) -> None:
    response = Response("http://news.test/", 503, (("Retry-After", value),))
    assert response.retry_after(1_000.0) == (None if seconds is None else 1_000 + seconds)


def test_retry_after_pauses_the_host(web: Web, tmp_path: Path) -> None:
    asked: list[float] = []

    def limited(handler: BaseHTTPRequestHandler) -> None:
        asked.append(time.time())
        if len(asked) == 1:
            handler.send_response(429)
            handler.send_header("Retry-After", "1")
            handler.end_headers()
        else:
            web.answers["news.test/fine"](handler)

    web.on("news.test/fine", ARTICLE_HTML)
    links = [
        web.call("news.test/a-limited-story", limited),
        web.on("news.test/the-other-story", ARTICLE_HTML),
    ]
    run(tmp_path, links)
    assert set(states(tmp_path).values()) == {"fetched"}
    assert asked[1] - asked[0] >= 1
    assert web.times["news.test"][2] - asked[0] >= 1


def test_a_robots_txt_is_read_again_after_a_day(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time
    later = 0.0
    monkeypatch.setattr(time, "time", lambda: now() + later)

    def slow(handler: BaseHTTPRequestHandler) -> None:
        nonlocal later
        later = 90_000.0
        web.answers["news.test/fine"](handler)

    web.on("news.test/fine", ARTICLE_HTML)
    links = [web.call("news.test/a/a-story", slow), web.on("news.test/b/a-story", ARTICLE_HTML)]
    run(tmp_path, links)
    assert set(states(tmp_path).values()) == {"fetched"}
    assert web.asked["news.test/robots.txt"] == 2


def test_a_dead_host_is_asked_once_for_all_its_pages(web: Web, tmp_path: Path) -> None:
    web.on("down.test/robots.txt", status=503)
    links = [web.on(f"down.test/{n}/a-story", ARTICLE_HTML) for n in "ab"]
    report = run(tmp_path, links, attempts=1, retry_wait=3_600.0, max_wait=7_200.0)
    assert report["addresses"] == {"in all": 2, "server error": 2}
    assert report["requests"] == {"in this run": 1}


def test_what_has_to_wait_long_is_left_to_a_later_run(web: Web, tmp_path: Path) -> None:
    link = web.on("news.test/a-story", status=503, Retry_After="3600")
    assert run(tmp_path, [link])["addresses"] == {"in all": 1, "waiting": 1}
    assert "next attempt after 20" in rows(tmp_path)[0]["detail"]
    web.on("news.test/a-story", ARTICLE_HTML)
    assert run(tmp_path, [link])["requests"]["in this run"] == 0


def test_a_redirect_to_a_site_that_forbids_it_is_not_followed(web: Web, tmp_path: Path) -> None:
    web.on("closed.test/robots.txt", "User-agent: linker\nDisallow: /\n", type_="text/plain")
    target = web.on("closed.test/a-story", ARTICLE_HTML)
    link = web.on("short.test/x", status=302, Location=target)
    run(tmp_path, [link])
    assert states(tmp_path) == {link: "robots.txt"}
    assert not web.asked["closed.test/a-story"]


def test_robots_txt_that_redirects_to_another_host_waits_for_its_turn(web: Web, tmp_path: Path) -> None:
    links = []
    rules = web.on("www.test/robots.txt", "User-agent: *\nDisallow: /no\n", type_="text/plain")
    for i in range(12):
        web.on(f"old{i}.test/robots.txt", status=301, Location=rules)
        links += [web.on(f"old{i}.test/{word}/a-story", ARTICLE_HTML) for word in ("yes", "no")]
    run(tmp_path, links, workers=12)
    assert Counter(states(tmp_path).values()) == {"fetched": 12, "robots.txt": 12}
    assert web.most["www.test"] == 1


def test_the_contact_is_required_to_be_one() -> None:
    with pytest.raises(ConfigError, match="not a web page or an email address"):
        CrawlOptions("nobody")
    with pytest.raises(ConfigError, match="not a web page"):
        CrawlOptions("me@lab.example)\r\nX: y")


# Links


def test_addresses_of_one_article_are_asked_for_once(web: Web, tmp_path: Path) -> None:
    url = web.on("news.test/2021/otters-return", ARTICLE_HTML)
    same = [url, f"{url}?utm_source=x", f"{url}/", f"{url}#comments"]
    short = [web.on(f"short.test/{i}", status=302, Location=f"{url}?utm_source=s{i}") for i in range(3)]
    report = run(tmp_path, [*same, *short, url])
    assert set(states(tmp_path).values()) == {"fetched"}
    assert sum(count for place, count in web.asked.items() if "otters" in place) == 1
    assert (report["links"]["read"], report["links"]["new"]) == (8, 7)
    # One row for each key by which posts may name the article.
    assert len(articles(tmp_path)) == 4


def test_a_later_run_takes_more_links(web: Web, tmp_path: Path) -> None:
    first, second = (web.on(f"news.test/{n}/a-story", ARTICLE_HTML) for n in "ab")
    run(tmp_path, [first])
    report = run(tmp_path, [first, second])
    assert (report["links"]["new"], report["requests"]["in this run"]) == (1, 2)
    assert web.asked == {"news.test/robots.txt": 2, "news.test/a/a-story": 1, "news.test/b/a-story": 1}


def test_json_lines_and_bad_lines(web: Web, tmp_path: Path) -> None:
    file = tmp_path / "links.jsonl"
    url = web.on("news.test/a-story", ARTICLE_HTML)
    file.write_text(json.dumps({"url": url, "posts": 3}) + "\n\n", encoding="utf-8")
    assert crawl(str(file), tmp_path / "out", options())["addresses"]["fetched"] == 1
    for content, message in (
        ("", "no link in this file"),
        (None, "links.jsonl: cannot be read"),
        ('{"link": "x"}\n', "line 1: no text in `url`"),
        ('{"url"\n', "line 1: "),
    ):
        file.unlink() if content is None else file.write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            crawl(str(file), tmp_path / "other", options())
    assert not (tmp_path / "other").exists()


def test_folders_that_are_not_of_a_crawl_are_refused(web: Web, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("", encoding="utf-8")
    with pytest.raises(LinkerError, match=r"has other files \(thesis\.tex\)"):
        run(tmp_path, [web.address("news.test/a")])
    (tmp_path / "out" / "thesis.tex").rename(tmp_path / "out" / "crawl.db")
    (tmp_path / "out" / "crawl.db").write_text("nothing of SQLite\n" * 100, encoding="utf-8")
    with pytest.raises(LinkerError, match=r"crawl\.db: damaged, or not the database of a crawl"):
        run(tmp_path, [web.address("news.test/a")])


def test_two_crawls_in_one_folder(web: Web, tmp_path: Path) -> None:
    asked, answered = threading.Event(), threading.Event()

    def late(handler: BaseHTTPRequestHandler) -> None:
        asked.set()
        answered.wait(10)
        web.answers["news.test/fine"](handler)

    web.on("news.test/fine", ARTICLE_HTML)
    link = web.call("news.test/a-story", late)
    first = threading.Thread(target=run, args=(tmp_path, [link]))
    first.start()
    assert asked.wait(10)
    with pytest.raises(LinkerError, match="another `linker mine fetch` uses this folder"):
        crawl(str(tmp_path / "links.txt"), tmp_path / "out", options())
    answered.set()
    first.join()
    assert states(tmp_path) == {link: "fetched"}
