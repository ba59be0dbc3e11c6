"""Packages written for a test, and gone from linker's sight after it."""

import copy
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from linker.config import include_package, schema
from linker.config.registry import catalog

NUMBERS = itertools.count()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Writes a package of the given files (name → source), includes it, and returns its name."""
    root = tmp_path / "packages"
    root.mkdir()
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.setattr(catalog, "_registered", copy.deepcopy(catalog._registered))
    classes = dict(schema.CLASSES)
    monkeypatch.setattr(catalog, "included", list(catalog.included))

    def write(*, include: bool = True, **files: str) -> str:
        name = f"example_package_{next(NUMBERS)}"
        (root / name).mkdir()
        for file, source in {"__init__": "", **files}.items():
            text = textwrap.dedent(source).replace("PACKAGE", name)
            (root / name / f"{file}.py").write_text(text, encoding="utf-8")
        if include:
            include_package(name)
        return name

    yield write
    schema.CLASSES.clear()
    schema.CLASSES.update(classes)
    for module in [name for name in sys.modules if name.startswith("example_package_")]:
        del sys.modules[module]


ZOO = '''
from __future__ import annotations

import typing as t
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Optional, Union

from linker.config import Lazy, Registrable

Size = Literal["small", "large"]


class Animal(Registrable):
    """What lives here.

    It may do other things.
    """

    default_component = "dog"

    def __init__(self, name: str = "nameless") -> None:
        """Name it.

        Args:
            name: what it is called,
                by everybody.
        """
        self.name = name


@Animal.register("cat")
class Cat(Animal):
    """Purrs."""


@Animal.register("dog")
class Dog(Animal):
    """Barks.

    Args:
        legs: how many.
    """

    def __init__(
        self, legs: int = 4, friend: Animal | None = None, *, yard: str = "any", owner: object = None
    ):
        self.legs, self.friend, self.yard = legs, friend, yard


@Animal.register("needy")
class Needy(Animal):
    def __init__(self, *, keeper: str):
        self.keeper = keeper


@Animal.register("puppy")
class Puppy(Dog):
    pass


@dataclass
class Box:
    """A box."""

    width: float = 1
    height: float = 2.5
    tags: list[str] = field(default_factory=list)
    inside: t.Optional[Box] = None
    secret: str = field(default="x", kw_only=True)
    computed: int = field(default=0, init=False)


@dataclass
class LidBox(Box):
    lid: Size = "small"


class Zoo:
    """A zoo."""

    def __init__(
        self,
        chief: Animal,
        box: LidBox,
        others: list[Animal] = (),
        later: Lazy[Animal] | None = None,
        dog: Dog | None = None,
        by_name: dict[str, Animal] | None = None,
        size: Size = "small",
        number: Union[int, str, None] = None,
        rate: float = 0,
        flag: bool = False,
        pair: tuple[int, str] = (1, "a"),
        many: tuple[float, ...] = (0.5,),
        where: Optional[Path] = None,
        anything: Any = None,
        mode: Literal["a", 1, None] = "a",
    ) -> None:
        vars(self).update({key: value for key, value in locals().items() if key != "self"})
'''


@pytest.fixture
def zoo(package: Callable[..., str]) -> str:
    """The reference of a class whose config uses every kind of type."""
    return f"{package(zoo=ZOO)}.zoo:Zoo"
