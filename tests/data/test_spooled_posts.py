"""Posts in a temporary file are the posts that were put in, however they are accessed."""

import tempfile
from dataclasses import astuple
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from linker.common.errors import DataError
from linker.data import Article, Post, spooled_posts
from linker.data.spooled_posts import SpooledPosts
from linker.models.bm25 import BM25Model
from linker.models.features import memory_table
from linker.models.features.memory_table import MemoryTable
from linker.models.tfidf import TfidfModel

AT = datetime(2024, 5, 1, 12, 0, 0, 123456, timezone.utc)
FIELDS: list[dict[str, Any]] = [
    {},
    {"a": 1.5, "b": [None, {"c": "\ud83d"}]},
    {"at": AT},
    {"data": b"x", "n": 10**40},
]
POSTS = [
    Post(
        str(i), f"text {i} 😀" * (i % 7 + 1), ("a",) * (i % 2), AT + timedelta(0, i), None, FIELDS[i % 4],
        f"f:{i}",
    )
    for i in range(500)
]  # fmt: skip


@pytest.mark.parametrize("in_memory", [1, 32 << 20])
def test_are_the_posts_that_were_put_in(monkeypatch, in_memory):
    monkeypatch.setattr(spooled_posts, "_IN_MEMORY", in_memory)
    monkeypatch.setattr(spooled_posts, "_AT_ONCE", 64)
    posts = SpooledPosts(iter(POSTS))
    for part in (slice(None), slice(3, 90), slice(90, 3), slice(400, None, -3), slice(-1, None)):
        assert list(map(astuple, posts[part])) == list(map(astuple, POSTS[part]))
    assert list(map(astuple, posts)) == list(map(astuple, POSTS))


@pytest.mark.parametrize("model", [BM25Model(), TfidfModel()])
def test_scores_do_not_depend_on_blocks(monkeypatch, model):
    articles = [Article("a", "text 3 and text 77 of the text")]
    scores, groups = model.score(articles, POSTS), MemoryTable(POSTS).groups
    monkeypatch.setattr(memory_table, "_BLOCK", 130)
    np.testing.assert_array_equal(model.score(articles, SpooledPosts(POSTS)), scores, strict=True)
    np.testing.assert_array_equal(MemoryTable(SpooledPosts(POSTS)).groups, groups, strict=True)


def test_a_full_temporary_folder_is_one_message(monkeypatch):
    monkeypatch.setattr(spooled_posts, "_IN_MEMORY", 1)
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    with pytest.raises(DataError, match=r"temporary folder .* TMPDIR"):
        SpooledPosts(POSTS)
