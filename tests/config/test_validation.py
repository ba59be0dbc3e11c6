"""All errors of a config are reported at once, with their paths."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.common.errors import ConfigError
from linker.config import check, resolve

GOOD: dict[str, Any] = {"chief": "cat", "box": {}}


def told(zoo: str, config: Any) -> list[str]:
    return [str(problem) for problem in check(zoo, config)]


def test_a_good_config_has_no_problems(zoo: str) -> None:
    assert told(zoo, GOOD) == []


def test_all_problems_at_once(zoo: str) -> None:
    config = {
        "chief": {"type": "doog", "legs": "four", "frend": None},
        "box": {"width": "wide", "lid": "smal", "inside": {"height": []}},
        "others": ["cat", {"type": "dog", "legs": True}, 3],
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
        'chief.type: "doog" is not a registered Animal; did you mean "dog"? Known: cat, dog, needy, puppy',
        'chief.legs: expected an integer, got "four"',
        f'chief.frend: unknown key (value null); did you mean "friend"? {dogs}',
        'box.width: expected a number, got "wide"',
        "box.inside.height: expected a number, got []",
        'box.lid: expected "small" or "large", got "smal"; did you mean "small"?',
        "others.1.legs: expected an integer, got true",
        "others.2: expected a registered Animal (cat, dog, needy, puppy), got 3",
        "later.legs: expected an integer, got 2.5",
        "pair: expected a list of 2 (an integer, a string), got [1]",
        f'sise: unknown key (value "large"); did you mean "size"? {keys}',
    ]


def test_what_only_code_can_supply(zoo: str) -> None:
    assert told(zoo, GOOD | {"later": "needy"}) == []
    assert told(zoo, GOOD | {"chief": "needy"}) == [
        "chief: Needy needs keeper from code, which supplies nothing here"
    ]
    assert told(zoo, GOOD | {"chief": {"type": "dog", "yard": "big"}}) == [
        'chief.yard: unknown key (value "big"); the program supplies it, no config can set it. '
        "Keys of Dog: legs, friend"
    ]


def test_a_key_at_the_wrong_level_is_reported_with_its_place(zoo: str) -> None:
    (problem,) = told(zoo, GOOD | {"chief": "dog", "legs": 3})
    assert problem.startswith('legs: unknown key (value 3); did you mean "chief.legs"?')


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


def test_an_annotation_that_names_a_component_takes_it_and_what_derives_from_it(zoo: str) -> None:
    for dog in ({}, {"legs": 3}, {"type": "dog"}, "puppy", {"type": "puppy", "legs": 2}, None):
        assert told(zoo, GOOD | {"dog": dog}) == []
    assert told(zoo, GOOD | {"dog": "cat"}) == [
        'dog: "cat" is not a registered Dog; is it in a plugin that is not installed, '
        "or in a package for --include-package? Known: dog, puppy"
    ]
    assert resolve(zoo, GOOD | {"dog": {}})["dog"] == {"type": "dog", "legs": 4, "friend": None}


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
            "box": {"width": 1.0, "height": 2.5, "tags": [], "inside": None, "lid": "large"},
            "others": [],
            "later": None,
            "dog": None,
            "by_name": None,
            "size": "small",
            "number": None,
            "rate": 0.0,
            "flag": False,
            "pair": [1, "a"],
            "many": [0.5],
            "where": None,
            "anything": None,
            "mode": "a",
        }
    )


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
@given(config=JSON)
def test_any_json_gives_problems_never_an_exception(zoo: str, config: Any) -> None:
    if told(zoo, config) == []:
        assert isinstance(resolve(zoo, config), dict)


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
