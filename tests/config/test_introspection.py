"""Schemas of classes: those of linker's own components are on disk, and current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from linker.config.introspection import argument_docs, first_line
from linker.config.registry import catalog

ROOT = Path(__file__).parents[2]


def test_the_committed_files_are_current() -> None:
    # In a process of its own: other tests register components here.
    command = [sys.executable, "-m", "scripts.components", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_the_schema_of_a_component_says(zoo: str) -> None:
    catalog.type_of(zoo)
    module = zoo.partition(":")[0]
    dog, cat = catalog.spec(f"{module}:Dog"), catalog.spec(f"{module}:Cat")
    assert dog is not None
    assert cat is not None
    assert dog.keys == ["legs", "friend"]
    assert dog.supplied == {"yard": False, "owner": False}
    assert dog.description == "Barks."
    assert dog.parameters[0].description == "how many."
    assert cat.keys == ["name"]
    assert cat.parameters[0].description == "what it is called, by everybody."


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        (None, {}),
        ("Says nothing.", {}),
        (
            "One.\n\n    Args:\n        a: first,\n            still.\n        b (int): second.\n\n"
            "    Returns:\n        c: no.\n",
            {"a": "first, still.", "b": "second."},
        ),
        ("Do.\n\n    Args:\n        **more: the rest.\n", {"more": "the rest."}),
    ],
)
def test_argument_docs(docstring: str | None, expected: dict[str, str]) -> None:
    assert argument_docs(docstring) == expected


def test_first_line_is_the_first_paragraph() -> None:
    assert first_line("One\n    two.\n\n    Three.") == "One two."
