"""Options with several values, such as those of `--article stories/*.html`, and options of other commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand

from linker.common.errors import LinkerError

_SEVERAL = ("--article", "--posts")
#: Options that other commands have, and what to type.
_ELSEWHERE = {
    "corpus": "use `linker corpus search FOLDER`",
    "include-package": "install the package as a plugin, or name it in the environment variable LINKER_PACKAGES",
    "passages": "use `linker corpus search --passages`, or `passages` of `rank` in Python",
    "precision": "use --threshold precision=SHARE",
    "recall": "use --threshold recall=SHARE",
}


class SeveralValues(TyperCommand):
    """A command whose `--article` and `--posts` take several values.

    `--article a.html b.html` means `--article a.html --article b.html`; the next option ends the list. The
    command's arguments, such as the folder of `linker annotate start`, may be anywhere else, or at the end of a list.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each value, then parse as usual.

        Raises:
            LinkerError: if only another command has an option; the message names what to type.
        """
        params = self.get_params(ctx)
        takes = {
            name: 0 if getattr(option, "is_flag", False) or getattr(option, "count", False) else option.nargs
            for option in params
            if option.param_type_name == "option"
            for name in (*option.opts, *option.secondary_opts)
        }
        for word in args:
            option = word.partition("=")[0]
            remedy = _ELSEWHERE.get(option.removeprefix("--"))
            if remedy and _is_option(word) and option not in takes:
                raise LinkerError(f"{option}: not an option of `linker {ctx.info_name}`; {remedy}")
        arguments = sum(
            argument.nargs
            for argument in params
            if argument.param_type_name == "argument" and argument.required
        )
        return super().parse_args(ctx, spread(args, takes, arguments))


def spread(args: Sequence[str], takes: dict[str, int], arguments: int) -> list[str]:
    """Repeat list options before each of their values.

    Args:
        args: the command line.
        takes: number of values of each option; 0 for flags.
        arguments: number of required arguments.
    """
    typed, listed = list(args), []
    out: list[str] = []
    position = positional = 0
    while position < len(typed):
        word = typed[position]
        position += 1
        out.append(word)
        if word == "--":
            positional += len(typed) - position
            out += typed[position:]
            break
        if not _is_option(word):
            positional += 1
            continue
        count = takes.get(word, 0)
        out += typed[position : position + count]
        position += count
        name = word.partition("=")[0]
        if name in _SEVERAL and name in takes:
            while position < len(typed) and not _is_option(typed[position]):
                listed.append(len(out))
                out += [name, typed[position]]
                position += 1
    # Missing arguments were typed at the end of a list.
    missing = min(max(arguments - positional, 0), len(listed))
    for place in listed[len(listed) - missing :][::-1]:
        del out[place]
    return out


def _is_option(typed: str) -> bool:
    return typed.startswith("-") and typed != "-"
