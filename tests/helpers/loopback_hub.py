"""A Hugging Face hub on loopback, with the endpoints that huggingface_hub uses for models."""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

#: Token that may read private models and write.
TOKEN = "hf_loopback"


@dataclass
class Repository:
    """A model: its commits, and what its branches point to."""

    private: bool = False
    gated: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)

    def commit(self, branch: str, files: dict[str, bytes]) -> str:
        """Add files to a branch; the new commit."""
        before = self.commits.get(self.branches.get(branch, ""), {})
        name = hashlib.sha1(f"{branch}{len(self.commits)}".encode()).hexdigest()
        self.commits[name] = {**before, **files}
        self.branches[branch] = name
        return name


@dataclass
class Hub:
    """A hub; `requests` are those it got."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    address: str = ""

    def files(self, repo: str, revision: str = "main") -> dict[str, bytes]:
        """The files of a revision."""
        found = self.repositories[repo]
        return found.commits[found.branches.get(revision, revision)]


class _RefusalError(Exception):
    def __init__(self, status: int, code: str = "", text: str = "", **more: str) -> None:
        self.status, self.code, self.content = status, code, {"error": text, **more}


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def _answer(self) -> None:
            path = unquote(urlsplit(self.path).path)
            self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            hub.requests.append(f"{self.command} {path}")
            try:
                for method, pattern, answer in ROUTES:
                    if (found := re.fullmatch(pattern, path)) and self.command in method.split():
                        return answer(self, *found.groups())
                raise _RefusalError(404, text=f"no such endpoint: {self.command} {path}")
            except _RefusalError as refusal:
                headers = {"X-Error-Code": refusal.code} if refusal.code else {}
                self._send(json.dumps(refusal.content).encode(), refusal.status, headers)

        do_GET = do_HEAD = do_POST = _answer  # noqa: N815

        def _send(self, content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def _json(self, content: object) -> None:
            self._send(json.dumps(content).encode(), headers={"Content-Type": "application/json"})

        def _knows_token(self) -> bool:
            return self.headers.get("Authorization") == f"Bearer {TOKEN}"

        def _find(self, repo: str) -> Repository:
            found = hub.repositories.get(repo)
            if found is None or (found.private and not self._knows_token()):
                raise _RefusalError(
                    404 if self._knows_token() else 401, "RepoNotFound", "Repository not found"
                )
            return found

        def _revision(self, repo: str, revision: str) -> tuple[str, dict[str, bytes]]:
            found = self._find(repo)
            commit = found.branches.get(revision, revision)
            if commit not in found.commits:
                raise _RefusalError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
            return commit, found.commits[commit]

        def resolve(self, repo: str, revision: str, file: str) -> None:
            if self._find(repo).gated:
                raise _RefusalError(403, "GatedRepo", "Access to model is restricted")
            commit, files = self._revision(repo, revision)
            if file not in files:
                raise _RefusalError(404, "EntryNotFound", "Entry not found")
            etag = hashlib.sha256(files[file]).hexdigest()
            self._send(files[file], headers={"X-Repo-Commit": commit, "ETag": f'"{etag}"'})

        def info(self, repo: str, revision: str | None = None) -> None:
            found = self._find(repo)
            commit, files = self._revision(repo, revision or "main") if found.commits else ("", {})
            siblings = [{"rfilename": name} for name in files]
            self._json({"id": repo, "sha": commit, "private": found.private, "siblings": siblings})

        def tree(self, repo: str, revision: str) -> None:
            _, files = self._revision(repo, revision)
            rows = [
                {"type": "file", "path": name, "size": len(data), "oid": "0"} for name, data in files.items()
            ]
            self._json(rows)

        def create(self) -> None:
            wanted = json.loads(self.body)
            if not self._knows_token():
                raise _RefusalError(401, text="Invalid username or password.")
            repo = f"{wanted.get('organization') or 'user'}/{wanted['name']}"
            if repo in hub.repositories:
                raise _RefusalError(409, text="You already created this", url=f"{hub.address}/{repo}")
            private = wanted.get("private") or wanted.get("visibility") == "private"
            hub.repositories[repo] = Repository(private=bool(private))
            hub.repositories[repo].commit("main", {".gitattributes": b""})
            self._json({"url": f"{hub.address}/{repo}", "name": repo})

        def validate(self) -> None:
            self._json({"errors": [], "warnings": []})

        def preupload(self, repo: str, revision: str) -> None:
            more = {"uploadMode": "regular", "shouldIgnore": False}
            self._json({"files": [{"path": file["path"], **more} for file in json.loads(self.body)["files"]]})

        def commit(self, repo: str, revision: str) -> None:
            rows = [json.loads(line)["value"] for line in self.body.decode().splitlines()]
            files = {row["path"]: base64.b64decode(row["content"]) for row in rows if "path" in row}
            commit = self._find(repo).commit(revision, files)
            url = f"{hub.address}/{repo}/commit/{commit}"
            self._json({"success": True, "commitOid": commit, "commitUrl": url})

    name = r"([\w.-]+/[\w.-]+)"
    ROUTES: list[tuple[str, str, Callable[..., None]]] = [
        ("GET HEAD", rf"/{name}/resolve/([^/]+)/(.+)", Handler.resolve),
        ("GET", rf"/api/models/{name}", Handler.info),
        ("GET", rf"/api/models/{name}/revision/([^/]+)", Handler.info),
        ("GET", rf"/api/models/{name}/tree/([^/]+)", Handler.tree),
        ("POST", r"/api/repos/create", Handler.create),
        ("POST", r"/api/validate-yaml", Handler.validate),
        ("POST", rf"/api/models/{name}/preupload/(.+)", Handler.preupload),
        ("POST", rf"/api/models/{name}/commit/(.+)", Handler.commit),
    ]
    return Handler


@contextmanager
def hub_on_loopback() -> Iterator[Hub]:
    """A hub that answers until the block ends."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
