"""Labeling in a real browser: by keyboard, and with posts that mean harm."""

from __future__ import annotations

from collections.abc import Callable

from selenium.webdriver.common.keys import Keys

from linker.annotation.session.session import Session
from linker.data.types import Post
from tests.helpers.browser import Browser, Site, needs_browser, texts
from tests.web.conftest import make_posts

pytestmark = needs_browser


def test_a_whole_session_by_keyboard(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve(make_posts(9))
    ids = texts(site.folder)
    browser.open(site.url)
    labeled: list[tuple[str, str, str | None, str]] = []

    def label(key: str, value: str) -> None:
        labeled.append(("label", ids[browser.post], value, "Ada"))
        browser.label(key)

    label("r", "relevant")
    label("n", "not")
    undone = browser.post
    label("s", "skip")
    browser.press("u")
    browser.wait(lambda: browser.post == undone)
    labeled.append(("undo", ids[undone], None, "Ada"))
    browser.press("e")
    browser.press("a note, not keys: rnsu")
    browser.press(Keys.ESCAPE)
    label("1", "relevant")
    # The buttons by Tab and Enter: the focus stays, so that Enter labels again.
    for _ in range(40):
        browser.press(Keys.TAB)
        if "no" in (browser.driver.switch_to.active_element.get_attribute("class") or "").split():
            break
    label(Keys.ENTER, "not")
    label(Keys.ENTER, "not")
    browser.press("?")
    browser.wait(lambda: browser.one("#help-dialog").is_displayed())
    browser.press("r")  # labels nothing behind a dialog
    browser.press(Keys.ESCAPE)
    while browser.all(".post .words"):
        label("n", "not")
    browser.wait(lambda: "No posts left to label" in browser.text(".post"))
    browser.saved()
    noted = [step for step in site.done() if step[0] == "note"]
    assert len(noted) <= 1
    assert [step for step in site.done() if step[0] != "note"] == labeled
    with Session.open(site.folder) as session:
        assert {one.note for one in session.labeled() if one.note} == {"a note, not keys: rnsu"}
    assert browser.text("#labeled").startswith("9")
    assert browser.text("#found") == "2"
    assert "2 relevant posts after 9 labels" in str(browser.one(".curve").get_attribute("aria-label"))


def test_single_keys_can_be_turned_off(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve()
    browser.open(site.url)
    browser.wait(lambda: browser.all(".post .words"))  # keys work from then on
    browser.press("?")
    browser.wait(lambda: browser.one("#shortcuts").is_displayed())
    browser.one("#shortcuts").click()
    browser.press(Keys.ESCAPE)
    post = browser.post
    browser.press("r", "n", "s")
    assert browser.post == post
    browser.one(".choices .yes").click()
    browser.wait(lambda: browser.post != post)
    browser.press(Keys.CONTROL + "z")
    browser.wait(lambda: browser.post == post)
    browser.saved()
    assert [kind for kind, *_ in site.done()] == ["label", "undo"]


QUESTIONS = [
    {"key": "tone", "text": "How critical?", "kind": "scale", "low": 0, "high": 3, "required": True},
    {
        "key": "frame",
        "text": "Which frame?",
        "kind": "one_of",
        "choices": ["conflict", "none"],
        "required": True,
    },
    {"key": "why", "text": "Why?", "kind": "text"},
]


def test_questions_are_answered_by_keyboard_and_hidden_from_others(
    browser: Browser, serve: Callable[..., Site]
) -> None:
    site = serve(make_posts(6), questions=QUESTIONS, overlap=1.0)
    browser.open(site.url)
    first = browser.post
    browser.press("r", "3", Keys.ENTER)  # an answer is missing
    assert browser.text(".questions .problem") == "Answer “Which frame?” first."
    browser.press("2", "r 1 and n")  # the focus is in the text, in which keys are letters
    site.stop()
    browser.label(Keys.ENTER)
    browser.label("n")  # of which nothing is asked
    browser.wait(lambda: "2 changes kept" in browser.text("#sync"))
    site.start()
    browser.saved()
    browser.driver.refresh()
    browser.ready()
    browser.one("#tab-posts").click()
    shown = "tone: 3, frame: none, why: r 1 and n"
    browser.wait(lambda: shown in browser.text(".list"))
    browser.one(".under-row button").click()
    browser.press("1", "1", Keys.ENTER)
    browser.wait(lambda: shown.replace("3, frame: none", "1, frame: conflict") in browser.text(".list"))
    browser.all(".list .relevant[type=button]")[2].click()
    browser.press(Keys.ESCAPE)  # no answer, no label
    browser.wait(lambda: len(browser.all(".list [aria-pressed=true]")) == 2)
    browser.all(".list .relevant[type=button]")[2].click()
    browser.press("2", "2", Keys.ENTER)
    browser.wait(lambda: "tone: 2, frame: none" in browser.text(".list"))
    browser.saved()
    assert [kind for kind, *_ in site.done()] == ["label", "label", "answers", "label"]
    with Session.open(site.folder) as session:
        answers = [one.answers for one in session.labeled() if one.answers]
    changed = {"tone": 1, "frame": "conflict", "why": "r 1 and n"}
    assert sorted(answers, key=len) == [{"tone": 2, "frame": "none"}, changed]
    browser.run("localStorage.clear()")
    browser.open(site.url, "Bo")
    for key in ("", "n"):  # before and after his own label
        browser.one("#tab-label").click()
        browser.wait(lambda: browser.post == first)
        if key:
            browser.label(key)
            browser.saved()
        browser.one("#tab-posts").click()
        browser.wait(lambda: len(browser.all(".list > li")) == 6)
        assert ("Ada: tone: 1" in browser.text(".list")) == bool(key)


def test_a_label_counts_before_the_answers_that_may_be_missing(
    browser: Browser, serve: Callable[..., Site]
) -> None:
    site = serve(make_posts(2), questions=QUESTIONS[2:])
    browser.open(site.url)
    browser.one("#tab-posts").click()
    browser.wait(lambda: browser.all(".list .relevant[type=button]"))
    browser.all(".list .relevant[type=button]")[0].click()
    browser.saved()
    assert [kind for kind, *_ in site.done()] == ["label"]


HOSTILE = [
    "<script>window.hacked = 1</script> otters",
    "<img src=x onerror='window.hacked = 2'> otters <svg onload='window.hacked = 3'>",
    "\"><iframe src='javascript:parent.hacked = 4'></iframe> otters & &lt;b&gt; {{7*7}} ${window.hacked = 5}",
    "otters \u202e reversed by an override \u2066 and never closed",
    "otters \0 null \x1b[31m escape \x07 bell",
    "otters " + "w" * 100_000,
    "Z\u0335\u0350\u0351\u0352\u0353\u0354\u0355" * 50 + " otters",
    "אוטרים otters in the river שלום",
]


def test_hostile_posts_are_shown_as_what_they_are(browser: Browser, serve: Callable[..., Site]) -> None:
    site = serve([Post(f"h{i}", text, extra={"lang": "<b>x</b>"}) for i, text in enumerate(HOSTILE)])
    browser.open(site.url)
    shown = set()
    for _ in HOSTILE:
        shown.add(browser.post)
        foreign = "main :is(script, img, iframe, svg:not(.curve, .interval), b)"
        assert browser.all(foreign) == []
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        assert (
            browser.run("return getComputedStyle(document.querySelector('.post .words')).unicodeBidi")
            == "plaintext"
        )
        browser.label("r")
    assert shown == {*HOSTILE[:4], "otters ␀ null ␛[31m escape ␇ bell", *HOSTILE[5:]}
    browser.one("#tab-posts").click()
    browser.wait(lambda: len(browser.all(".list > li")) == len(HOSTILE))
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.run("return window.hacked") is None
