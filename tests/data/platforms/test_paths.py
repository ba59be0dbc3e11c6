"""Paths: values by hand, and nothing but a value for any record."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.data.platforms.paths import getter, has_path, lister, nested, parsed

RECORD: dict[str, Any] = {
    "a": {"b": 1, "$type": "x", "none": None, "empty": ""},
    "list": [{"type": "link", "n": [1, 2]}, {"type": "tag", "n": [3]}, "text"],
}


def test_values() -> None:
    for expression, first, every in [
        ("a.b", 1, [1]),
        ("a.$type", "x", ["x"]),
        ("a.none", None, []),
        ("a.empty|a.b", 1, [1]),
        ("a.b.c", None, []),
        ("missing|list[1].type", "tag", ["tag"]),
        ("list[9].type", None, []),
        ("list[].n[]", 1, [1, 2, 3]),
        ("list[type=tag].n[]", 3, [3]),
        ("list[type=link].n", [1, 2], [[1, 2]]),
        ("a[].b", None, []),
    ]:
        assert getter(expression)(RECORD) == first
        assert lister(expression)(RECORD) == every


def test_templates_need_all_their_values() -> None:
    assert getter("at://{a.b}/{a.$type}")(RECORD) == "at://1/x"
    assert getter("at://{a.b}/{a.none}")(RECORD) is None
    assert getter("{a.c}/{a.b}|{a.b}")(RECORD) == "1"
    assert getter("{list}")(RECORD) is None


def test_signs_are_keys_whatever_their_value() -> None:
    assert has_path("a.none")(RECORD)
    assert not has_path("a.c")(RECORD)
    assert not has_path("a.b.c")(RECORD)
    assert has_path("!a.c")(RECORD)
    assert has_path("a.$type=x")(RECORD)
    assert not has_path("a.$type=y")(RECORD)


def test_dotted_keys_are_nested_values() -> None:
    assert nested({"id": "1", "author.id": "7", "author.name": "ann", "a.b.c": 1}) == {
        "id": "1",
        "author": {"id": "7", "name": "ann"},
        "a": {"b": {"c": 1}},
    }
    # Where a place is taken, the key stays as it is.
    assert nested({"a": "x", "a.b": 1}) == {"a": "x", "a.b": 1}
    assert nested({"a.b": 1, "a": "x"}) == {"a": {"b": 1}}


def test_lists_in_cells() -> None:
    row = {"json": '[{"n": 1}, {"n": 2}]', "python": "[{'n': 1, 'none': None}]", "text": "[Breaking] {n}"}
    assert lister("json[].n")(row) == [1, 2]
    assert lister("python[].n")(row) == [1]
    assert lister("text[].n")(row) == []
    assert getter("text")(row) == "[Breaking] {n}"


def test_cells_that_hold_no_value() -> None:
    for text in ["", "[", "[" * 200_000, '["\\ud83d"]', "[" + "1," * 600_000 + "1]", "[print('x')]", "x = 1"]:
        assert parsed(text) is None


def test_a_malformed_path_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a path"):
        getter("a..b")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abn"), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.sampled_from("abn"), JSON),
    st.sampled_from(["a.b.n", "a[].b", "a[0].b[]", "a[b=x].n|b"]),
)
def test_the_first_value_is_the_first_of_all(record: dict[str, Any], expression: str) -> None:
    every = lister(expression)(record)
    assert repr(getter(expression)(record)) == repr(every[0] if every else None)
