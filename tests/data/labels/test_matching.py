"""Labels find their posts by id, then by content."""

from datetime import datetime, timezone
from typing import Any

import pytest

from linker.common.errors import DataError
from linker.data.labels.matching import match_labels
from linker.data.labels.records import ImportedLabel
from linker.data.platforms.platform import hashed
from linker.data.types import Post

NOON = datetime(2024, 1, 19, 12, tzinfo=timezone.utc)


def Label(post_id: str, text: str | None = None, **known: Any) -> ImportedLabel:
    """A label whose value does not matter."""
    return ImportedLabel(post_id, None, "relevant", text=text, **known)


POSTS = [
    Post("pa", "Ferry strike", created_at=NOON, extra={"platform": "x", "author": "anna"}),
    Post("pb", "Ferry strike", extra={"platform": "mastodon", "author": hashed("ben")}),
    Post("pc", "Café"),
]


def test_finds_the_post() -> None:
    for labels, expected in [
        ([Label("pc")], ["pc"]),
        ([Label("1.57e+18", "Cafe\u0301 ")], ["pc"]),
        ([Label("7", "Ferry  strike", platform="Mastodon")], ["pb"]),
        ([Label("7", "Ferry strike", author="ben")], ["pb"]),
        ([Label("7", "Ferry strike", author=hashed("anna"), created_at=NOON)], ["pa"]),
        # Equal texts: each id has its post, for all its annotators.
        (
            [Label("1", "Ferry strike"), Label("2", "Ferry strike"), Label("1", "Ferry strike")],
            ["pa", "pb", "pa"],
        ),
        ([Label("pa", "Ferry strike"), Label("2", "Ferry strike")], ["pa", "pb"]),
        ([Label("9"), Label("pc")], [None, "pc"]),
    ]:
        assert match_labels(POSTS, labels).post_ids == expected


def test_many_without_a_post_are_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    match_labels(POSTS, [Label("pa"), Label("x1", "Hello"), Label("x2")]).report("l.csv")
    err = capsys.readouterr().err
    assert "l.csv: 2 of 3 labels match no post" in err
    assert "x1 “Hello”, x2" in err.replace("\n", " ")


def test_ids_of_other_posts_are_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    match_labels(POSTS, [Label("pa", "Something else"), Label("pb", "Ferry str…")]).report("l.csv")
    assert "1 of 2 labels have the id of a post with another text" in capsys.readouterr().err.replace(
        "\n", " "
    )


def test_none_with_a_post_is_an_error() -> None:
    with pytest.raises(DataError, match="none of 1 labels belongs to a post"):
        match_labels(POSTS, [Label("10")]).report("l.csv")
