"""Source text and live classes give the same schemas."""

from __future__ import annotations

import dataclasses
import importlib

import pytest

from linker.config import EXPERIMENT
from linker.config.introspection.live import Inspector
from linker.config.registry import catalog
from linker.config.types import ClassSpec, Instance, argument_docs, first_line


def reachable(reference: str) -> set[str]:
    """All classes that a config of `reference` can name."""
    found: set[str] = set()
    queue = [reference]
    while queue:
        one = queue.pop()
        spec = catalog.spec(one)
        if one in found or spec is None:
            continue
        found.add(one)
        queue += catalog.choices(spec)[0].values()
        for parameter in spec.parameters:
            queue += instances(parameter.type)
    return found


def instances(kind: object) -> list[str]:
    if isinstance(kind, Instance):
        return [kind.reference]
    parts: list[str] = []
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        value = getattr(kind, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if dataclasses.is_dataclass(item):
                parts += instances(item)
    return parts


def assert_agree(reference: str) -> None:
    static = catalog.spec(reference)
    module, _, path = reference.partition(":")
    live = Inspector().class_spec(getattr(importlib.import_module(module), path))
    assert isinstance(static, ClassSpec)
    # repr as well: 1, 1.0 and True are equal, but not the same default.
    assert (static, repr(static)) == (live, repr(live))


def test_every_class_that_a_training_config_can_name() -> None:
    references = reachable(EXPERIMENT)
    assert len(references) > 25
    for reference in sorted(references):
        if reference.startswith("linker."):
            assert_agree(reference)


def test_every_component_of_linker() -> None:
    for family in catalog.families():
        if family.startswith("linker."):
            assert_agree(family)
            for reference in catalog.components(family).values():
                if reference.startswith("linker."):
                    assert_agree(reference)


def test_every_kind_of_annotation(zoo: str) -> None:
    references = reachable(zoo)
    assert {reference.partition(":")[2] for reference in references} == {
        *("Zoo", "Animal", "Cat", "Dog", "Needy", "Puppy", "Box", "LidBox")
    }
    for reference in references:
        assert_agree(reference)


def test_what_the_schema_of_a_component_says(zoo: str) -> None:
    module = zoo.partition(":")[0]
    dog, cat = catalog.spec(f"{module}:Dog"), catalog.spec(f"{module}:Cat")
    assert dog is not None
    assert cat is not None
    assert dog.keys == ["legs", "friend"]
    assert dog.supplied == (("yard", False), ("owner", False))
    assert dog.description == "Barks."
    assert dog.parameters[0].description == "how many."
    assert cat.keys == ["name"]
    assert cat.parameters[0].description == "what it is called, by everybody."


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        (None, {}),
        ("Says nothing.", {}),
        (
            "One.\n\n    Args:\n        a: first,\n            still.\n        b (int): second.\n\n"
            "    Returns:\n        c: no.\n",
            {"a": "first, still.", "b": "second."},
        ),
        ("Do.\n\n    Args:\n        **more: the rest.\n", {"more": "the rest."}),
    ],
)
def test_argument_docs(docstring: str | None, expected: dict[str, str]) -> None:
    assert argument_docs(docstring) == expected


def test_first_line_is_the_first_paragraph() -> None:
    assert first_line("One\n    two.\n\n    Three.") == "One two."
