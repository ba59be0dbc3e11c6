"""Print pip constraints that pin every requirement of setup.cfg to the oldest version that it allows.

    python scripts/minimum_versions.py setup.cfg > constraints.txt

Needs nothing but the standard library, so that it runs before anything is installed.
"""

from __future__ import annotations

import configparser
import re
import sys

#: The extras that `make test-minimum` installs; the corpus needs numpy 2.
EXTRAS = ("vectors", "web", "cloud", "test-tools")
REQUIREMENT = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9][0-9a-z.]*)")


def minimum_versions(path: str) -> dict[str, str]:
    """The lower bound of each requirement in `install_requires` and `EXTRAS`, by package name.

    Where a package is required twice, the higher bound counts.
    """
    config = configparser.ConfigParser()
    config.read(path, encoding="utf-8")
    texts = [config["options"]["install_requires"]]
    texts += [config["options.extras_require"][extra] for extra in EXTRAS]
    found: dict[str, str] = {}
    for line in "\n".join(texts).splitlines():
        match = REQUIREMENT.match(line.strip())
        if match:
            name, version = match[1].lower(), match[2]
            if name not in found or numbers(version) > numbers(found[name]):
                found[name] = version
    return found


def numbers(version: str) -> list[int]:
    """`2.10.1` as [2, 10, 1], to compare versions."""
    return [int(part) for part in re.findall(r"\d+", version)]


if __name__ == "__main__":
    for name, version in sorted(minimum_versions(sys.argv[1]).items()):
        # 2.3 means the whole series if the first release of it is broken or absent.
        print(f"{name}=={version}" if version.count(".") > 1 else f"{name}=={version}.*")
