"""Names of the Python API in the pages exist, and every page is in the order of reading."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [page for page in sorted(DOCS.glob("**/*.md")) if page.parent.name != "decisions"]
# `.. autoclass:: linker.data.types.Post`, and dotted names in running text.
NAME = re.compile(r"(?:^\.\. auto\w+:: |`)(linker(?:\.\w+)+)", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
TREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)


def names(text: str) -> set[str]:
    """Return the dotted names of a page, those that its Python imports included."""
    found = set(NAME.findall(text))
    for code in PYTHON.findall(text):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "linker":
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def exists(name: str) -> bool:
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            value = getattr(value, part, None)
        return value is not None
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_names_of_the_api_exist(page: Path) -> None:
    assert [name for name in sorted(names(page.read_text(encoding="utf-8"))) if not exists(name)] == []


def test_the_check_itself_notices_what_is_wrong() -> None:
    code = "```python\nfrom linker.data.types import Post, Pots\n```\n"
    page = f"`linker.load`\n{code}```\n.. autoclass:: linker.nothing.Post\n```"
    assert names(page) == {
        "linker.load",
        "linker.data.types.Post",
        "linker.data.types.Pots",
        "linker.nothing.Post",
    }
    assert [name for name in sorted(names(page)) if not exists(name)] == [
        "linker.data.types.Pots",
        "linker.nothing.Post",
    ]


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = {DOCS / "index.md"}
    for page in (DOCS / "index.md", DOCS / "reference/index.md"):
        for tree in TREE.findall(page.read_text(encoding="utf-8")):
            for entry in tree.split():
                listed |= {*page.parent.glob(f"{entry}.md")} if not entry.startswith((":", "/")) else set()
    assert {str(page.relative_to(DOCS)) for page in PAGES} == {
        str(page.relative_to(DOCS)) for page in listed if page.parent.name != "decisions"
    }
