"""The JSON Schema says the same as `check`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from linker.config import EXPERIMENT, check, schema

CONFIGS: list[Any] = [
    {},
    {"chief": "cat"},
    {"chief": "needy"},
    {"chief": {}},
    {"chief": {"legs": 3}},
    {"chief": {"type": "cat", "legs": 3}},
    {"chief": {"type": "puppy", "friend": {"type": "dog", "friend": None}}},
    {"chief": {"type": "puppy", "friend": {"type": "dog", "friend": 3}}},
    {"dog": "puppy"},
    {"dog": "cat"},
    {"dog": {"legs": 1}},
    {"box": {"lid": "large", "inside": {"width": 1}}},
    {"box": {"lid": "huge"}},
    {"box": {"inside": {"lid": "small"}}},
    {"others": ["cat", {}]},
    {"others": "cat"},
    {"by_name": {"x": {}, "y": "dog"}},
    {"number": True},
    {"number": 1.5},
    {"number": "x"},
    {"rate": 1},
    {"rate": "1"},
    {"flag": 1},
    {"pair": [1, "a"]},
    {"pair": [1]},
    {"pair": ["a", 1]},
    {"many": [1, 2.5]},
    {"many": ["x"]},
    {"where": ""},
    {"where": "x"},
    {"anything": [1]},
    {"mode": 1},
    {"mode": "b"},
    {"unknown": 1},
    [],
    None,
]


def refs(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(refs(value) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(refs(value) for value in node))
    return set()


@pytest.mark.parametrize("target", ["zoo", EXPERIMENT])
def test_every_reference_leads_somewhere(target: str, request: pytest.FixtureRequest) -> None:
    document = schema(request.getfixturevalue("zoo") if target == "zoo" else target)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$ref"].removeprefix("#/$defs/") == ("Zoo" if target == "zoo" else "Experiment")
    assert {ref.removeprefix("#/$defs/") for ref in refs(document)} == set(document["$defs"])
    json.dumps(document, allow_nan=False)


def test_what_an_editor_shows(zoo: str) -> None:
    definitions = schema(zoo)["$defs"]
    assert definitions["Animal"]["description"] == "What lives here."
    assert definitions["Animal"]["oneOf"] == [
        *({"$ref": f"#/$defs/Animal.{name}"} for name in ("cat", "dog", "needy", "puppy")),
        {"enum": ["cat", "dog", "needy", "puppy"]},
    ]
    assert definitions["Animal.dog"] == {
        "description": "Barks.",
        "type": "object",
        "properties": {
            "type": {"const": "dog"},
            "legs": {"description": "how many.", "type": "integer", "default": 4},
            "friend": {"anyOf": [{"$ref": "#/$defs/Animal"}, {"type": "null"}], "default": None},
        },
        "additionalProperties": False,
    }
    assert definitions["Animal.cat"]["required"] == ["type"]
    assert "required" not in definitions["Zoo"]


@pytest.mark.parametrize("config", CONFIGS, ids=json.dumps)
def test_a_validator_agrees_with_check(zoo: str, config: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = schema(zoo)
    jsonschema.Draft202012Validator.check_schema(document)
    needy = config == {"chief": "needy"}  # what code must supply is beyond a schema
    valid = jsonschema.Draft202012Validator(document).is_valid(config)
    assert valid == (check(zoo, config) == [] or needy)
