"""The recipes of `configs/` that are part of linker, so that their names work in every folder."""

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path, PurePath

#: First part of a recipe's name.
CONFIGS = "configs"

_PACKAGE = Path(__file__).parents[1]
_NEAREST = 3


def shared_folder() -> Path:
    """Return the folder that holds `configs` and `data`: `linker/share` if installed, else the source tree."""
    installed = _PACKAGE / "share"
    return installed if installed.is_dir() else _PACKAGE.parent


def packaged(name: str | PurePath) -> Path | None:
    """Return the packaged config of a name such as `configs/ast.jsonnet`; None if there is none."""
    path = PurePath(name)
    if path.is_absolute() or path.parts[:1] != (CONFIGS,) or ".." in path.parts:
        return None
    file = shared_folder() / path
    return file if file.is_file() else None


def find_config(config: str | Path) -> Path:
    """Return the file that a config's name means: the file itself, or else linker's own recipe of that name.

    Args:
        config: a path. A path that begins with `configs/` may be that of a recipe.

    Returns:
        The file; `config` itself if there is neither.
    """
    path = Path(config)
    try:
        local = path.exists()
    except OSError:  # a name that is too long
        local = False
    return path if local else packaged(path) or path


def recipe_for(wanted: Path, folder: Path) -> Path | None:
    """Return the file of linker's `configs` for an import that a config's folder lacks; None if there is none."""
    path = Path(os.path.abspath(wanted))
    above = [parent.parent for parent in path.parents if parent.name == CONFIGS]
    return packaged(path.relative_to(above[0]) if above else PurePath(CONFIGS, os.path.relpath(path, folder)))


def recipes() -> Iterator[tuple[str, str]]:
    """Yield each recipe's name, such as `configs/ast.jsonnet`, and the first sentence of its header, sorted by name."""
    folder = shared_folder()
    for file in sorted((folder / CONFIGS).rglob("*.jsonnet"), key=lambda file: (len(file.parts), file)):
        yield file.relative_to(folder).as_posix(), _headline(file.read_text(encoding="utf-8"))


def nearest_recipes(config: str | Path) -> list[str]:
    """Return the names of at most three recipes whose names are like `config`, the most similar first."""
    names = [name for name, _ in recipes()]
    stem = PurePath(config).name.removesuffix(".jsonnet")
    # Closest first, the same name among them.
    stems = get_close_matches(stem, {PurePath(name).stem for name in names}, _NEAREST)
    return [name for wanted in stems for name in names if PurePath(name).stem == wanted][:_NEAREST]


def _headline(text: str) -> str:
    """Return the first clause of the comment at the beginning of a config."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("// ") or line.startswith("//   "):
            break
        lines.append(line.removeprefix("// "))
    return re.split(r"(?<!et al)[.:;](?= |$)", " ".join(lines))[0]
