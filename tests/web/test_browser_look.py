"""The page on a phone, in the dark, by ear; its lists, and trying a ranking."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.helpers.browser import Browser, Site, needs_browser, texts
from tests.web.conftest import ARTICLE

pytestmark = [needs_browser, pytest.mark.slow]


def test_a_phone(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve()
    browser.size(360, 740, phone=True)
    browser.open(site.url)
    assert browser.run("return document.documentElement.scrollWidth") == 360
    for button in browser.all(".choices button"):
        box = button.rect
        assert box["height"] >= 44
        assert box["width"] >= 44
        on_screen = browser.run(
            "const b = arguments[0].getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]",
            button,
        )
        assert 0 <= on_screen[0] < on_screen[2] <= 360
        assert 0 <= on_screen[1] < on_screen[3] <= 740
    post = browser.post
    bottom = "return Math.round(document.querySelector('.choices').getBoundingClientRect().bottom)"
    assert (
        browser.run(f"document.querySelector('.choices .yes').click(); {bottom}") == 740
    )  # not moved by the next post
    browser.wait(lambda: browser.post != post)
    browser.one("#open-help").click()
    browser.one("#help-guidelines").click()
    assert browser.one("#guidelines-dialog").is_displayed()
    browser.press(Keys.ESCAPE)
    assert not browser.all(".source details[open]")
    browser.one(".source summary").click()
    assert ARTICLE.text.split("\n")[0] in browser.text(".source .text")
    for tab in ("#tab-posts", "#tab-rank", "#tab-label"):
        browser.one(tab).click()
        assert browser.run("return document.documentElement.scrollWidth") == 360
    small = browser.run("""return [...document.querySelectorAll('button, select, .tabs a, summary')]
        .filter((e) => e.offsetParent && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML.slice(0, 80))""")
    assert small == []


def test_nothing_is_cut_off_at_any_width(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve()
    browser.open(site.url)
    cut = """return [...document.querySelectorAll('.bar, .bar-end, .choices, .filters, .two')]
        .filter((e) => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map((e) => e.className)"""
    browser.run("""const session = document.querySelector('#session'), sync = document.querySelector('#sync');
        session.hidden = false; session.options[0].textContent = 'a session with a rather long name';
        document.querySelector('#who').textContent = 'Bartholomew the Third of Marrow';
        sync.dataset.state = 'waiting'; sync.textContent = 'Offline, 1,234 changes kept';""")
    for tab in ("#tab-label", "#tab-posts", "#tab-rank"):
        browser.one(tab).click()
        for width in (1920, 1400, 1380, 1280, 1190, 1180, 1024, 980, 780, 760, 400, 320):
            browser.size(width, 800)
            assert browser.run(cut) == [], width
            assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), width


def test_dark_mode_follows_the_system_until_it_is_chosen(
    browser: Browser, serve: Callable[..., Site]
) -> None:
    site = serve()
    ground = "return getComputedStyle(document.body).backgroundColor"
    browser.open(site.url)
    light = browser.run(ground)
    browser.prefer("dark")
    browser.wait(lambda: browser.run(ground) != light)
    browser.one("#theme").click()
    assert browser.run(ground) == light
    browser.driver.refresh()
    browser.ready()
    assert browser.run(ground) == light
    browser.one("#theme").click()  # what the system wants: it is followed again
    browser.prefer("light")
    browser.wait(lambda: browser.run(ground) == light)


def test_posts_are_found_and_labels_changed(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve()
    ids = texts(site.folder)
    browser.open(site.url)
    post = browser.post
    browser.press("r")
    browser.saved()
    browser.press("/")
    browser.wait(lambda: browser.driver.switch_to.active_element.get_attribute("id") == "filter-text")
    browser.press("OTTERS, sighting")
    browser.wait(lambda: browser.text(".page [role=status]") == "10 posts")
    browser.one("#filter-label").send_keys("Relevant")
    browser.wait(lambda: [one.text for one in browser.all(".list .words")] == [post])
    assert browser.one(".list [aria-pressed=true]").text == "Relevant"
    browser.one(".list .not").click()
    browser.saved()
    browser.one("#filter-label").send_keys("Not")
    browser.wait(lambda: [one.text for one in browser.all(".list .words")] == [post])
    assert site.done() == [("label", ids[post], "relevant", "Ada"), ("label", ids[post], "not", "Ada")]
    browser.run("document.querySelector('#filter-since').value = '2031-03-29'")
    browser.run("document.querySelector('.filters').dispatchEvent(new Event('input'))")
    browser.wait(lambda: "No posts match" in browser.text(".list"))


def test_a_ranking_is_tried(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve()
    browser.open(site.url)
    browser.one("#tab-rank").click()
    browser.one("#rank-article-1").send_keys("http://127.0.0.1:1/")
    browser.one("form [type=submit].primary").click()
    browser.wait(lambda: "not an address of the public internet" in browser.text(".asking .problem"))
    browser.one("#rank-article-1").clear()
    browser.one("#rank-article-1").send_keys("Salmon\n\nOtters ate the salmon.")
    assert browser.one("#rank-model").get_property("value") == "best"
    browser.one("#rank-model").send_keys("bm25")
    browser.run("document.querySelector('.asking form').requestSubmit()")
    browser.wait(lambda: len(browser.all(".ranked > li")) == 20)
    assert "salmon" in browser.text(".ranked li:first-child .words")
    assert {one.text.lower() for one in browser.all(".ranked li:first-child mark")} == {"salmon", "otters"}
    assert browser.all(".source .text mark")
    next(one for one in browser.all("button") if one.text == "Add another article").click()
    browser.one("#rank-article-2").send_keys("Weir\n\nThe weir was closed.")
    browser.run("document.querySelector('.asking form').requestSubmit()")
    browser.wait(lambda: len(browser.all(".asking details.panel")) == 2)
    assert [one.text for one in browser.all(".asking details.panel summary")] == ["Salmon", "Weir"]
    browser.all(".asking details.panel summary")[1].click()
    assert "weir" in browser.all(".asking details.panel:last-of-type .ranked li")[0].text
    assert "400" in "".join(browser.complaints())


NAMELESS = """
const named = (e) => e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim();
const wanted = 'input, select, textarea, button, a[href], summary, [role=img], [role=region], nav, dialog';
return [...document.querySelectorAll(wanted)]
  .filter((e) => !named(e) && !document.getElementById(e.getAttribute('aria-labelledby')))
  .map((e) => e.outerHTML.slice(0, 100))
"""
TWICE = """
const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
return ids.filter((id, i) => ids.indexOf(id) !== i)
"""


def assert_named(browser: Browser) -> None:
    """All that can be used has a name, and no id is there twice."""
    assert (browser.run(NAMELESS), browser.run(TWICE)) == ([], [])


def test_everything_has_a_name_and_the_focus_is_seen(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve()
    browser.open(site.url)
    browser.press("r")
    for tab in ("#tab-label", "#tab-posts", "#tab-rank"):
        browser.one(tab).click()
        browser.wait(lambda: browser.all("main h1, main h2"))
        assert_named(browser)
        seen = set()
        browser.run("document.activeElement.blur()")
        for _ in range(25):
            ActionChains(browser.driver).send_keys(Keys.TAB).perform()  # a field for files takes no keys
            element = browser.driver.switch_to.active_element
            if element.tag_name == "body":
                break
            outline = browser.run(
                "const s = getComputedStyle(arguments[0]); return [s.outlineStyle, s.outlineWidth]", element
            )
            assert outline == ["solid", "3px"], str(element.get_attribute("outerHTML"))[:100]
            seen.add(element.id)
        assert len(seen) >= 6
    assert browser.run("return document.documentElement.lang") == "en"
    assert browser.one("#spoken").get_attribute("aria-live") == "polite"
