"""Sessions of posts in data frames, as data frames come: with ids in a column or in the index, or without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from linker.annotation.session.session import Session
from linker.common.errors import LinkerError
from linker.data.types import Article

ARTICLE = Article("a", "Two otters were filmed below the weir.", "Otters return")
TEXTS = ["otters at the weir", "the bus is late", "soup"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_posts_and_articles_in_a_frame(make: Callable[[dict[str, Any]], Any], tmp_path: Path) -> None:
    posts = make({"id": ["x", "y", "z"], "text": TEXTS, "likes": [1, 2, 3]})
    article = make({"title": [ARTICLE.title], "text": [ARTICLE.text]})
    with Session.create(tmp_path / "job", article, posts, model="bm25") as session:
        assert [(post.id, post.text, post.extra["likes"]) for post in session.posts] == list(
            zip("xyz", TEXTS, (1, 2, 3))
        )
        session.label("kim", "x", "relevant")
        values = {one.post.id: one.value for one in session.labeled()}
    assert values == {"x": "relevant", "y": None, "z": None}


def test_texts_files_and_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("id,text\np,otters at the weir\n")
    with Session.create(tmp_path / "file", ARTICLE, str(tmp_path / "posts.csv"), model="bm25") as session:
        assert [post.id for post in session.posts] == ["p"]
    with pytest.raises(LinkerError, match="row 1: empty text"):
        Session.create(tmp_path / "bad", ARTICLE, pd.DataFrame({"text": ["otters", None]}), model="bm25")
    assert not (tmp_path / "bad").exists()
