"""The generated Jsonnet library: complete, current, and equal to what configs say without it."""

from __future__ import annotations

import json

import _jsonnet
import pytest

from linker.config.jsonnet_library import jsonnet_library
from linker.config.registry import catalog


def evaluate(expression: str) -> object:
    text = _jsonnet.evaluate_snippet("test", f"local linker = {jsonnet_library()};\n{expression}")
    return json.loads(text)


def test_a_function_gives_type_arguments_and_defaults() -> None:
    assert evaluate("linker.miners.multi_similarity(epsilon=0.25)") == {
        "type": "multi_similarity",
        "epsilon": 0.25,
    }
    adam = evaluate("linker.optimizers.adam(lr=0.5)")
    assert isinstance(adam, dict)
    assert adam["type"] == "adam"
    assert adam["lr"] == 0.5


def test_an_argument_that_only_code_can_make_is_left_out_unless_given() -> None:
    assert "hidden_dim" not in evaluate("linker.encoders.gru()")  # type: ignore[operator]
    assert evaluate("linker.encoders.gru(hidden_dim=8)")["hidden_dim"] == 8  # type: ignore[index]


@pytest.mark.parametrize("expression", ["linker.encoders.grus()", "linker.encoders.gru(hiden_dim=8)"])
def test_a_wrong_name_fails_in_jsonnet_itself(expression: str) -> None:
    with pytest.raises(RuntimeError, match=r"grus|hiden_dim"):
        evaluate(expression)


def test_every_component_is_in_the_library() -> None:
    names = {name for family in catalog.families() for name in catalog.components(family)}
    text = jsonnet_library()
    assert {name for name in names if f"    {name}(" not in text} == set()
