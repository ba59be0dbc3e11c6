"""A project: a folder with settings, uploaded posts and a session."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

from linker.annotation.project.settings import ProjectSettings, settings_of
from linker.annotation.session.contents import article_of
from linker.annotation.session.events import now
from linker.annotation.session.session_file import FILE
from linker.common.errors import DataError, LinkerError
from linker.common.files import atomic_write, read_json_object, write_json, write_lines
from linker.data.io.columns import PostColumns
from linker.data.io.input_files import PLAIN_TEXT, why_left_out
from linker.version import __version__

SETTINGS, ARTICLES, UPLOADS, SESSION = "project.json", "articles.jsonl", "uploads", "session"
FORMAT = 1
_KEY = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")
_LONGEST_NAME = 100


class Project:
    """A project, from `ProjectsFolder`.

    Args:
        folder: its folder.
        settings: its settings.
    """

    def __init__(self, folder: Path, settings: ProjectSettings) -> None:
        self.folder = folder
        self.key = folder.name
        self.settings = settings

    @classmethod
    def open(cls, folder: Path) -> Project:
        """Open a project.

        Raises:
            DataError: if its settings are missing, damaged or of a newer version.
        """
        path = folder / SETTINGS
        values = read_json_object(path)
        if not isinstance(values.get("format"), int) or values["format"] > FORMAT:
            raise DataError(f"{path}: written by linker {values.get('linker_version')}; upgrade this one")
        try:
            settings = settings_of(values, [article_of(one) for one in values["articles"]])
            settings.check()
        except (KeyError, TypeError, ValueError, LinkerError) as error:
            raise DataError(f"{path}: damaged ({error}); put back a copy of it") from error
        return cls(folder, settings)

    @property
    def session_folder(self) -> Path:
        """The folder of the session, which may not exist yet."""
        return self.folder / SESSION

    @property
    def is_ready(self) -> bool:
        """Whether the session exists, so that people can label."""
        return (self.session_folder / FILE).is_file()

    def uploads(self) -> list[Path]:
        """Return the uploaded files, by name."""
        folder = self.folder / UPLOADS
        found = folder.iterdir() if folder.is_dir() else ()
        return sorted(path for path in found if path.is_file() and not path.name.startswith("."))

    def change(self, **values: Any) -> None:
        """Change settings and store them.

        Raises:
            LinkerError: if they do not fit together, or cannot be written; then nothing changes.
        """
        settings = replace(self.settings, **values)
        settings.check()
        _write(self.folder, settings)
        self.settings = settings

    @contextmanager
    def upload(self, name: str) -> Iterator[IO[bytes]]:
        """Open an upload for writing; it appears, or replaces one of its name, when the block succeeds.

        Args:
            name: name of the file where it comes from; only its letters, digits, `.`, `-` and `_` are kept.

        Raises:
            LinkerError: if people label already, or it is no table of posts.
        """
        if self.is_ready:
            raise LinkerError("posts cannot be added after labeling has begun; create another project")
        safe = safe_name(name)
        path = self.folder / UPLOADS / safe
        with atomic_write(path, "wb") as file:
            yield file
        if (reason := why_left_out(str(path), PostColumns())) and reason != PLAIN_TEXT:
            path.unlink()
            raise LinkerError(
                f"{safe}: cannot be read as posts ({reason}); drop a table or an export with posts"
            )

    def shown(self, message: str) -> str:
        """Return a message in which files of this project have the names that they were uploaded under."""
        return message.replace(f"{self.folder / UPLOADS}{os.sep}", "").replace(f"{self.folder}{os.sep}", "")


class ProjectsFolder:
    """A folder of projects.

    Args:
        root: the folder; created with the first project.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def project_keys(self) -> list[str]:
        """Return the folders of projects, latest first."""
        try:
            found = [path for path in self.root.iterdir() if (path / SETTINGS).is_file()]
        except OSError:
            return []
        names = [path for path in found if _KEY.fullmatch(path.name)]
        return [path.name for path in sorted(names, key=lambda path: -path.stat().st_mtime)]

    def open(self, key: str) -> Project:
        """Open a project.

        Raises:
            DataError: if there is none with this key, or it is damaged.
        """
        if not _KEY.fullmatch(key) or not (self.root / key / SETTINGS).is_file():
            raise DataError(f"project {key[:80]!r} not found")
        return Project.open(self.root / key)

    def create(self, settings: ProjectSettings) -> Project:
        """Create a project in a new folder, named by its title.

        Raises:
            LinkerError: if settings are invalid, or the folder cannot be written.
        """
        settings = replace(settings, created=now().isoformat(timespec="seconds"))
        settings.check()
        base, number = key_of(settings.title), 1
        while True:
            folder = self.root / (base if number == 1 else f"{base}-{number}")
            try:
                self.root.mkdir(parents=True, exist_ok=True)
                folder.mkdir()
                break
            except FileExistsError:
                number += 1
            except OSError as error:
                raise LinkerError(f"{folder}: cannot be created ({error.strerror})") from error
        write_lines(
            folder / ARTICLES,
            (json.dumps(one, ensure_ascii=True) + "\n" for one in _values(settings)["articles"]),
        )
        _write(folder, settings)
        return Project(folder, settings)


def key_of(title: str) -> str:
    """Return the name of the folder of a project: its title in ASCII letters, digits and `-`."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:50].strip("-") or "project"


def safe_name(name: str) -> str:
    """Return the name of a file without its folders and with harmless characters only."""
    last = re.split(r"[\\/]", name)[-1]
    kept = re.sub(r"[^A-Za-z0-9._-]+", "_", last).lstrip("._-")
    return kept[-_LONGEST_NAME:].lstrip("._-") or "posts"


def _write(folder: Path, settings: ProjectSettings) -> None:
    write_json(folder / SETTINGS, {"format": FORMAT, "linker_version": __version__, **_values(settings)})


def _values(settings: ProjectSettings) -> dict[str, Any]:
    values = asdict(settings)
    for article in values["articles"]:
        if article["published"] is not None:
            article["published"] = article["published"].isoformat()
    return values


def file_names(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return name and size in bytes of files."""
    return [{"name": path.name, "bytes": path.stat().st_size} for path in paths]
