"""The base of linker's commands: groups of options, options with several values, packages with components."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

#: Environment variable with the names of packages, separated by spaces, in place of `--include-package`.
PACKAGES = "LINKER_PACKAGES"


class App(typer.Typer):
    """A group of commands; each may take dataclasses whose fields are options."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Return a decorator that adds a command."""
        add = super().command(name, cls=Command, **settings)

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            add(with_groups(function))
            return function

        return decorate


_Packages = Annotated[
    list[str] | None,
    typer.Option(
        "--include-package",
        help="Import the components of a Python package; repeatable.",
        hidden=True,  # plugins need none
    ),
]


def with_groups(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that takes the fields of its dataclass parameters as options, and `--include-package`."""
    signature, hints = inspect.signature(function), get_type_hints(function, include_extras=True)
    groups = {name: hints[name] for name in signature.parameters if is_dataclass(hints[name])}
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name in groups:
            types = get_type_hints(groups[name], include_extras=True)
            parameters += [
                _parameter(field.name, types[field.name], field.default) for field in fields(groups[name])
            ]
        else:
            parameters.append(_parameter(name, hints[name], parameter.default))

    parameters.append(_parameter("include_package", _Packages, None))

    @wraps(function)
    def call(**values: Any) -> Any:
        include_packages(values.pop("include_package"))
        built = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return function(**values, **built)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


class Command(TyperCommand):
    """A command whose repeatable `--article`, `--posts` and `--model` take several values.

    `--article a.html b.html` means `--article a.html --article b.html`; the next option ends the list. The
    command's arguments, such as the folder of `linker annotate start`, may be anywhere else, or at the end of a list.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each value, then parse as usual."""
        options = [param for param in self.get_params(ctx) if param.param_type_name == "option"]
        takes = {
            name: 0 if getattr(option, "is_flag", False) or getattr(option, "count", False) else option.nargs
            for option in options
            for name in (*option.opts, *option.secondary_opts)
        }
        listed = {
            name
            for option in options
            if getattr(option, "multiple", False)
            for name in option.opts
            if name in ("--article", "--posts", "--model")
        }
        required = [param for param in self.params if param.param_type_name == "argument" and param.required]
        return super().parse_args(ctx, spread(args, takes, listed, sum(param.nargs for param in required)))


def spread(args: Sequence[str], takes: dict[str, int], listed: Iterable[str], arguments: int) -> list[str]:
    """Repeat options that take lists, `listed`, before each of their values in the command line.

    Each option takes a number of values, 0 for flags; `arguments` is the number of required arguments.
    """
    out: list[str] = []
    repeated: list[int] = []
    position = positional = 0
    while position < len(args):
        word = args[position]
        position += 1
        out.append(word)
        if word == "--":
            positional += len(args) - position
            out += args[position:]
            break
        if not _is_option(word):
            positional += 1
            continue
        count = takes.get(word, 0)
        out += args[position : position + count]
        position += count
        name = word.partition("=")[0]
        if name in listed:
            while position < len(args) and not _is_option(args[position]):
                repeated.append(len(out))
                out += [name, args[position]]
                position += 1
    # Missing arguments were typed at the end of a list.
    missing = min(max(arguments - positional, 0), len(repeated))
    for index in repeated[len(repeated) - missing :][::-1]:
        del out[index]
    return out


def _is_option(typed: str) -> bool:
    return typed.startswith("-") and typed != "-"


def include_packages(names: Sequence[str] | None) -> None:
    """Add packages whose components configs and model folders can name, and those in `LINKER_PACKAGES`.

    Raises:
        ConfigError: if a package is not found.
    """
    names = names or os.environ.get(PACKAGES, "").split()
    if names:
        from linker.config import include_package

        for name in names:
            include_package(name)
