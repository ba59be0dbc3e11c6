"""The container: it runs a command that exists, not as root, and contains what the package is built from."""

from __future__ import annotations

import json
import re
from pathlib import Path

from typer.core import TyperGroup
from typer.main import get_command

from linker.cli.main import app

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LAST_STAGE = DOCKERFILE.rpartition("\nFROM ")[2]


def instruction(name: str) -> str:
    (found,) = re.findall(rf"^{name} (.+)$", LAST_STAGE, re.MULTILINE)
    return str(found)


def test_it_is_not_root() -> None:
    assert int(instruction("USER")) > 0


def test_it_serves_by_default_where_the_health_check_asks() -> None:
    entrypoint, arguments = json.loads(instruction("ENTRYPOINT")), json.loads(instruction("CMD"))
    assert entrypoint == ["linker"]
    options = dict(zip(arguments[1::2], arguments[2::2]))
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    known = {form for option in group.commands["serve"].params for form in option.opts}
    assert arguments[0] == "serve"
    assert options.keys() <= known
    assert Path(options["--projects"]).parent.as_posix() == instruction("VOLUME")
    assert options["--port"] == instruction("EXPOSE")
    assert f"127.0.0.1:{options['--port']}/" in LAST_STAGE[LAST_STAGE.index("HEALTHCHECK") :]


def test_the_context_holds_what_the_package_is_built_from_and_no_more() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    sent = {rule[1:] for rule in rules if rule.startswith("!")}
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    grafted = re.findall(r"^(?:graft|include) (.+)$", manifest, re.MULTILINE)
    needed = {"linker", "setup.py", "setup.cfg", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"}
    assert sent == needed | {name for line in grafted for name in line.split()}
    assert all((ROOT / name).exists() for name in sent)
    # Compiled for this machine, perhaps not for the image.
    assert "**/*.so" in rules
