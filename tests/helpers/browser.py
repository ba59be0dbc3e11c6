"""A server that can be stopped and started again, and a browser on its page."""

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from linker.annotation.session.session import Session
from linker.web.app import Served, create_app
from linker.web.server import listening
from linker.web.server.access import Access
from tests.helpers.sessions import events_in

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver (Debian: chromium chromium-driver)"
)
PATIENCE = 15.0


class Server:
    """`linker serve` in a thread."""

    def __init__(
        self, served: Served, token: str | None = None, port: int = 0, public_url: str | None = None
    ) -> None:
        listener = listening.bind("127.0.0.1", port)
        self.port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self._server = listening.make_server(
            create_app(served, Access(port=self.port, token=token, public_url=public_url))
        )
        self.thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """End as if killed: clients are not notified."""
        self._server.should_exit = self._server.force_exit = True
        self.thread.join(20)
        assert not self.thread.is_alive()


class Site:
    """A server of one session, which can be started again."""

    def __init__(self, session: Session, token: str | None = None) -> None:
        self.folder = session.folder
        self.token = token
        self.port = 0
        self.start()

    def start(self) -> None:
        """Open the session again and listen where the server listened before."""
        self.session = Session.open(self.folder)
        self.server = Server(Served([self.session]), self.token, self.port)
        self.url, self.port = self.server.url, self.server.port

    def stop(self) -> None:
        """End as if killed."""
        self.server.stop()
        self.session.close()

    def done(self) -> list[tuple[str, str, str | None, str]]:
        """What was done, (kind, post, value, annotator), without assignments."""
        return [(one.kind, one.post, one.value, one.annotator) for one in events_in(self.folder)]


class Browser:
    """Chromium without a screen."""

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for argument in (
            "headless", "no-sandbox", "disable-gpu", "no-first-run",
            "disable-background-networking", "host-resolver-rules=MAP label.example 127.0.0.1",
        ):  # fmt: skip
            options.add_argument(f"--{argument}")
        options.add_argument(f"--window-size={width},{height}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.accept_insecure_certs = True
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))

    def quit(self) -> None:
        self.driver.quit()

    def open(self, url: str, name: str | None = "Ada") -> None:
        """Load the page; with a name, as somebody who comes for the first time."""
        self.driver.get("about:blank")
        self.driver.get(url)
        if name:
            self.wait(lambda: self.one("#name").is_displayed())
            self.one("#name").send_keys(name + Keys.ENTER)
            self.wait(lambda: self.one("#guidelines-dialog button").is_displayed())
            self.press(Keys.ENTER)
            self.ready()

    def ready(self) -> None:
        """Wait for a post, and for all that was sent."""
        self.wait(lambda: self.all(".post .words"))
        self.saved()

    def saved(self) -> None:
        self.wait(lambda: self.one("#sync").text == "All saved")

    def wait(self, condition: Callable[[], Any]) -> None:
        """Until something holds, which may ask for elements that are not there yet."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if condition():
                    return
                why = "does not hold"
            except Exception as error:
                why = repr(error)
            assert time.monotonic() < end, why
            time.sleep(0.03)

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def press(self, *keys: str) -> None:
        """Keys, one after the other, wherever the focus is."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def label(self, *keys: str) -> None:
        """Press keys, of which the last labels, and wait until another post is shown, or none."""
        before = self.post
        self.press(*keys)
        self.wait(lambda: not self.all(".post .words") or self.post != before)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        """An element's text as it is, shown or not."""
        return str(self.one(selector).get_property("textContent"))

    @property
    def post(self) -> str:
        """The text of the post that is to be labeled."""
        return self.text(".post .words")

    def size(self, width: int, height: int, phone: bool = False) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, colors: str) -> None:
        """What the system asks for: light or dark."""
        features = [{"name": "prefers-color-scheme", "value": colors}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def complaints(self) -> list[str]:
        """Errors on the console since the last call: scripts that failed, things the policy forbade."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


def texts(folder: Path) -> dict[str, str]:
    """The posts of a session: text → id."""
    with Session.open(folder) as session:
        return {post.text: post.id for post in session.posts}
