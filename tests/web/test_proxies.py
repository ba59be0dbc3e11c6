"""The page behind nginx and Caddy, run with the configs of the guide."""

import getpass
import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from linker.annotation.project.project_folder import ProjectsFolder
from linker.web.api.projects import Projects
from linker.web.app import Served
from linker.web.server.listening import bind
from tests.helpers.browser import Browser, Server, needs_browser
from tests.web.conftest import make_posts
from tests.web.test_browser_projects import create, fill_in

pytestmark = [needs_browser, pytest.mark.slow]

GUIDE = (Path(__file__).parents[2] / "docs/guides/behind-a-proxy.md").read_text(encoding="utf-8")
NGINX, CADDY = (re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL) for kind in ("nginx", "caddy"))
TOKEN = "a-token-of-some-length"


def listens(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), 1):
        return True


def start(kind: str, folder: Path, config: str, port: int, behind: int) -> subprocess.Popen[bytes]:
    """Start nginx or Caddy with a config of the guide, on a port, before a server on another."""
    made = ["-out", f"{folder}/label.example.pem", "-keyout", f"{folder}/label.example.key"]
    request = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=l"
    subprocess.run([*request.split(), *made], check=True, capture_output=True)
    config = re.sub("/etc/ssl/(certs|private)", str(folder), config.replace("8123", str(behind)))
    command = [kind, "run", "--adapter", "caddyfile", "--config", str(folder / "config")]
    if kind == "nginx":
        config = config.replace("443", f"127.0.0.1:{port}")
        config = f"user {getpass.getuser()}; daemon off; pid {folder}/pid; events {{}} http {{ {config} }}"
        command = [kind, "-e", "stderr", "-p", str(folder), "-c", str(folder / "config")]
    else:
        site = f"https://label.example:{port} {{\n tls {made[1]} {made[3]}"
        config = "{\n admin off\n}\n" + config.replace("label.example {", site)
    (folder / "config").write_text(config)
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": str(folder)})


@pytest.mark.parametrize(
    ("kind", "config", "path"),
    [
        ("nginx", NGINX[0], "/"),
        ("nginx", NGINX[1], "/linker/"),
        ("nginx", NGINX[1].replace("8123/;", "8123;"), "/linker/"),
        ("caddy", CADDY[0], "/"),
        ("caddy", CADDY[1], "/linker/"),
        ("caddy", CADDY[1].replace("handle_path", "handle"), "/linker/"),
    ],
    ids=["nginx", "nginx, path", "nginx, path kept", "caddy", "caddy, path", "caddy, path kept"],
)
def test_a_project_behind_a_proxy(
    browser: Browser, tmp_path: Path, kind: str, config: str, path: str
) -> None:
    if not shutil.which(kind) or not shutil.which("openssl"):
        pytest.skip(f"needs {kind} and openssl (Debian: nginx-light caddy openssl)")
    (tmp_path / "posts.txt").write_text("\n".join(post.text for post in make_posts(12)))
    with bind("127.0.0.1", 0) as unused:
        port = unused.getsockname()[1]
    public = f"https://label.example:{port}{path}"
    projects = Projects(ProjectsFolder(tmp_path / "projects"))
    server = Server(Served(projects=projects, model="bm25"), TOKEN, public_url=public.rstrip("/"))
    proxy = start(kind, tmp_path, config, port, server.port)
    try:
        browser.wait(lambda: listens(port))
        browser.driver.get(f"{public.rstrip('/')}#token={TOKEN}")  # the link without its slash
        browser.wait(lambda: browser.all(".projects .empty"))
        assert browser.driver.current_url == public
        (cookie,) = browser.driver.get_cookies()
        assert (cookie["path"], cookie["secure"], cookie["sameSite"]) == (path, True, "Strict")
        browser.one(".page-top .primary").click()
        fill_in(browser, tmp_path / "posts.txt", people="Kim")
        create(browser)
        link = str(browser.one("#link-0").get_property("value"))
        assert link.startswith(f"{public}#token=")
        browser.driver.get("about:blank")
        browser.driver.get(link)
        browser.ready()
        browser.label("r")
        browser.saved()
        browser.one("#open-help").click()
        browser.one("#sign-out").click()
        browser.wait(lambda: browser.one("#token").is_displayed())
        assert browser.driver.current_url.startswith(public)
        assert browser.driver.get_cookies() == []
        assert all("401" in complaint for complaint in browser.complaints())
    finally:
        proxy.terminate()
        proxy.wait(20)
        server.stop()
        projects.close()
