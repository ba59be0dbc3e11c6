"""`linker config new`: write a component of your own to start from."""

import keyword
import re
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated, Literal

import typer

from linker.common.errors import Faults, LinkerError
from linker.common.files import atomic_write

Kind = Literal["encoder", "loss", "model", "strategy", "stopping_rule", "reader", "platform", "label_format"]


def new(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="Kind of component: encoder, loss, model, strategy (query strategy), stopping_rule, reader, platform "
            "(format of posts) or label_format.",
            metavar="KIND",
        ),
    ],
    name: Annotated[
        str,
        typer.Argument(
            help="Name in configs, such as gated_mean: lowercase letters, digits and underscores."
        ),
    ],
    package: Annotated[
        str,
        typer.Option(
            metavar="PACKAGE", help="Python package to write to, a folder here; created if missing."
        ),
    ] = "my_linker",
) -> None:
    """Write a component that works, with its test and its config."""
    faults = Faults()
    for role, text in (("component", name), ("package", package)):
        with faults:
            if not re.fullmatch(r"[a-z][a-z0-9_]*", text) or keyword.iskeyword(text):
                raise LinkerError(
                    f"{text!r} cannot name a {role}; use lowercase letters, digits and underscores, a letter first"
                )
    words = name.removesuffix(f"_{kind}").split("_") + kind.split("_")
    values = {
        "name": name,
        "package": package,
        "class_name": "".join(word.capitalize() for word in words),
        "title": name.replace("_", " ").capitalize(),
    }
    files = {}
    for path, template in (
        (Path(package, f"{name}.py"), f"{kind}.py.txt"),
        (Path(f"test_{name}.py"), f"{kind}_test.py.txt"),
        (Path(f"{name}.jsonnet"), f"{kind}.jsonnet.txt"),
    ):
        source = resources.files("linker.cli.templates").joinpath(template)
        if source.is_file():  # formats of posts and labels have no config
            files[path] = Template(source.read_text("utf-8")).substitute(values)
        with faults:
            if path.exists():
                raise LinkerError(f"{path}: the file exists; choose another name, or delete it first")
    faults.raise_if_any()
    init = Path(package, "__init__.py")
    if not init.exists():
        files = {init: "", **files}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(text)
        print(path)
    print(f"Test it with `python -m pytest test_{name}.py`; the config names the command to try it with.")
