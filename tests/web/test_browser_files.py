"""Files in a real browser: refused, chosen how to read, removed; no view is a dead end, and projects can be removed."""

import json
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from tests.data.files.formats.test_spreadsheets import workbook
from tests.helpers.browser import Browser, needs_browser
from tests.helpers.pdfs import pdf
from tests.web.conftest import make_posts
from tests.web.test_browser_projects import KEY, create, url

pytestmark = [needs_browser, pytest.mark.slow]
__all__ = ["url"]
POSTS = make_posts(12)
FIRST = ".files.read > li:nth-child(1)"


def test_a_project_of_a_workbook_a_chat_and_a_pdf(browser: Browser, url: str, tmp_path: Path) -> None:
    rows = [[post.id, post.text, f"0{1 + i}/05/2024"] for i, post in enumerate(POSTS[:4])]
    table = [["Export of 3 March"], [], ["Nr", "Beitragstext", "Datum"], *rows]
    workbook(tmp_path / "otters.xlsx", Notes=[["nothing"]], Data=table)
    common = {"type": "message", "date": "2024-03-01T10:00:00", "text_entities": [], "from_id": "channel1"}
    messages = [{"id": i, "text": post.text, **common} for i, post in enumerate(POSTS[4:])]
    chat = {"type": "public_channel", "id": 1, "messages": messages}
    (tmp_path / "result.json").write_text(json.dumps(chat))
    (tmp_path / "scan.xlsx").write_bytes(b"PK\x03\x04")
    bad = tmp_path / "bad" / "result.json"
    bad.parent.mkdir()
    bad.write_text('{"messages": [\n{"id": 1 "text": "otters"}]}')
    lines = [f"Otters were filmed below the weir of Marrow {i} times, said the keepers." for i in range(9)]
    (tmp_path / "story.pdf").write_bytes(pdf(lines, title="Otters return"))
    (tmp_path / "story.docx").write_bytes(b"PK")

    browser.driver.get(f"{url}#new")
    browser.wait(lambda: browser.one("#new-article-1").is_displayed())
    for name in ("story.docx", "story.pdf"):
        browser.one("#new-article-file").send_keys(str(tmp_path / name))
    browser.wait(lambda: "Otters return" in str(browser.one("#new-article-1").get_property("value")))
    browser.one("[aria-label='Remove story.docx']").click()
    browser.one("#new-title").send_keys("Otters at Marrow")
    browser.one("#new-model").send_keys("bm25")
    for name in ("otters.xlsx", "scan.xlsx", "bad/result.json"):
        browser.one("#new-posts").send_keys(str(tmp_path / name))
    browser.wait(
        lambda: (
            "line 2: broken JSON"
            in browser.text(".files.read > li:nth-child(3)").lower().replace("json", "JSON")
        )
    )
    assert str(tmp_path) not in browser.text(".files.read")
    browser.one("#new-posts").send_keys(str(tmp_path / "result.json"))  # in its place
    browser.wait(lambda: "8 posts" in browser.text(".files.read > li:nth-child(3) .chip"))
    assert "Telegram" in browser.text(".files.read > li:nth-child(3)")
    assert "Not an Excel workbook" in browser.text(".files.read > li:nth-child(2) .problem")
    assert "choose it under “How it is read”" in browser.text(f"{FIRST} .problem")
    browser.one("main form [type=submit]").click()
    browser.wait(lambda: "otters.xlsx cannot be read yet" in browser.text("form > .problem"))

    browser.one("#new-posts-1-text").send_keys("Beitragstext")
    browser.wait(lambda: "4 posts" in browser.text(f"{FIRST} .chip"))
    assert "choose what is first under “Day and month”" in browser.text(FIRST)
    browser.one("#new-posts-1-day_first").send_keys("Day")
    browser.wait(lambda: "2 May 2024" in browser.text(f"{FIRST} .samples"))
    browser.one("#new-posts-1-id").send_keys("Nr")
    browser.wait(lambda: "p1 · 2 May 2024" in browser.text(f"{FIRST} .samples"))
    assert "--" not in browser.text(".files.read")
    browser.one("[aria-label='Remove scan.xlsx']").click()
    browser.wait(lambda: len(browser.all(".files.read > li")) == 2)
    create(browser)
    settings = json.loads((tmp_path / "projects" / KEY / "project.json").read_text())
    assert settings["reading"] == {"otters.xlsx": {"text": ["Beitragstext"], "day_first": True, "id": "Nr"}}
    browser.one("a[href^='#new/']").click()  # with the same settings
    browser.wait(lambda: "Otters return" in str(browser.one("#new-article-1").get_property("value")))
    browser.driver.back()
    browser.wait(lambda: browser.one("#part-progress").is_displayed())
    assert "of 12" in browser.text(".figures")
    assert all("400" in complaint for complaint in browser.complaints())

    # On a phone: the list of projects is in reach of every view, and Back leads to the view before.
    browser.size(360, 740, phone=True)
    views = {
        "label": ".post .words",
        "posts": ".list > li",
        "project": "#part-progress",
        "start": ".projects",
    }
    for view, shown in {**views, "rank": "#rank-article-1"}.items():
        tab = browser.one(f"#tab-{view}")
        browser.wait(tab.is_displayed)
        tab.click()
        if view == "label":
            browser.wait(lambda: browser.one("#name").is_displayed())
            browser.driver.back()  # also out of a question
            browser.wait(lambda: browser.one("#part-progress").is_displayed())
            tab.click()
            browser.wait(lambda: browser.one("#name").is_displayed())
            browser.one("#name").send_keys("Max", Keys.ENTER)
        browser.wait(lambda: browser.one(shown).is_displayed())  # noqa: B023
        assert browser.one("#tab-start").is_displayed()
    for shown in (".projects", "#part-progress", ".list > li", ".post .words", "#part-progress"):
        browser.driver.back()
        browser.wait(lambda: browser.one(shown).is_displayed())  # noqa: B023

    browser.one(".danger").click()
    browser.one("#removed-name").send_keys("Otters", Keys.ENTER)
    assert browser.one("dialog .danger").get_property("disabled")
    browser.one("#removed-name").send_keys(" at Marrow", Keys.ENTER)
    browser.wait(lambda: f".removed/{KEY}" in browser.text(".notice"))
    assert "No project yet" in browser.text(".projects")
