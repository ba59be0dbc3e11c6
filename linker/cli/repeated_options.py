"""Options that take several values at once, such as those that a shell makes of `--article stories/*.html`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand

_SEVERAL = ("--article", "--posts")


class SeveralValues(TyperCommand):
    """A command whose `--article` and `--posts` may be followed by more than one value.

    `--article a.html b.html` means `--article a.html --article b.html`; the next option ends the list. The command's
    own arguments, such as the folder of `linker annotate start`, may stand anywhere else, or at the end of a list.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give each value its own option, then parse as usual."""
        params = self.get_params(ctx)
        takes = {
            name: 0 if getattr(one, "is_flag", False) or getattr(one, "count", False) else one.nargs
            for one in params
            if one.param_type_name == "option"
            for name in (*one.opts, *one.secondary_opts)
        }
        arguments = sum(one.nargs for one in params if one.param_type_name == "argument" and one.required)
        return super().parse_args(ctx, spread(args, takes, arguments))


def spread(args: Sequence[str], takes: dict[str, int], arguments: int) -> list[str]:
    """Repeat the options of lists before each of their values.

    Args:
        args: what was typed.
        takes: how many values each option takes; 0 for flags.
        arguments: how many arguments without an option the command needs.
    """
    typed, listed = list(args), []
    out: list[str] = []
    position = positional = 0
    while position < len(typed):
        one = typed[position]
        position += 1
        out.append(one)
        if one == "--":
            positional += len(typed) - position
            out += typed[position:]
            break
        if not _is_option(one):
            positional += 1
            continue
        count = takes.get(one, 0)
        out += typed[position : position + count]
        position += count
        name = one.partition("=")[0]
        if name in _SEVERAL and name in takes:
            while position < len(typed) and not _is_option(typed[position]):
                listed.append(len(out))
                out += [name, typed[position]]
                position += 1
    # What a command needs besides was typed at the end of a list.
    missing = min(max(arguments - positional, 0), len(listed))
    for place in listed[len(listed) - missing :][::-1]:
        del out[place]
    return out


def _is_option(typed: str) -> bool:
    return typed.startswith("-") and typed != "-"
