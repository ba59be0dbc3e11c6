"""Every `linker …` in a block of code of README, docs and notebooks is one that the command line accepts."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.main import get_command

from linker.cli.main import app
from linker.common.errors import LinkerError

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "data/README.md", *sorted(ROOT.glob("docs/**/*.md"))]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
FENCE = re.compile(
    r"^(?P<fence>```+)(?P<language>[^\n`]*)\n(?P<body>.*?)^(?P=fence)", re.DOTALL | re.MULTILINE
)
# Blocks in which a line that begins with "linker" may be a command; those of outputs and configs are not.
LANGUAGES = {"", "bash", "sh", "shell", "console"}
OPERATORS = set("();<>|&")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")

#: What follows `linker` in lines that are no complete commands, and the reason. Empty: all of them are.
EXCEPTIONS: dict[str, str] = {}


class Line(NamedTuple):
    """A command line of a page: its line number, and what it consists of after `linker`."""

    number: int
    words: list[str]


def command_lines(text: str) -> Iterator[Line]:
    """Yield the commands of linker in the blocks of a page; continued lines are joined, prompts removed."""
    for block in FENCE.finditer(text):
        if block["language"].strip() in LANGUAGES:
            first = text[: block.start("body")].count("\n") + 1
            yield from _of_block(block["body"], first)


def _of_block(body: str, first: int) -> Iterator[Line]:
    number = first
    for line in re.split(r"(?<!\\)\n", body):
        joined = re.sub(r"\s*\\\n\s*", " ", line).strip().removeprefix("$ ")
        if re.search(r"(?<![\w./-])linker ", joined):
            yield from (Line(number, words) for words in commands_of(joined))
        number += line.count("\n") + 1


def commands_of(line: str) -> Iterator[list[str]]:
    """Yield what follows `linker` in each simple command of a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return  # an apostrophe: not shell
    comment = next((place for place, word in enumerate(words) if word.startswith("#")), len(words))
    for operator, group in groupby(words[:comment], key=lambda word: set(word) <= OPERATORS and word != ""):
        command = list(group)
        while command and ASSIGNMENT.fullmatch(command[0]):
            command.pop(0)
        if not operator and command and command[0] == "linker":
            yield command[1:]


def _without_effect(command: Any) -> Any:
    """Return the command line with commands that do nothing once their arguments are parsed."""
    for one in getattr(command, "commands", {}).values():
        _without_effect(one)
    if not hasattr(command, "commands"):
        command.invoke = lambda context: None
    return command


PARSER = _without_effect(get_command(app))


def complaint(words: list[str]) -> str | None:
    """Return why the command line refuses these words, or None. Nothing runs, and no file has to exist."""
    try:
        PARSER.main(words, prog_name="linker", standalone_mode=False)
    except LinkerError as error:
        return str(error)
    except Exception as error:
        # Errors of usage, of click or of the copy of it that newer versions of Typer contain.
        if not hasattr(error, "format_message"):
            raise
        return str(error.format_message())
    return None


def pages() -> list[tuple[str, str]]:
    """Return names and texts: pages, and the prose of notebooks."""
    found = [(page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")) for page in PAGES]
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        prose = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        found.append((notebook.relative_to(ROOT).as_posix(), prose))
    return found


ALL = pages()


@pytest.mark.parametrize(("name", "text"), ALL, ids=[name for name, _ in ALL])
def test_the_command_line_accepts_what_a_page_shows(name: str, text: str) -> None:
    refused = [
        f"{name}:{line.number}: linker {shlex.join(line.words)}: {problem}"
        for line in command_lines(text)
        if (problem := complaint(line.words)) and shlex.join(line.words) not in EXCEPTIONS
    ]
    assert refused == []


@pytest.mark.parametrize(("name", "text"), ALL, ids=[name for name, _ in ALL])
def test_the_recipes_in_commands_exist(name: str, text: str) -> None:
    named = [word for line in command_lines(text) for word in line.words if word.startswith("configs/")]
    assert [word for word in named if not (ROOT / word).is_file()] == []


def test_the_commands_are_found() -> None:
    found = [line for _, text in ALL for line in command_lines(text)]
    assert len(found) > 150
    assert {line.words[0] for line in found} >= set(PARSER.commands)
    assert set(EXCEPTIONS) <= {shlex.join(line.words) for line in found}


@pytest.mark.parametrize(
    "words",
    [
        ["rank", "--articles", "x"],
        ["rank", "--article"],
        ["rank", "--article", "x", "--format", "docx"],
        ["rank", "--article", "x", "--corpus", "removed"],
        ["serve", "--port", "high"],
        ["train"],
        ["mine", "links", "posts.jsonl"],
        ["juggle"],
    ],
    ids=" ".join,
)
def test_mistakes_are_noticed(words: list[str]) -> None:
    assert complaint(words)


def test_commands_are_cut_out_of_shell() -> None:
    page = (
        "Text.\n```bash\n$ linker rank --article 'a b' \\\n    --posts x.csv   # why\n"
        "A=1 linker train c.jsonnet && linker serve | tee log > out\npython -m linker doctor\n```\n"
        "```text\nlinker 0.2.0\n```\n"
    )
    assert list(command_lines(page)) == [
        (3, ["rank", "--article", "a b", "--posts", "x.csv"]),
        (5, ["train", "c.jsonnet"]),
        (5, ["serve"]),
    ]
