"""JSON that is not one object a line: every item is a post or a reported error, and memory stays flat."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.common.errors import DataError
from linker.data import PostColumns, read_posts
from linker.data.files.formats import json_documents
from linker.data.files.line_errors import BadLines
from linker.data.identity import content_id
from linker.data.io.records import stream_posts

POSTS = [{"id": str(i), "text": f"post {i} 🌊 ]}}", "n": {"a": [1, {"b": None}]}} for i in range(5)]


def read(path: Path, text: str) -> list[dict[str, Any]]:
    path.write_text(text, encoding="utf-8")
    return [{"id": post.id, "text": post.text, **post.extra} for post in read_posts(str(path))]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ["p.json", "p.jsonl", "p", "p.csv"])
@pytest.mark.parametrize(
    "around",
    [
        lambda posts: posts,
        lambda posts: {"data": posts},
        lambda posts: [posts[:2], [], posts[2:]],
        lambda posts: {"meta": {"next": "x", "list": [1, 2]}, "tags": ["a"], "none": [], "data": posts, "count": 5},
    ],
)  # fmt: skip
def test_lists_and_objects_around_one(tmp_path: Path, around: Any, name: str, indent: int | None) -> None:
    assert read(tmp_path / name, json.dumps(around(POSTS), indent=indent, ensure_ascii=False)) == POSTS


def test_objects_in_an_object_whose_keys_are_no_ids_are_no_posts(tmp_path: Path) -> None:
    line = json.dumps({"post": {"text": "a b", "id": 1}, "parent": {"text": "c d", "id": 2}})
    (tmp_path / "p.jsonl").write_text(f"{line}\n{line}\n")
    with pytest.raises(DataError, match=r"did you mean \"post\.text\""):
        read_posts(str(tmp_path / "p.jsonl"))


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ["p.json", "p.jsonl", "p"])
def test_lists_of_texts(tmp_path: Path, name: str, indent: int | None) -> None:
    texts = ["the dam broke", 'say "run" ]', "🌊"]
    found = read(tmp_path / name, json.dumps(texts, indent=indent))
    assert found == [{"id": content_id(None, None, None, text), "text": text} for text in texts]
    (tmp_path / name).write_text('["a", 3, "b"]')
    with pytest.raises(DataError, match="line 2: not a JSON object: but 3"):
        read_posts(str(tmp_path / name))


def test_pages_of_an_api_line_by_line(tmp_path: Path) -> None:
    lines = [json.dumps({"data": POSTS[:2], "meta": {}}), json.dumps({"data": POSTS[2:], "meta": {}})]
    assert read(tmp_path / "p.jsonl", "\n".join(lines)) == POSTS


def test_bad_items_are_reported_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(
        b'[{"id": 1, "text": "a"}, 3, {"id": 2, "text": 5},\n{"id": 4, "text": "\xe9"}, {"text": Infinity}]'
    )
    with pytest.raises(DataError) as caught:
        read_posts(str(path))
    assert [line.split(", ", 1)[1] for line in str(caught.value).splitlines()[1:]] == [
        "line 2: not a JSON object: but 3",
        "line 3: wrong type: \"text\" is '5' (int), expected a string",
        'line 5: empty text: nothing in "text"',
    ]
    posts = read_posts(str(path), on_error="skip")
    assert [(post.id, post.text) for post in posts] == [("1", "a"), ("4", "é")]  # in windows-1252


@pytest.mark.parametrize("name", ["p.json", "p.jsonl"])
@pytest.mark.parametrize("indent", [None, 1])
def test_what_is_no_number_is_missing(tmp_path: Path, name: str, indent: int | None) -> None:
    numbers = [float("nan"), float("inf"), {"n": [-float("inf")]}]
    rows = [{"id": str(i), "text": "a", "n": number} for i, number in enumerate(numbers)]
    found = read(tmp_path / name, json.dumps({"about": float("nan"), "data": rows}, indent=indent))
    assert [row["n"] for row in found] == [None, None, {"n": [None]}]


@pytest.mark.parametrize("tags", [["a"], [{"name": "a"}]])
def test_lists_before_the_text_of_a_post_are_fields(tmp_path: Path, tags: list[Any]) -> None:
    rows = [{"tags": tags[n:], "urls": ["x"], "id": str(n + 1), "text": "dam"} for n in (0, 1)]
    assert [row["id"] for row in read(tmp_path / "p.jsonl", "\n".join(map(json.dumps, rows)))] == ["1", "2"]


def test_objects_one_after_another_are_posts(tmp_path: Path) -> None:
    rows = [{"id": str(i), "text": "dam", "tags": [{"name": "a"}]} for i in range(3)]
    text = "\n".join(json.dumps(row, indent=2) for row in rows)
    assert [row["id"] for row in read(tmp_path / "p.json", text)] == ["0", "1", "2"]


def test_memory_does_not_grow_with_the_list(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    item = json.dumps({"id": "x", "text": "word " * 200})
    path.write_text('{"data": [' + ",".join([item] * 20_000) + "]}")
    tracemalloc.start()
    with BadLines() as bad_lines:
        assert sum(1 for _ in stream_posts([str(path)], PostColumns(), bad_lines)) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 20_000_000
    assert peak < 6_000_000


words = st.text(st.characters(codec="utf-8"), max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150)
@given(st.lists(values, max_size=6), st.sampled_from([None, 0, 2]), st.integers(1, 40), st.booleans())
def test_every_item_is_a_post_or_a_reported_error(
    tmp_path: Path, items: list[Any], indent: int | None, chunk: int, wrapped: bool
) -> None:
    path = tmp_path / "p.json"
    good = {"id": "good", "text": "so that something is left"}
    path.write_text(
        json.dumps({"k": [good, *items]} if wrapped else [good, *items], indent=indent), encoding="utf-8"
    )
    side = tmp_path / "p.json.errors.jsonl"
    side.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_documents, "_CHUNK", chunk)
        posts = read_posts(str(path), on_error="skip")
    errors = side.read_bytes().splitlines() if side.exists() else []
    assert len(posts) + len(errors) == 1 + len(items)
    assert posts[0].text == good["text"]


@settings(max_examples=150)
@given(st.data())
def test_a_list_cut_anywhere_is_an_error(tmp_path: Path, data: st.DataObject) -> None:
    whole = json.dumps(POSTS[:2], indent=1)
    path = tmp_path / "p.json"
    path.write_text(whole[: data.draw(st.integers(2, len(whole) - 1))])
    with pytest.raises(DataError):
        read_posts(str(path))
