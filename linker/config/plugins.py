"""Installed packages that add components: the entry points of the group `linker.components`."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from typing import NamedTuple

from linker.common.errors import ConfigError

GROUP = "linker.components"
_REGISTERS = re.compile(rb"^[ \t]*@[\w. \t]+\.\s*register\(", re.MULTILINE)


class Plugin(NamedTuple):
    """One entry point.

    Attributes:
        distribution: name of the installed distribution, as pip knows it.
        version: its version.
        module: package or module whose source is searched for components.
    """

    distribution: str
    version: str
    module: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"

    @property
    def remedy(self) -> str:
        """What to do if its components cannot be used."""
        return f"upgrade it, or remove it with `pip uninstall {self.distribution}`"


def installed_plugins() -> list[Plugin]:
    """Return the plugins of the environment, sorted by distribution; imports none of them.

    Called only when a component is not found in linker, when components are listed, or when posts are recognized: 6 ms
    among 200 packages.
    """
    from importlib.metadata import entry_points

    plugins = set()
    for entry in entry_points(group=GROUP):
        name = entry.dist.metadata["Name"] if entry.dist else entry.name
        # A class `module:Class` means its module: registered names are found in the source.
        module = entry.value.partition(":")[0].partition("[")[0].strip()
        plugins.add(Plugin(name, entry.dist.version if entry.dist else "", module))
    return sorted(plugins)


def registering_modules(package: str) -> dict[str, set[str]]:
    """Return the modules of a package, or a single module, that register components, each with the words in it.

    They are found by a text search and not imported: a package may have slow modules, and scripts.

    Raises:
        ConfigError: if the package is not found, installed or in the current folder.
    """
    top, *inner = package.split(".")
    try:
        spec = importlib.util.find_spec(top) if top.isidentifier() else None
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise ConfigError(
            f'package "{package}" was not found in {os.getcwd()} or among the installed packages'
        )
    files: dict[str, Path] = {}
    for folder in map(Path, spec.submodule_search_locations or ()):
        base = folder.joinpath(*inner)
        for path in sorted([base.with_suffix(".py"), *base.rglob("*.py")] if inner else base.rglob("*.py")):
            parts = (top, *path.relative_to(folder).with_suffix("").parts)
            if path.is_file() and all(map(str.isidentifier, parts)):
                files[".".join(parts).removesuffix(".__init__")] = path
    if not inner and spec.submodule_search_locations is None and spec.origin:
        files[top] = Path(spec.origin)
    if not files:
        raise ConfigError(f'package "{package}" holds no Python source')
    texts = {name: path.read_bytes() for name, path in files.items()}
    return {
        name: {word.decode() for word in re.findall(rb"\w+", text)}
        for name, text in texts.items()
        if _REGISTERS.search(text)
    }
