"""Installed packages that add components: the entry points of the group `linker.components`."""

from __future__ import annotations

from typing import NamedTuple

GROUP = "linker.components"


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

    Reads the metadata of all installed packages, some 50 ms: called only when a component is not found in linker, or
    when components are listed.
    """
    from importlib.metadata import entry_points

    found = set()
    for entry in entry_points(group=GROUP):
        name = entry.dist.metadata["Name"] if entry.dist else entry.name
        # A class `module:Class` means its module: registered names are found in the source.
        module = entry.value.partition(":")[0].partition("[")[0].strip()
        found.add(Plugin(name, entry.dist.version if entry.dist else "", module))
    return sorted(found)
