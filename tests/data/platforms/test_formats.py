"""Every format: recognized, read as documented, and every record a post or left out by name."""

from pathlib import Path
from typing import Any

import pytest

from linker.data import Post, PostColumns, read_posts
from linker.data.platforms.platform import Platform, hashed
from tests.data.platforms.exports import EXPORTS, Export

EVERY = [export for exports in EXPORTS.values() for export in exports]
ALIASES = {"truth_social": "mastodon"}


def name_of(export: Export) -> str:
    return f"{export.format}-{export.name}"


def flat(post: Post) -> dict[str, Any]:
    created_at = post.created_at.isoformat() if post.created_at else None
    return {"id": post.id, "text": post.text, "created_at": created_at, **post.extra}


@pytest.mark.parametrize("export", EVERY, ids=name_of)
def test_recognized_and_read(export: Export, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = export.write(tmp_path)
    posts = [flat(post) for post in read_posts(str(path), PostColumns(authors="plain"))]
    assert len(posts) == len(export.posts)
    for post, expected in zip(posts, export.posts):
        assert {key: post.get(key) for key in expected} == expected
        assert post["platform"] == expected.get("platform", export.format)
    title = export.title or Platform.by_name(export.format).title
    assert capsys.readouterr().err == f"{path}: read as {title}: {export.report}\n"
    # Authors are hashed, unless asked for, and formats can be forced.
    forced = read_posts(str(path), PostColumns(format=None if export.is_paged else export.format))
    assert len(forced) == len(posts)
    for hidden, expected in zip(forced, export.posts):
        assert "author_name" not in hidden.extra
        if "author" in expected:
            assert hidden.extra["author"] == hashed(expected["author"])


def test_every_format_has_an_export() -> None:
    assert {ALIASES.get(name, name) for name in Platform.available()} == set(EXPORTS)
