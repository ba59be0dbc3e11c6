"""Commands and options that pages, notebooks and messages name exist, and pages name all of them."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from typer.main import get_command

from linker.cli.main import app
from linker.common.errors import LinkerError

from . import FENCE, Finding, line_at, pages, programs

# Blocks in which a line that begins with `linker` is a command; those of outputs and configs are not.
SHELL = {"", "bash", "sh", "shell", "console"}
INLINE = re.compile(r"`(linker(?: [^`\n]*)?)`")
IN_MESSAGE = re.compile(r"`(linker(?: [^`]*)?)`|^ *(linker [a-z].*)$", re.MULTILINE)
# The variables of style sheets are written alike: `--line: 1px`, `var(--line)`.
OPTION = re.compile(r"(?<![\w(-])--[a-z][a-z-]*(?![-a-z])(?![\w/:])")
#: Options of other programs that messages name: pip, tensorboard, torchrun.
OTHERS = {"--force-reinstall", "--no-deps", "--logdir", "--help", "--version"}
REMEDY = "name it as `linker --help` shows it"


def check(root: Path) -> Iterator[Finding]:
    """Yield commands and options that do not exist, and options that no page documents."""
    for name, text in pages(root).items():
        yield from of_page(name, text)
    for name, source in programs(root, "linker").items():
        for line, text in strings(ast.parse(source)):
            for wrong in of_message(text):
                yield Finding(name, line, wrong, REMEDY)


def of_page(name: str, text: str) -> Iterator[Finding]:
    """Yield the commands of a page that the command line refuses; those in running text may be incomplete."""
    for block in FENCE.finditer(text):
        if block["language"].strip() not in SHELL:
            continue
        start = block.start("body")
        for line in re.finditer(r".*(?:(?<=\\)\n.*)*", block["body"]):
            for words in commands_of(re.sub(r"\s*\\\n\s*", " ", line[0]).strip().removeprefix("$ ")):
                if wrong := refusal(words):
                    yield Finding(name, line_at(text, start + line.start()), wrong, REMEDY)
    for match in INLINE.finditer(FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)):
        if wrong := unknown(split(match[1])):
            yield Finding(name, line_at(text, match.start()), wrong, REMEDY)


def commands_of(line: str) -> Iterator[list[str]]:
    """Yield what follows `linker` in each simple command of a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return  # an apostrophe: not shell
    comment = next((index for index, word in enumerate(words) if word.startswith("#")), len(words))
    for operator, group in groupby(
        words[:comment], key=lambda word: word != "" and set(word) <= set("();<>|&")
    ):
        command = list(group)
        while command and re.fullmatch(r"[A-Za-z_]\w*=.*", command[0]):
            command.pop(0)
        if not operator and command and command[0] == "linker":
            yield command[1:]


def split(line: str) -> list[str]:
    """Return the words after `linker` of a command in running text."""
    return shlex.split(line.replace("'", " ") if line.count("'") % 2 else line)[1:]


def of_message(text: str) -> Iterator[str]:
    """Yield what is wrong with the commands and options that a message names."""
    for quoted, line in IN_MESSAGE.findall(text):
        words = split(" ".join((quoted or line).replace("'", "").split()))
        # A message may name the program alone, or leave the command open: `linker COMMAND --help`.
        if words and (words[0].islower() or words[0].startswith("-")) and (wrong := unknown(words)):
            yield wrong
    for option in OPTION.findall(text):
        if option not in OPTIONS | OTHERS:
            yield f"no command has {option}"


def strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield every string of a program, with its line; {values} of f-strings as VALUE."""
    if isinstance(node, ast.JoinedStr):
        yield (
            node.lineno,
            "".join(
                str(getattr(part, "value", "")) if isinstance(part, ast.Constant) else "VALUE"
                for part in node.values
            ),
        )
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from strings(child)


def _without_effect(command: Any) -> Any:
    """Return the command line with commands that do nothing once their arguments are parsed."""
    for subcommand in getattr(command, "commands", {}).values():
        _without_effect(subcommand)
    if not hasattr(command, "commands"):
        command.invoke = lambda context: None
    return command


def _by_path(group: Any, before: str = "") -> dict[str, Any]:
    """Return every command by its path, such as `rank` or `corpus build`."""
    found = {}
    for name, command in group.commands.items():
        found[before + name] = command
        found |= _by_path(command, f"{before}{name} ") if hasattr(command, "commands") else {}
    return found


PARSER = _without_effect(get_command(app))
COMMANDS = _by_path(PARSER)
OPTIONS = {form for command in COMMANDS.values() for option in command.params for form in option.opts}


def refusal(words: list[str]) -> str | None:
    """Return why the command line refuses these words, or None. Nothing runs, and no file has to exist."""
    try:
        PARSER.main(list(words), prog_name="linker", standalone_mode=False)
    except LinkerError as error:
        return str(error)
    except Exception as error:
        # Errors of usage, of click or of the copy of it that newer versions of Typer contain.
        if not hasattr(error, "format_message"):
            raise
        return f"linker {shlex.join(words)}: {error.format_message()}"
    return None


def unknown(words: list[str]) -> str | None:
    """Return which command or option of a command, perhaps an incomplete one, does not exist, or None."""
    names = [word for word in words[:2] if re.fullmatch(r"[a-z]+", word)]
    path = next((path for n in (2, 1) if (path := " ".join(names[:n])) in COMMANDS), None)
    if names and path is None:
        return f"unknown command {names[0]!r}"
    known = {form for option in COMMANDS[path].params for form in option.opts} if path else set()
    options = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    missing = [option for option in options if option not in known | {"--help", "--version"}]
    return f"linker {path} has no option {', '.join(missing)}" if missing else None
