"""The page when it is reloaded, shared, cut off from its server, or not let in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from linker.web.api.sessions import ServedSession, SyncBody
from tests.helpers.browser import Browser, Site, needs_browser
from tests.web.conftest import make_posts

pytestmark = [needs_browser, pytest.mark.slow]


def test_a_reload_in_the_middle_shows_the_same_post(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve()
    browser.open(site.url)
    browser.press("r", "n", "r")
    browser.saved()
    post, ahead = browser.post, [one.text for one in browser.all(".upcoming .words")]
    browser.driver.refresh()
    browser.ready()
    assert browser.post == post
    assert [one.text for one in browser.all(".upcoming .words")] == ahead
    assert browser.text("#labeled").startswith("3")
    assert not browser.one("#name-dialog").is_displayed()
    browser.press("u")  # what was labeled before the reload
    browser.wait(lambda: browser.text("#labeled").startswith("2"))
    assert browser.post != post


def test_two_browsers_at_once_get_different_posts(
    browser: Browser, other_browser: Browser, serve: Callable[..., Site]
) -> None:
    site = serve()
    browser.open(site.url)
    other_browser.open(site.url, "Bo")
    for _ in range(4):
        assert browser.post != other_browser.post
        browser.press("r")
        other_browser.press("n")
    browser.saved()
    other_browser.saved()
    browser.wait(lambda: browser.text("#labeled").startswith("8"))
    browser.wait(lambda: [one.text for one in browser.all(".people li")][-2:] == ["Ada\n4", "Bo\n4"])
    assert len({post for _, post, _, _ in site.done()}) == 8


def test_posts_that_others_have_open_come_when_they_are_free(
    browser: Browser, other_browser: Browser, serve: Callable[..., Site]
) -> None:
    site = serve(make_posts(8), overlap=1.0)
    browser.open(site.url)
    other_browser.open(site.url, "Bo")
    for page, end in (
        (browser, "Others may have posts open"),
        (other_browser, "No posts"),
        (browser, "label."),
    ):
        page.wait(lambda: page.all(".post .words"))  # noqa: B023
        while page.all(".post .words"):
            page.label("n")
        page.wait(lambda: end in page.text(".post .empty"))  # noqa: B023
    assert browser.text(".post .empty") == "No posts left to label."
    assert len(site.done()) == 16


def test_the_servers_restart_loses_and_doubles_nothing(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve()
    browser.open(site.url)
    browser.press("r")
    browser.saved()
    site.stop()
    browser.press("n", "r")
    browser.wait(lambda: browser.one("#sync").text == "Offline, 2 changes kept")
    browser.press("u")
    browser.wait(lambda: browser.one("#sync").text == "Offline, 3 changes kept")
    site.start()
    browser.saved()
    assert [(kind, value) for kind, _, value, _ in site.done()] == [
        ("label", "relevant"), ("label", "not"), ("label", "relevant"), ("undo", None),
    ]  # fmt: skip
    browser.press("s")
    browser.saved()
    assert site.done()[-1][2] == "skip"


def test_labels_kept_over_a_reload_are_sent(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve()
    browser.open(site.url)
    site.stop()
    browser.press("r", "r")
    browser.wait(lambda: browser.one("#sync").text == "Offline, 2 changes kept")
    browser.driver.get("about:blank")  # the tab is closed
    site.start()
    browser.open(site.url, None)
    browser.ready()
    assert [value for _, _, value, _ in site.done()] == ["relevant", "relevant"]


def test_an_answer_that_is_lost_leads_to_no_second_label(
    browser: Browser, serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = serve()
    browser.open(site.url)
    sync = ServedSession.sync
    lost: list[object] = []

    def losing(served: ServedSession, body: SyncBody, *rest: Any) -> dict:
        answer = sync(served, body, *rest)
        if body.actions and len(lost) < 2:
            lost.append(body)
            raise OSError("the answer is lost")
        return answer

    monkeypatch.setattr(ServedSession, "sync", losing)
    browser.press("n")
    browser.wait(lambda: len(lost) == 2)
    browser.saved()
    assert [value for _, _, value, _ in site.done()] == ["not"]
    assert "503" in "".join(browser.complaints())


def test_a_token_is_asked_for_and_leaves_the_address(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve(token="a-token-of-some-length")
    browser.open(f"{site.url}#token=a-token-of-some-length")
    assert "token" not in browser.driver.current_url
    browser.driver.delete_all_cookies()
    post = browser.post
    browser.press("r")
    browser.wait(lambda: browser.one("#token").is_displayed())
    browser.one("#token").send_keys("a wrong token" + Keys.ENTER)
    browser.wait(lambda: "wrong token" in browser.text("#token-problem"))
    browser.one("#token").send_keys("a-token-of-some-length" + Keys.ENTER)
    browser.saved()
    assert browser.post != post
    assert len(site.done()) == 1
    assert all("401" in one for one in browser.complaints())
