"""The owner of a project adds posts while the page of somebody who labels is open."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from linker.annotation.project.project_folder import ProjectsFolder
from linker.annotation.project.settings import Person, ProjectSettings
from linker.annotation.session.session import Session
from linker.annotation.session.session_file import SessionFile
from linker.web.api.projects import Projects
from linker.web.app import Served
from tests.helpers.browser import Browser, Server, needs_browser
from tests.helpers.sessions import events_in
from tests.web.conftest import ARTICLE, make_posts

pytestmark = [needs_browser, pytest.mark.slow]

POSTS = make_posts(24)


def test_people_go_on_labeling_while_posts_are_added(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = Projects(ProjectsFolder(tmp_path / "projects"))
    made = projects.folder.create(
        ProjectSettings("Otters", (ARTICLE,), model="bm25", people=(Person("Kim"),))
    )
    Session.create(made.session_folder, [ARTICLE], POSTS[:12], "bm25").close()
    projects.update(made)
    files = [tmp_path / name for name in ("broken.jsonl", "further.jsonl")]
    rows = [json.dumps({"id": post.id, "text": post.text}) + "\n" for post in POSTS[10:]]
    files[0].write_text(rows[0] + "not json\n")
    files[1].write_text("".join(rows))
    copy, swapping = SessionFile.copy_to, []

    def copy_slowly(file: SessionFile, folder: Path) -> None:
        swapping.append(folder)
        time.sleep(1.5)  # requests wait meanwhile
        copy(file, folder)

    monkeypatch.setattr(SessionFile, "copy_to", copy_slowly)
    server, kim, given = Server(Served(projects=projects)), Browser(), list[str]()

    def label() -> None:
        kim.wait(lambda: kim.all(".post .words"))
        given.append(post := kim.post)
        kim.label("r" if "otters" in post else "n")

    try:
        browser.driver.get(f"{server.url}#project/otters")
        browser.wait(lambda: browser.one("#added-posts").is_displayed())
        kim.driver.get(str(browser.one(".links input").get_attribute("value")))
        kim.ready()
        label()
        add = "//section[h2='Add posts']//button[@class='primary']"
        browser.driver.find_element("xpath", add).click()
        browser.wait(lambda: "Posts are missing" in browser.text("[aria-labelledby=part-add-posts] .problem"))
        browser.one("#added-posts").send_keys(str(files[0]))
        browser.wait(lambda: "cannot be read yet" in _added(browser, add))
        browser.driver.find_element("xpath", "//button[@aria-label='Remove broken.jsonl']").click()
        browser.wait(lambda: not browser.all("[aria-labelledby=part-add-posts] li"))
        browser.one("#added-posts").send_keys(str(files[1]))
        browser.wait(lambda: "14 posts" in browser.text("[aria-labelledby=part-add-posts] li"))
        browser.one("#set-question").send_keys(" Really", Keys.NULL)
        browser.driver.find_element("xpath", add).click()
        browser.wait(lambda: "People can label meanwhile" in browser.text("[aria-labelledby=part-add-posts]"))
        label()  # before the posts have been scored
        kim.wait(lambda: swapping)
        for _ in range(3):
            label()  # on their way, or kept in the browser
        kim.run("document.querySelector('#note').focus()")
        kim.press("half a note")
        browser.wait(lambda: "of 24" in browser.text("[aria-labelledby=part-progress] .figures"))
        kim.wait(lambda: "of 24" in kim.text("#labeled"))
        kim.saved()
        assert kim.one("#note").get_property("value") == "half a note"
        kim.press(Keys.ESCAPE)
        while len(given) < 24:
            label()
        kim.wait(lambda: "No posts left" in kim.text(".post"))
        kim.saved()
        browser.wait(lambda: "every post has a label" in browser.text(".decision").lower())
        # What was typed stays, and the field is ready for other files.
        assert str(browser.one("#set-question").get_property("value")).endswith(" Really")
        browser.wait(lambda: browser.one("#added-posts").is_displayed())
        assert not browser.all("[aria-labelledby=part-add-posts] li")
        assert "2 of 14 posts left out" in browser.text("details.muted")
        assert [one for one in kim.complaints() if "400" not in one] == []
    finally:
        kim.quit()
        server.stop()
        projects.close()
    texts = {post.id: post.text for post in POSTS}
    done = [event for event in events_in(made.session_folder) if event.kind == "label"]
    assert [texts[event.post] for event in done] == given
    assert sorted(given) == sorted(texts.values())
    assert all((event.value == "relevant") == ("otters" in texts[event.post]) for event in done)
    assert "half a note" in [event.note for event in events_in(made.session_folder)]


def _added(browser: Browser, add: str) -> str:
    browser.driver.find_element("xpath", add).click()
    return browser.text("[aria-labelledby=part-add-posts] > .problem")
