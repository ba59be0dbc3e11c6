"""All errors of a config are reported at once, with their paths; objects are built as their configs say."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.common.errors import ConfigError
from linker.config import Lazy, Registrable, build, check, resolve

GOOD: dict[str, Any] = {"chief": "cat", "box": {}}


def told(zoo: str, config: Any) -> list[str]:
    return [str(problem) for problem in check(zoo, config)]


def test_all_problems_at_once(zoo: str) -> None:
    config = {
        "chief": "doog",
        "box": {"width": "wide", "lid": "smal", "inside": {"height": []}},
        "others": ["cat", {"type": "dog", "legs": True, "frend": None}, 3],
        "later": {"type": "puppy", "legs": 2.5},
        "pair": [1],
        "sise": "large",
    }
    dogs = "Keys of Dog: legs, friend"
    keys = (
        "Keys of Zoo: chief, box, others, later, dog, by_name, size, number, rate, flag, pair, many, where, "
        "anything, mode"
    )
    assert told(zoo, config) == [
        'chief: "doog" is not a registered Animal; did you mean "dog"? Known: cat, dog, needy, puppy',
        'box.width: expected a number, got "wide"',
        "box.inside.height: expected a number, got []",
        'box.lid: expected "small" or "large", got "smal"; did you mean "small"?',
        "others.1.legs: expected an integer, got true",
        f'others.1.frend: unknown key (value null); did you mean "friend"? {dogs}',
        "others.2: expected a registered Animal (cat, dog, needy, puppy), got 3",
        "later.legs: expected an integer, got 2.5",
        "pair: expected a list of 2 (an integer, a string), got [1]",
        f'sise: unknown key (value "large"); did you mean "size"? {keys}',
    ]


def test_missing_keys(package: Callable[..., str]) -> None:
    name = package(
        parts="""
        from linker.config import Lazy, Registrable
        class Part(Registrable): pass
        @Part.register("a")
        class A(Part):
            def __init__(self, size: int, name: str): pass
        class Options:
            def __init__(self, rate: float): pass
        class Whole:
            def __init__(self, part: Part, later: Lazy[Part], options: Options, count: int, on: bool = True):
                pass
        """
    )
    assert told(f"{name}.parts:Whole", {"part": {}, "later": "a"}) == [
        "part.type: required key is missing: expected a registered Part (a); the rest is {}",
        "later.size: required key is missing: expected an integer",
        "later.name: required key is missing: expected a string",
        "options: required key is missing: expected an object (rate)",
        "count: required key is missing: expected an integer",
    ]


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("number", [3, 3.0, "x", None], [2.5, True, [], {}]),
        ("rate", [1, 2.5, -1e-9], ["1", None, False, float("nan"), float("inf"), 10**400]),
        ("flag", [True, False], [0, 1, "true", None]),
        ("size", ["small", "large"], ["tiny", 1, None]),
        ("mode", ["a", 1, None], [True, 2, "b"]),
        ("pair", [[1, "a"]], [[], [1], [1, "a", 2], ["a", 1], "1a", {}]),
        ("many", [[], [1], [1.5, 2]], [["a"], 1, {}]),
        ("where", ["a/b", None], ["", 3, "a\0b"]),
        ("by_name", [{}, {"x": "cat", "y": {"legs": 2}}, None], [{"x": 3}, [], "cat"]),
        ("others", [[], ["cat", {}]], ["cat", {}, [None]]),
        ("anything", [1, None, {"a": [1]}], []),
    ],
)
def test_values_of_every_type(zoo: str, key: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert told(zoo, GOOD | {key: value}) == [], value
    for value in bad:
        problems = told(zoo, GOOD | {key: value})
        assert problems, value
        assert all(problem.startswith(key) for problem in problems), problems


def test_the_root_must_be_an_object(zoo: str) -> None:
    values: list[object] = [3, "x", [], None]
    for value in values:
        (problem,) = told(zoo, value)
        assert problem.startswith("expected an object (chief, box, ")


def test_resolved_configs_are_complete_and_in_the_order_of_the_signature(zoo: str) -> None:
    resolved = resolve(zoo, {"box": {"lid": "large"}, "chief": {"legs": 3}})
    assert json.dumps(resolved) == json.dumps(
        {
            "chief": {"type": "dog", "legs": 3, "friend": None},
            "box": {"width": 1.0, "height": 2.5, "tags": [], "inside": None, "lid": "large"}, "others": [],
            "later": None, "dog": None, "by_name": None, "size": "small", "number": None, "rate": 0.0,
            "flag": False, "pair": [1, "a"], "many": [0.5], "where": None, "anything": None, "mode": "a",
        }
    )  # fmt: skip


def test_an_omitted_key_means_an_object_that_needs_nothing(zoo: str) -> None:
    assert resolve(zoo, {}) == resolve(zoo, {"chief": {"type": "dog"}, "box": {}})


def test_the_message_of_resolve_counts_and_lists(zoo: str) -> None:
    with pytest.raises(ConfigError) as error:
        resolve(zoo, {"rate": "x", "flag": "y"})
    assert str(error.value).splitlines() == [
        "config: 2 problems",
        '  rate: expected a number, got "x"',
        '  flag: expected true or false, got "y"',
    ]


def test_every_type_arrives_as_annotated(zoo: str) -> None:
    made = build(
        zoo,
        {
            "chief": {"type": "puppy", "legs": 3.0, "friend": {"type": "cat", "name": "Mio"}},
            "box": {"width": 2, "inside": {"tags": ["a"]}, "lid": "large"}, "others": ["cat", {}],
            "later": "needy", "by_name": {"x": "cat"}, "number": "7", "rate": 1, "pair": [2, "b"],
            "many": [1, 2], "where": "a/b", "anything": {"type": "anything"},
        },
    )  # fmt: skip
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
    assert build(Spice, "salt", kitchen="mine").kitchen == "mine"
    with pytest.raises(ConfigError, match=r'^config: parts\.0\.type: "sald".* did you mean "salt"'):
        build(Spice, {"type": "mixture", "parts": [{"type": "sald"}]})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ANIMALS = st.recursive(
    st.sampled_from(["cat", "dog", "puppy", {}, {"type": "cat", "name": "x"}, {"legs": 3}]),
    lambda inner: st.fixed_dictionaries(
        {"type": st.sampled_from(["dog", "puppy"]), "friend": inner | st.none()}
    ),
    max_leaves=4,
)
BOXES = st.fixed_dictionaries(
    {},
    optional={
        "width": st.floats(0, 9),
        "tags": st.lists(st.text(max_size=3), max_size=2),
        "lid": st.just("small"),
    },
)
ZOOS = st.fixed_dictionaries(
    {},
    optional={
        "chief": ANIMALS,
        "box": BOXES,
        "others": st.lists(ANIMALS, max_size=3),
        "later": ANIMALS | st.none() | st.just("needy"),
        "by_name": st.dictionaries(st.text(max_size=4), ANIMALS, max_size=2) | st.none(),
        "number": st.integers() | st.text(max_size=3) | st.none(),
        "many": st.lists(st.integers(-5, 5) | st.floats(-5, 5), max_size=3),
        "where": st.none() | st.just("some/where"),
    },
)
LENIENT = settings(max_examples=150)


@LENIENT
@given(config=ZOOS)
def test_resolving_twice_changes_nothing(zoo: str, config: Any) -> None:
    assert told(zoo, config) == []
    resolved = resolve(zoo, config)
    assert json.dumps(resolve(zoo, json.loads(json.dumps(resolved)))) == json.dumps(resolved)


@LENIENT
@given(
    config=ZOOS,
    keys=st.lists(st.sampled_from(["chief", "box", "friend", "legs", "x", "type"]), min_size=1, max_size=4),
    value=JSON,
)
def test_any_json_anywhere_gives_problems_never_an_exception(
    zoo: str, config: dict[str, Any], keys: list[str], value: Any
) -> None:  # fmt: skip
    config = json.loads(json.dumps(config))
    here = config
    for key in keys[:-1]:
        if not isinstance(here.get(key), dict):
            here[key] = {}
        here = here[key]
    here[keys[-1]] = value
    if told(zoo, config) == []:
        assert isinstance(resolve(zoo, config), dict)


def test_very_deep_configs_are_refused(zoo: str) -> None:
    config: Any = "dog"
    for _ in range(300):
        config = {"type": "dog", "friend": config}
    assert "nested too deeply" in told(zoo, {"chief": config})[0]
