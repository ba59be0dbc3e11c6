"""A Hugging Face hub on loopback, with the endpoints that huggingface_hub uses for models."""

from __future__ import annotations

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

#: Token that may write, and read private models.
TOKEN = "hf_loopback"


@dataclass
class Repository:
    """A model: its commits, and what its branches point to."""

    private: bool = False
    gated: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    branches: dict[str, str] = field(default_factory=dict)

    def commit(self, branch: str, files: dict[str, bytes], message: str = "") -> str:
        """Add files to a branch; the new commit."""
        before = self.commits.get(self.branches.get(branch, ""), {})
        name = hashlib.sha1(f"{branch}{len(self.commits)}".encode()).hexdigest()
        self.commits[name] = {**before, **files}
        self.branches[branch] = name
        self.messages.append(message)
        return name


@dataclass
class Hub:
    """A hub; `requests` are those it got, `objects` those that came by Git LFS, by SHA-256."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    objects: dict[str, bytes] = field(default_factory=dict)
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
            hub.requests.append(f"{self.command} {path}")
            body = self._body()
            try:
                for method, pattern, answer in ROUTES:
                    if (found := re.fullmatch(pattern, path)) and self.command in method.split():
                        return answer(self, body, *found.groups())
                raise _RefusalError(404, text=f"no such endpoint: {self.command} {path}")
            except _RefusalError as refusal:
                headers = {"X-Error-Code": refusal.code} if refusal.code else {}
                self._send(json.dumps(refusal.content).encode(), refusal.status, headers)

        do_GET = do_HEAD = do_POST = do_PUT = _answer  # noqa: N815

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "") == "chunked":
                parts = []
                while size := int(self.rfile.readline(), 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))

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

        def _may_write(self) -> None:
            if not self._knows_token():
                raise _RefusalError(401, text="Invalid username or password.")

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

        def resolve(self, body: bytes, repo: str, revision: str, file: str) -> None:
            if self._find(repo).gated:
                raise _RefusalError(403, "GatedRepo", "Access to model is restricted")
            commit, files = self._revision(repo, revision)
            if file not in files:
                raise _RefusalError(404, "EntryNotFound", "Entry not found")
            etag = hashlib.sha256(files[file]).hexdigest()
            self._send(files[file], headers={"X-Repo-Commit": commit, "ETag": f'"{etag}"'})

        def info(self, body: bytes, repo: str, revision: str | None = None) -> None:
            found = self._find(repo)
            commit, files = self._revision(repo, revision or "main") if found.commits else ("", {})
            siblings = [{"rfilename": name} for name in files]
            self._json({"id": repo, "sha": commit, "private": found.private, "siblings": siblings})

        def tree(self, body: bytes, repo: str, revision: str) -> None:
            _, files = self._revision(repo, revision)
            rows = [
                {"type": "file", "path": name, "size": len(data), "oid": "0"} for name, data in files.items()
            ]
            self._json(rows)

        def create(self, body: bytes) -> None:
            self._may_write()
            wanted = json.loads(body)
            repo = f"{wanted.get('organization') or 'user'}/{wanted['name']}"
            if repo in hub.repositories:
                raise _RefusalError(
                    409, text="You already created this model repo", url=f"{hub.address}/{repo}"
                )
            private = wanted.get("private") or wanted.get("visibility") == "private"
            hub.repositories[repo] = Repository(private=bool(private))
            hub.repositories[repo].commit("main", {".gitattributes": b""}, "initial commit")
            self._json({"url": f"{hub.address}/{repo}", "name": repo})

        def branch(self, body: bytes, repo: str, name: str) -> None:
            self._may_write()
            found = self._find(repo)
            if name in found.branches:
                raise _RefusalError(409, text="Reference already exists")
            found.branches[name] = found.branches["main"]
            self._json({})

        def validate(self, body: bytes) -> None:
            content = json.loads(body)["content"]
            assert content.startswith("---\n"), content
            self._json({"errors": [], "warnings": []})

        def preupload(self, body: bytes, repo: str, revision: str) -> None:
            self._may_write()
            files = json.loads(body)["files"]
            self._json(
                {
                    "files": [
                        {
                            "path": file["path"],
                            "uploadMode": "lfs"
                            if file["path"].endswith((".safetensors", ".onnx"))
                            else "regular",
                            "shouldIgnore": False,
                        }
                        for file in files
                    ]
                }
            )

        def lfs(self, body: bytes, repo: str) -> None:
            wanted = json.loads(body)
            objects = [
                {
                    **one,
                    "actions": {"upload": {"href": f"{hub.address}/objects/{one['oid']}", "header": {}}},
                }
                for one in wanted["objects"]
            ]
            self._json({"transfer": "basic", "objects": objects})

        def upload(self, body: bytes, oid: str) -> None:
            assert hashlib.sha256(body).hexdigest() == oid
            hub.objects[oid] = body
            self._send(b"")

        def commit(self, body: bytes, repo: str, revision: str) -> None:
            self._may_write()
            files, message = {}, ""
            for line in body.decode().splitlines():
                row = json.loads(line)
                value = row["value"]
                if row["key"] == "header":
                    message = value["summary"]
                elif row["key"] == "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                elif row["key"] == "lfsFile":
                    files[value["path"]] = hub.objects[value["oid"]]
                else:
                    raise _RefusalError(400, text=f"unknown operation {row['key']}")
            commit = self._find(repo).commit(revision, files, message)
            url = f"{hub.address}/{repo}/commit/{commit}"
            self._json({"success": True, "commitOid": commit, "commitUrl": url})

    name = r"([\w.-]+/[\w.-]+)"
    ROUTES: list[tuple[str, str, Callable[..., None]]] = [
        ("GET HEAD", rf"/{name}/resolve/([^/]+)/(.+)", Handler.resolve),
        ("GET", rf"/api/models/{name}", Handler.info),
        ("GET", rf"/api/models/{name}/revision/([^/]+)", Handler.info),
        ("GET", rf"/api/models/{name}/tree/([^/]+)", Handler.tree),
        ("POST", r"/api/repos/create", Handler.create),
        ("POST", rf"/api/models/{name}/branch/(.+)", Handler.branch),
        ("POST", r"/api/validate-yaml", Handler.validate),
        ("POST", rf"/api/models/{name}/preupload/(.+)", Handler.preupload),
        ("POST", rf"/{name}\.git/info/lfs/objects/batch", Handler.lfs),
        ("PUT", r"/objects/(\w+)", Handler.upload),
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
