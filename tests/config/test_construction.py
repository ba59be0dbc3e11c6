"""Objects come out as their configs say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linker.common.errors import ConfigError
from linker.config import Lazy, Registrable, build


def test_every_type_arrives_as_annotated(zoo: str) -> None:
    made = build(
        zoo,
        {
            "chief": {"type": "puppy", "legs": 3.0, "friend": {"type": "cat", "name": "Mio"}},
            "box": {"width": 2, "inside": {"tags": ["a"]}, "lid": "large"},
            "others": ["cat", {}],
            "later": "needy",
            "by_name": {"x": "cat"},
            "number": "7",
            "rate": 1,
            "pair": [2, "b"],
            "many": [1, 2],
            "where": "a/b",
            "anything": {"type": "anything"},
        },
    )
    assert type(made).__name__ == "Zoo"
    assert (type(made.chief).__name__, made.chief.legs, made.chief.yard) == ("Puppy", 3, "any")
    assert made.chief.friend.name == "Mio"
    assert (made.box.width, made.box.inside.tags, made.box.lid, made.box.secret) == (2.0, ["a"], "large", "x")
    assert [type(one).__name__ for one in made.others] == ["Cat", "Dog"]
    assert isinstance(made.later, Lazy)
    assert made.later.config == {"type": "needy"}
    assert made.later.construct(keeper="Ada", nonsense=3).keeper == "Ada"
    assert made.by_name["x"].name == "nameless"
    assert made.number == "7"
    assert isinstance(made.rate, float)
    assert made.pair == (2, "b")
    assert made.many == (1.0, 2.0)
    assert made.where == Path("a/b")
    assert made.anything == {"type": "anything"}


def test_a_lazy_part_is_new_each_time(zoo: str) -> None:
    later = build(zoo, {"later": {"type": "dog", "friend": "cat"}}).later
    first, second = later.construct(), later.construct()
    assert first is not second
    assert first.friend is not second.friend


def test_nothing_is_built_where_anything_is_wrong(zoo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    animal = sys.modules[zoo.partition(":")[0]].Animal
    monkeypatch.setattr(animal, "__init__", lambda self, name="x": pytest.fail("built"))
    with pytest.raises(ConfigError, match=r"later\.legs"):
        build(zoo, {"chief": "cat", "later": {"legs": "x"}})


def test_supplied_arguments_reach_the_root(zoo: str) -> None:
    family = zoo.partition(":")[0] + ":Animal"
    assert build(family, "needy", keeper="Ada").keeper == "Ada"
    with pytest.raises(TypeError, match="keeper"):
        build(family, "needy")


def test_a_value_that_the_class_refuses_is_reported_with_its_path(package: Callable[..., str]) -> None:
    name = package(
        parts="""
        class Part:
            def __init__(self, size: int = 3):
                if size < 1:
                    raise ValueError("size must be at least 1")
                if size > 9:
                    b"\\xff".decode()
        class Whole:
            def __init__(self, parts: list[Part]): pass
        """
    )
    with pytest.raises(ConfigError, match=r"^parts\.1: size must be at least 1$"):
        build(f"{name}.parts:Whole", {"parts": [{}, {"size": 0}]})
    with pytest.raises(UnicodeDecodeError):
        build(f"{name}.parts:Whole", {"parts": [{"size": 10}]})


class Spice(Registrable):
    """Made while the tests run: no package that is included holds it."""


@Spice.register("salt")
class Salt(Spice):
    """Salty."""

    def __init__(self, grams: float = 1, *, kitchen: str = "none") -> None:
        self.grams, self.kitchen = grams, kitchen


@Spice.register("mixture")
class Mixture(Spice):
    """Several."""

    def __init__(self, parts: list[Spice]) -> None:
        self.parts = parts


def test_components_defined_at_run_time_are_checked_and_built() -> None:
    config: Any = {"type": "mixture", "parts": ["salt", {"type": "salt", "grams": 2}]}
    assert [part.grams for part in build(Spice, config).parts] == [1.0, 2.0]
    assert build(list[Spice], ["salt"])[0].grams == 1.0
    assert build(Spice, "salt", kitchen="mine").kitchen == "mine"
    with pytest.raises(ConfigError, match=r'^config: parts\.0\.type: "sald".* did you mean "salt"'):
        build(Spice, {"type": "mixture", "parts": [{"type": "sald"}]})
