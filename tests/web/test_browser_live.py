"""A page that is left open: what others do is shown, and what is typed, focused or pointed at stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from linker.annotation.project.project_folder import ProjectsFolder
from linker.annotation.project.settings import Person, ProjectSettings
from linker.annotation.session.session import Session
from linker.web.api.projects import Projects
from linker.web.app import Served
from tests.helpers.browser import Browser, Server, needs_browser
from tests.web.conftest import ARTICLE, make_posts

pytestmark = [needs_browser, pytest.mark.slow]

POSTS = make_posts(12)


def test_a_page_follows_what_others_do(browser: Browser, tmp_path: Path) -> None:
    projects = Projects(ProjectsFolder(tmp_path))
    people = (Person("Kim"), Person("Lee"))
    made = projects.folder.create(
        ProjectSettings("Otters", (ARTICLE,), model="bm25", people=people, labels_per_post=2)
    )
    Session.create(made.session_folder, [ARTICLE], POSTS, "bm25", overlap=1.0).close()
    made, session = projects.project("otters"), projects.get("otters").session
    server = Server(Served(projects=projects))

    def label_all(name: str, disputed: str = "") -> None:
        for post in POSTS:
            relevant = "otters" in post.text and post.id != disputed
            session.label(name, post.id, "relevant" if relevant else "not")

    browser.driver.get(f"{server.url}#project/otters")  # who only looks gives no name
    browser.wait(lambda: browser.one("#set-question").is_displayed())
    browser.one("#set-question").send_keys(" Really")
    top = "const e = document.activeElement; return [e.id, Math.round(e.getBoundingClientRect().top)]"
    typing = browser.run(top)
    label_all("Kim")
    browser.wait(
        lambda: "12 posts wait for the label of a second person (Lee 12)" in browser.text(".decision")
    )
    assert "Continue" in browser.text(".decision")
    label_all("Lee", "p3")
    browser.wait(lambda: "You may stop" in browser.text(".decision"))
    assert "Decide on 1 post" in browser.text(".steps")
    session.resolve("Max", "p3", "not")
    browser.wait(lambda: "all decided" in browser.text("#review-title ~ [role=status]"))
    assert "Decide on" not in browser.text(".steps")
    server.stop()
    browser.wait(lambda: browser.one("#sync").text == "Offline")
    made.change(people=(*people, Person("Cy")))
    session.resolve("Max", "p3", "skip")
    server = Server(Served(projects=projects), port=server.port)
    browser.wait(lambda: browser.all(".steps a"))
    browser.wait(lambda: len(browser.all(".links input")) == 3)
    assert not browser.one("#sync").is_displayed()
    assert browser.one("#set-question").get_property("value") == f"{ProjectSettings.question} Really"
    assert [*browser.run(top)] == [
        typing[0],
        pytest.approx(typing[1], abs=2),
    ]  # though panels came and went above
    browser.press(Keys.ENTER)
    browser.wait(lambda: made.settings.question.endswith(" Really"))
    assert len(made.settings.people) == 3

    browser.one("#tab-posts").click()
    browser.wait(lambda: len(browser.all(".list > li")) == 12)
    browser.one(".list .not").click()
    browser.press(Keys.ESCAPE)  # no name, no label
    browser.wait(lambda: not browser.one("#name-dialog").is_displayed())
    browser.wait(lambda: not browser.all(".list [aria-pressed=true]"))
    browser.one(".list .not").click()
    browser.one("#name").send_keys("Kim", Keys.ENTER)
    browser.saved()
    browser.driver.refresh()
    browser.wait(lambda: len(browser.all(".list .chip.relevant, .list .chip.not")) >= 12)
    browser.one(".list .not").send_keys(Keys.NULL)
    before = browser.run("return document.activeElement.closest('li').innerText")
    session.label("Lee", "p3", "relevant")
    browser.wait(lambda: len(browser.all(".list .chip.relevant")) == 4)
    assert browser.run("return document.activeElement.closest('li').innerText") == before
    server.stop()
    projects.close()
