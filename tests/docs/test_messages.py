"""Commands and options that messages of linker advise exist."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_readme import COMMANDS, complaint, options_of

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "linker").rglob("*.py"))
PLACEHOLDER = "VALUE"
COMMAND = re.compile(r"`(linker(?: [^`]*)?)`|^ *(linker [a-z].*)$", re.MULTILINE)
# The variables of style sheets are written alike: `--line: 1px`, `var(--line)`.
OPTION = re.compile(r"(?<![\w(-])--[a-z][a-z-]*(?![-a-z])(?![\w/:])")
# Options of other programs that messages name: pip, tensorboard.
OTHERS = {"--force-reinstall", "--no-deps", "--logdir"}


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Every string of a program that is not part of another, with its line; {values} of f-strings as VALUE."""

    def walk(node: ast.AST) -> Iterator[tuple[int, str]]:
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else PLACEHOLDER for part in node.values)
            yield node.lineno, "".join(str(part) for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        else:
            for child in ast.iter_child_nodes(node):
                yield from walk(child)

    yield from walk(ast.parse(source))


def faults(source: str) -> list[str]:
    """Commands and options in the strings of a program that linker does not have."""
    known = {"--help", "--version"}.union(*map(options_of, COMMANDS))
    wrong = []
    for line, text in strings(source):
        for quoted, own_line in COMMAND.findall(text):
            command = " ".join((quoted or own_line).split())
            words = shlex.split(command.replace("'", ""))[1:]
            # A message may name the program alone, or leave the command open: `linker COMMAND --help`.
            if words and (words[0].islower() or words[0].startswith("-")) and (found := complaint(words)):
                wrong.append(f"line {line}: {command}: {found}")
        for option in OPTION.findall(text):
            if option not in known | OTHERS:
                wrong.append(f"line {line}: no command has {option}")
    return wrong


def test_the_check_itself_notices_what_is_wrong() -> None:
    wrong = (
        'f"{x}: begin with `linker annotate "\n f"start --out {x}`"',
        "'run `linker juggle`'",
        "'give --lables FILE'",
        "'''Try\n\n    linker rank --limit 3\n'''",
    )
    for program in wrong:
        assert len(faults(f"raise Error({program})")) in (1, 2), program
    right = (
        'f"run `linker annotate start {x} --article {y}`"',
        "'`linker`, `linker rank --top 3`, --labels'",
    )
    for program in right:
        assert faults(f"raise Error({program})") == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_and_options_in_messages_exist(path: Path) -> None:
    assert faults(path.read_text(encoding="utf-8")) == []


def test_the_check_finds_the_messages() -> None:
    text = "\n".join(text for path in SOURCES for _, text in strings(path.read_text(encoding="utf-8")))
    assert len(COMMAND.findall(text)) > 40
    assert "`linker annotate start VALUE --article ARTICLE --posts POSTS`" in text
