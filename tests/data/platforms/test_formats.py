"""Every format: recognized, read as documented, and every record a post or left out by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from linker.data import Post, PostColumns, read_posts
from linker.data.platforms.platform import Platform, hashed
from tests.data.platforms.case import Case
from tests.data.platforms.records import CASES

EVERY = [
    pytest.param(name, case, id=f"{name}-{i}")
    for name, cases in CASES.items()
    for i, case in enumerate(cases)
]
ALIASES = {"truth_social": "mastodon"}


def flat(post: Post) -> dict[str, Any]:
    created_at = post.created_at.isoformat() if post.created_at else None
    return {"id": post.id, "text": post.text, "created_at": created_at, **post.extra}


@pytest.mark.parametrize(("name", "case"), EVERY)
def test_recognized_and_read(
    name: str, case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / case.name
    path.write_text(case.content, encoding="utf-8")
    found = [flat(post) for post in read_posts(str(path), PostColumns(authors="plain"))]
    assert len(found) == len(case.posts)
    for post, expected in zip(found, case.posts):
        assert {key: post.get(key) for key in expected} == expected
        assert post["platform"] == expected.get("platform", name)
    title = Platform.by_name(name).title
    assert capsys.readouterr().err == f"{path}: read as {title}: {case.left_out}\n"


@pytest.mark.parametrize(("name", "case"), EVERY)
def test_authors_are_hashed_and_formats_can_be_forced(name: str, case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.name
    path.write_text(case.content, encoding="utf-8")
    for post, expected in zip(read_posts(str(path), PostColumns(format=name)), case.posts):
        assert "author_name" not in post.extra
        if "author" in expected:
            assert post.extra["author"] == hashed(expected["author"])


def test_every_format_has_a_case() -> None:
    assert {ALIASES.get(name, name) for name in Platform.available()} == set(CASES)
