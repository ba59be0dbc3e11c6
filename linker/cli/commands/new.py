"""`linker config new`: write a component of your own, or a plugin with one of each kind, to start from."""

from __future__ import annotations

import keyword
import re
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated, Literal, NamedTuple, get_args

import typer

from linker.common.errors import Faults, LinkerError
from linker.common.files import atomic_write
from linker.version import __version__

Component = Literal[
    "encoder", "loss", "model", "strategy", "stopping_rule", "reader", "platform", "label_format"
]
_PACKAGE = "my_linker"


class Kind(NamedTuple):
    """A kind of component: the class name of its family, a line about its use, and a command that tries a config."""

    family: str
    use: str
    trial: str = ""


_CHECK = "linker config check $name.jsonnet --include-package $package"
KINDS: dict[Component, Kind] = {
    "encoder": Kind("Encoder", "`model.encoder` of a training config", _CHECK),
    "loss": Kind("Loss", "`loss` of a training config", _CHECK),
    "model": Kind(
        "Model", "`--model` with a config", "LINKER_PACKAGES=$package linker rank --model $name.jsonnet"
    ),
    "strategy": Kind(
        "QueryStrategy",
        "`--strategy` of `linker annotate start` and `linker annotate simulate`",
        "linker annotate simulate --strategy $name.jsonnet --include-package $package",
    ),
    "stopping_rule": Kind(
        "StoppingRule",
        "`--stop` of `linker annotate start` and `linker annotate simulate`",
        "linker annotate simulate --stop $name.jsonnet --include-package $package",
    ),
    "reader": Kind("PairReader", "`data.reader` of a training config", _CHECK),
    "platform": Kind(
        "Platform", "posts of this format are recognized everywhere; `--posts-format` forces it"
    ),
    "label_format": Kind("LabelFormat", "`--format` of `linker annotate export` and `import`"),
}


def new(
    kind: Annotated[
        Literal[Component, "plugin"],
        typer.Argument(
            help="Kind of component: encoder, loss, model, strategy (query strategy), stopping_rule, reader, platform "
            "(format of posts) or label_format; or plugin, a repository with one of each.",
            metavar="KIND",
        ),
    ],
    name: Annotated[
        str,
        typer.Argument(
            help="Name in configs, such as gated_mean, or of the plugin's package: lowercase letters, digits and "
            "underscores."
        ),
    ],
    package: Annotated[
        str | None,
        typer.Option(
            metavar="PACKAGE",
            help="Python package to write to, a folder here; created if missing.",
            show_default=_PACKAGE,
        ),
    ] = None,
) -> None:
    """Write a component that works, with its test and its config, or a plugin with one of each kind."""
    if kind == "plugin" and package is not None:
        raise LinkerError("--package: the package of a plugin has the plugin's name; leave out --package")
    package = package or (name if kind == "plugin" else _PACKAGE)
    faults = Faults()
    for what, text in (("plugin" if kind == "plugin" else "component", name), ("package", package)):
        with faults:
            if not re.fullmatch(r"[a-z][a-z0-9_]*", text) or keyword.iskeyword(text):
                raise LinkerError(
                    f"{text!r} cannot name a {what}; use lowercase letters, digits and underscores, a letter first"
                )
    files = _plugin(name) if kind == "plugin" else _component(kind, name, package)
    for path in [Path(name)] if kind == "plugin" else files:
        with faults:
            if path.exists():
                what = "folder" if path.is_dir() else "file"
                raise LinkerError(f"{path}: the {what} exists; choose another name, or delete it first")
    faults.raise_if_any()
    init = Path(package, "__init__.py")
    if kind != "plugin" and not init.exists():
        files = {init: "", **files}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(text)
        print(path)
    if kind == "plugin":
        print(f"Install and test it with `cd {name}`, `pip install -e '.[test]'` and `python -m pytest`.")
        return
    trial = KINDS[kind].trial or "linker config components $family --include-package $package"
    command = Template(trial).substitute(name=name, package=package, family=KINDS[kind].family)
    print(f"Test it with `python -m pytest test_{name}.py`, then `{command}`.")


def _component(kind: Component, name: str, package: str) -> dict[Path, str]:
    """Return the files of one component, with their contents."""
    values = _values(kind, name, name, package)
    files = {
        Path(package, f"{name}.py"): _filled(f"{kind}.py.txt", values),
        Path(f"test_{name}.py"): _filled(f"{kind}_test.py.txt", values),
    }
    if KINDS[kind].trial:
        files[Path(f"{name}.jsonnet")] = _filled(f"{kind}.jsonnet.txt", values)
    return files


def _plugin(package: str) -> dict[Path, str]:
    """Return the files of a repository with one component of each kind, with their contents."""
    folder, names = Path(package), {kind: f"{package}_{kind}" for kind in get_args(Component)}
    rows = [f"| `{name}` | `src/{package}/{kind}.py` | {KINDS[kind].use} |" for kind, name in names.items()]
    listed = [f'    ("{KINDS[kind].family}", "{name}"),' for kind, name in names.items()]
    values = {
        "package": package,
        "distribution": package.replace("_", "-"),
        "version": ".".join(__version__.split(".")[:2]),
        "table": "\n".join(rows),
        "components": "\n".join(listed),
    }
    templates = {
        "README.md": "plugin_readme.md.txt",
        "pyproject.toml": "plugin_pyproject.toml.txt",
        ".gitignore": "plugin_gitignore.txt",
        ".github/workflows/test.yml": "plugin_workflow.yml.txt",
        "configs/train.jsonnet": "plugin_train.jsonnet.txt",
        "tests/test_plugin.py": "plugin_test.py.txt",
    }
    files = {folder / path: _filled(template, values) for path, template in templates.items()}
    source = folder / "src" / package
    files[source / "__init__.py"] = f'"""Components for linker: {", ".join(names.values())}."""\n'
    for kind, name in names.items():
        texts = _values(kind, name, kind, package)
        files[source / f"{kind}.py"] = _filled(f"{kind}.py.txt", texts)
        files[folder / "tests" / f"test_{kind}.py"] = _filled(f"{kind}_test.py.txt", texts)
    return files


def _values(kind: Component, name: str, module: str, package: str) -> dict[str, str]:
    """Return what a component's templates are filled with."""
    words = name.removesuffix(f"_{kind}").split("_") + kind.split("_")
    return {
        "name": name,
        "class_name": "".join(word.capitalize() for word in words),
        "title": name.replace("_", " ").capitalize(),
        "module": module,
        "package": package,
        "config": f"{name}.jsonnet",
    }


def _filled(template: str, values: dict[str, str]) -> str:
    return Template(resources.files("linker.cli.templates").joinpath(template).read_text("utf-8")).substitute(
        values
    )
