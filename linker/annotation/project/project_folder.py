"""A project: a folder with settings, uploaded posts and a session."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from linker.annotation.project.post_files import PostFiles
from linker.annotation.project.settings import ProjectSettings, settings_of
from linker.annotation.session.contents import article_of
from linker.annotation.session.events import now
from linker.annotation.session.session_file import FILE
from linker.common.errors import DataError, LinkerError
from linker.common.files import read_json_object, write_json, write_lines
from linker.version import __version__

SETTINGS, ARTICLES, UPLOADS, SESSION = "project.json", "articles.jsonl", "uploads", "session"
REMOVED = ".removed"
FORMAT = 1
_KEY = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")


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
    def extended_folder(self) -> Path:
        """The folder in which a session with further posts is prepared."""
        return self.folder / ".session-extended"

    @property
    def is_ready(self) -> bool:
        """Whether the session exists, so that people can label."""
        return (self.session_folder / FILE).is_file()

    @property
    def files(self) -> PostFiles:
        """The uploaded files of posts."""
        return PostFiles(self.folder / UPLOADS, self.settings.reading, self.change)

    def change(self, **values: Any) -> None:
        """Change settings and store them.

        Raises:
            LinkerError: if they do not fit together, or cannot be written; then nothing changes.
        """
        settings = replace(self.settings, **values)
        settings.check()
        _write(self.folder, settings)
        self.settings = settings


class ProjectsFolder:
    """A folder of projects.

    Args:
        root: the folder; created with the first project.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

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
                if (self.root / REMOVED / folder.name).exists():  # it may come back
                    raise FileExistsError
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

    def remove(self, key: str) -> Path:
        """Move a project, also a damaged one, to the folder `.removed` beside it, and return where it is then.

        Raises:
            LinkerError: if there is none with this key, or it cannot be moved.
        """
        if key not in self.project_keys():
            raise DataError(f"project {key[:80]!r} not found")
        try:
            (self.root / REMOVED).mkdir(exist_ok=True)
            return (self.root / key).rename(self.root / REMOVED / key)
        except OSError as error:
            raise LinkerError(f"{self.root / key}: cannot be moved ({error.strerror})") from error


def key_of(title: str) -> str:
    """Return the name of the folder of a project: its title in ASCII letters, digits and `-`."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:50].strip("-") or "project"


def _write(folder: Path, settings: ProjectSettings) -> None:
    write_json(folder / SETTINGS, {"format": FORMAT, "linker_version": __version__, **_values(settings)})


def _values(settings: ProjectSettings) -> dict[str, Any]:
    values = asdict(settings)
    for article in values["articles"]:
        if article["published"] is not None:
            article["published"] = article["published"].isoformat()
    return values
