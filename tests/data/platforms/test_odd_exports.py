"""Files as programs write them are recognized without an option, and all of their posts are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from linker.data import read_posts
from linker.data.platforms.platform import Platform, hashed
from tests.data.platforms.case import URL
from tests.data.platforms.odd_exports import ODD_EXPORTS, Export


@pytest.mark.parametrize("export", ODD_EXPORTS, ids=[export.name for export in ODD_EXPORTS])
def test_recognized_and_read(export: Export, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / export.name
    path.write_bytes(export.data())
    posts = {post.id: post for post in read_posts(str(path))}
    assert {id_: post.text for id_, post in posts.items()} == export.texts
    title = Platform.by_name(export.format).title
    assert capsys.readouterr().err == f"{path}: read as {title}: {export.report}\n"
    for id_, author in export.authors.items():
        assert posts[id_].extra["author"] == hashed(author)
    for id_ in export.links:
        assert any(link.partition("?")[0] == URL for link in posts[id_].extra["links"])
    assert not any("author_name" in post.extra for post in posts.values())
