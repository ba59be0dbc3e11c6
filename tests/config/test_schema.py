"""Schemas of classes."""

from linker.config.registry import catalog
from linker.config.schema import argument_docs


def test_what_the_schema_of_a_component_says(zoo: str) -> None:
    catalog.reference_of(zoo)
    module = zoo.partition(":")[0]
    dog, cat = catalog.spec(f"{module}:Dog"), catalog.spec(f"{module}:Cat")
    assert dog is not None
    assert cat is not None
    assert dog.keys == ["legs", "friend"]
    assert dog.supplied == ["yard", "owner"]
    assert dog.description == "Barks."
    assert dog.parameters[0]["description"] == "how many."
    assert cat.keys == ["name"]
    assert cat.parameters[0]["description"] == "what it is called, by everybody."


def test_argument_docs() -> None:
    assert argument_docs("Says nothing.") == {}
    arguments = "    a: first,\n        still.\n    b (int): second.\n    **more: rest.\n"
    docstring = f"One.\n\nArgs:\n{arguments}\nReturns:\n    c: no.\n"
    assert argument_docs(docstring) == {"a": "first, still.", "b": "second.", "more": "rest."}
