"""Searching a corpus in a real browser."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("lance", reason="a corpus needs the extra `corpus`")

from linker.web.api.corpus_search import CorpusSearch
from linker.web.app import Served
from tests.helpers.browser import Browser, Server, needs_browser
from tests.web.conftest import TEXT
from tests.web.test_browser_look import assert_named

pytestmark = [needs_browser, pytest.mark.slow]


@pytest.fixture
def browser(browser: Browser, corpus_folder: Path) -> Iterator[Browser]:
    """The browser on the page of a corpus, on which an article is waited for."""
    server = Server(Served(corpus=CorpusSearch(corpus_folder)))
    browser.open(server.url, name=None)
    browser.wait(lambda: browser.one("#search-article").is_displayed())
    yield browser
    server.stop()


def search(browser: Browser) -> None:
    browser.one("main form [type=submit]").click()
    browser.wait(lambda: browser.all(".ranked li"))
    browser.wait(lambda: browser.one("main form [type=submit]").is_enabled())


def test_from_an_article_to_a_file(browser: Browser, tmp_path: Path) -> None:
    browser.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    assert "60 posts, 1 Mar 2031" in browser.text("main form .muted")
    browser.one("#search-article").send_keys(TEXT)
    search(browser)
    assert len(browser.all(".ranked > li")) == 20
    assert "otters" in {mark.text.lower() for mark in browser.all(".ranked mark")}
    browser.run("document.querySelector('main .buttons button').click()")
    browser.wait(lambda: len(browser.all(".ranked > li")) == 40)
    assert [place.text for place in browser.all(".ranked .place")] == [str(n) for n in range(1, 41)]
    browser.one("#search-lang").send_keys("de")
    browser.run("document.querySelector('#search-since').value = '2031-03-10'")
    search(browser)
    browser.wait(lambda: len(browser.all(".ranked > li")) < 20)
    assert {chip.text for chip in browser.all(".ranked .chip")} >= {"de"}
    assert "en" not in {chip.text for chip in browser.all(".ranked .chip")}
    browser.run("document.querySelectorAll('main .buttons button')[1].click()")
    browser.wait(lambda: (tmp_path / "posts.csv").is_file())
    with (tmp_path / "posts.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(browser.all(".ranked > li"))
    assert {row["lang"] for row in rows} == {"de"}


def test_what_is_typed_stays_while_other_pages_are_looked_at(browser: Browser) -> None:
    browser.one("#search-article").send_keys(TEXT)
    browser.one("#tab-rank").click()
    browser.wait(lambda: browser.one("#rank-article-1").is_displayed())
    browser.one("#tab-search").click()
    browser.wait(lambda: browser.one("#search-article").get_property("value") == TEXT)


def test_a_fault_is_shown_and_everything_has_a_name(browser: Browser) -> None:
    browser.size(360, 740, phone=True)
    browser.one("#search-article").send_keys("http://127.0.0.1:9/page")
    browser.one("main form [type=submit]").click()
    browser.wait(lambda: "127.0.0.1" in browser.text("main .problem"))
    assert any("400" in line for line in browser.complaints())  # the browser logs refused requests
    browser.run("document.querySelector('#search-article').value = ''")
    browser.one("#search-article").send_keys(TEXT)
    search(browser)
    assert browser.run("return document.documentElement.scrollWidth") == 360
    assert_named(browser)
