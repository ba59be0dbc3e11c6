"""Commands, options, links, components and config snippets that README and docs name exist."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from linker.cli.main import app
from linker.config import EXPERIMENT, check, load_config
from linker.config.registry import catalog, short

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("benchmarks/**/*.md"),
        ROOT / "data/README.md",
    ]
)
COMPONENT_PAGES = [
    *ROOT.glob("docs/components/*.md"),
    ROOT / "docs/guides/data.md",
    ROOT / "docs/guides/annotation-formats.md",
]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`([^`\n]+)`")


def pages(function):
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))(function)


def commands(text: str) -> Iterator[list[str]]:
    """Every `linker …` of a page, in blocks or inline, cut into words."""
    lines = [line for block in FENCE.finditer(text) for line in block[2].replace("\\\n", " ").splitlines()]
    lines += INLINE.findall(FENCE.sub("", text))
    for line in lines:
        line = line.strip().removeprefix("$ ")
        if re.match(r"linker( |$)", line):
            yield shlex.split(line.replace("'", " ").replace('"', " ") if line.count("'") % 2 else line)[1:]


def known_commands() -> dict[str, Any]:
    """Every command by its path, such as `rank` or `vectors fetch`."""
    found = {}
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    for name, command in group.commands.items():
        found[name] = command
        found |= {f"{name} {sub}": one for sub, one in getattr(command, "commands", {}).items()}
    return found


COMMANDS = known_commands()


def options_of(path: str) -> set[str]:
    return {"--help", *(form for parameter in COMMANDS[path].params for form in parameter.opts)}


def complaint(words: list[str]) -> str | None:
    """What is wrong with a command, if anything is."""
    names = [word for word in words[:2] if re.fullmatch(r"[a-z]+", word)]
    path = next((p for n in (2, 1) if (p := " ".join(names[:n])) in COMMANDS), None)
    if names and path is None:
        return f"unknown command {names[0]!r}"
    options = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    known = options_of(path) if path else {"--help", "--version"}
    unknown = [option for option in options if option not in known]
    return f"linker {path}: no option {', '.join(unknown)}" if unknown else None


def test_the_check_itself_notices_what_is_wrong() -> None:
    assert [*commands("see `linker rank --top 3`\n```\n$ linker train x.jsonnet \\\n  --out y\n```")] == [
        ["train", "x.jsonnet", "--out", "y"],
        ["rank", "--top", "3"],
    ]
    assert complaint(["rank", "--top", "3"]) is None
    assert complaint(["vectors", "fetch", "6B.300d", "--url", "x"]) is None
    assert complaint(["rank", "--limit", "3"])
    assert complaint(["vectors", "fetch", "--out", "x"])
    assert complaint(["juggle"])


@pages
def test_commands_and_options_exist(page: Path) -> None:
    wrong = [found for words in commands(page.read_text(encoding="utf-8")) if (found := complaint(words))]
    assert not wrong


@pages
def test_relative_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_component_is_described() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in COMPONENT_PAGES)
    missing = [
        f"{short(family)} {name}"
        for family in catalog.families()
        for name, reference in catalog.components(family).items()
        if reference.startswith("linker.") and f"`{name}`" not in text
    ]
    assert not missing


def test_the_configs_in_getting_started_are_right(tmp_path: Path) -> None:
    pages = [
        page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs/getting-started").glob("*.md"))
    ]
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    found = re.findall(r"<!-- file: (\S+) -->\n```jsonnet\n(.*?)```", "\n".join(pages), re.DOTALL)
    assert found
    for name, body in found:
        (tmp_path / name).write_text(body, encoding="utf-8")
        assert check(EXPERIMENT, load_config(tmp_path / name)) == []


# Files of the repository that a page names in code, unless they are of an earlier commit; no patterns or placeholders.
REPOSITORY_FILE = re.compile(
    r"`((?:tests|benchmarks|scripts|linker)/[\w./-]+\.(?:py|md|json|csv))`(?!\s+of commit)"
)
# Decisions and changes name files as they were.
CURRENT_PAGES = [page for page in PAGES if page.name != "CHANGELOG.md" and page.parent.name != "decisions"]


@pytest.mark.parametrize("page", CURRENT_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_of_the_repository_exist(page: Path) -> None:
    named = REPOSITORY_FILE.findall(page.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []
