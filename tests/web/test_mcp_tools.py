"""What an assistant can reach through `linker mcp`: files below the folders, public pages, nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import linker
from linker.common.errors import LinkerError
from linker.corpus.builder import build_corpus
from linker.data.io.columns import PostColumns
from linker.web.mcp import Tools

ARTICLE = "Otters return to the river\n\nTwo otters were filmed below the weir at Marrow."
TEXTS = ["two otters below the weir!", "the bus is late again", "otters, at last, in the river", "soup"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    inside.mkdir()
    lines = [json.dumps({"id": f"p{n}", "text": text}) + "\n" for n, text in enumerate(TEXTS)]
    (inside / "posts.jsonl").write_text("".join(lines))
    (tmp_path / "secret.jsonl").write_text("".join(lines))
    (tmp_path / "inside-out").mkdir()
    (tmp_path / "inside-out" / "posts.jsonl").write_text("".join(lines))
    (inside / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (inside / "up").symlink_to(tmp_path)
    return inside


def test_scores_are_those_of_every_other_way(folder: Path) -> None:
    found = Tools([folder], "bm25").rank(ARTICLE, "posts.jsonl", 3)
    expected = linker.load("bm25").rank(ARTICLE, str(folder / "posts.jsonl"), top=3)
    assert [(post["id"], post["score"]) for post in found["posts"]] == [
        (ranked.post.id, round(ranked.score, 2)) for ranked in expected
    ]
    assert (found["total"], found["model"], found["meaning"]) == (4, "bm25", expected.meaning)
    assert found["article"]["title"] == "Otters return to the river"
    assert {post["id"] for post in found["posts"][:2]} == {"p0", "p2"}


def test_a_corpus_is_searched_and_described(folder: Path) -> None:
    pytest.importorskip("lance")
    build_corpus(folder / "corpus", [str(folder / "posts.jsonl")], "distilled", PostColumns())
    tools = Tools([folder])
    found = tools.search(str(folder / "corpus"), "otters", 1)
    assert found["posts"][0]["id"] in ("p0", "p2")
    assert (found["total"], found["model"]) == (4, "distilled")
    assert tools.corpus_info("corpus")["posts"] == 4


@pytest.mark.parametrize(
    "path",
    [
        "missing.jsonl", "../secret.jsonl", "{outside}/secret.jsonl", "link.jsonl", "up/secret.jsonl",
        "../inside-out/posts.jsonl", "{outside}/inside-out/posts.jsonl", "*.jsonl", "-", "~", "a\0b", "x" * 5_000,
        "https://files.test/posts.jsonl", "s3://bucket/posts.jsonl", "/dev/stdin",
    ],
)  # fmt: skip
def test_files_elsewhere_are_refused_as_if_they_were_missing(folder: Path, path: str) -> None:
    tools = Tools([folder], "bm25")
    given = path.format(outside=folder.parent)
    for call in (
        lambda: tools.rank(ARTICLE, given),
        lambda: tools.search(given, ARTICLE),
        lambda: tools.corpus_info(given),
    ):
        with pytest.raises(LinkerError) as caught:
            call()
        assert (
            str(caught.value)
            == f"{given[:200]}: not found below {folder}; --allow names the folders of this server"
        )


def test_a_folder_is_not_a_file_of_posts_and_no_corpus(folder: Path) -> None:
    tools = Tools([folder], "bm25")
    with pytest.raises(LinkerError, match="not a file; rank reads one file of posts"):
        tools.rank(ARTICLE, ".")
    with pytest.raises(LinkerError, match="not a corpus"):
        tools.search(".", ARTICLE)


@pytest.mark.parametrize(
    "article", ["http://127.0.0.1:9/", "http://localhost/", "http://169.254.169.254/meta"]
)
def test_private_addresses_are_refused(folder: Path, article: str) -> None:
    with pytest.raises(LinkerError, match="not an address of the public internet: refused"):
        Tools([folder], "bm25").rank(article, "posts.jsonl")


@pytest.mark.parametrize("article", ["posts.jsonl", "/etc/passwd", "../secret.jsonl", "news.test/a"])
def test_files_are_not_read_as_articles(folder: Path, article: str) -> None:
    with pytest.raises(LinkerError, match="files are not read as articles, so give their text"):
        Tools([folder], "bm25").rank(article, "posts.jsonl")


@pytest.mark.parametrize("top", [0, -1, 201])
def test_the_number_of_posts_has_limits(folder: Path, top: int) -> None:
    with pytest.raises(LinkerError, match=f"top is {top}; give 1 to 200"):
        Tools([folder], "bm25").rank(ARTICLE, "posts.jsonl", top)


def test_relative_paths_are_looked_up_in_every_folder(folder: Path) -> None:
    tools = Tools([folder, folder.parent / "inside-out"], "bm25")
    (folder.parent / "inside-out" / "more.jsonl").write_text('{"id": "m", "text": "otters"}\n')
    assert tools.rank(ARTICLE, "more.jsonl")["posts"][0]["id"] == "m"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match=r"--allow .*nowhere: folder not found"):
        Tools([tmp_path / "nowhere"])


def test_long_posts_are_cut(folder: Path) -> None:
    (folder / "long.jsonl").write_text('{"id": "1", "text": "otters ' + "x" * 9_000 + '"}\n')
    [post] = Tools([folder], "bm25").rank(ARTICLE, "long.jsonl")["posts"]
    assert post["text"].startswith("otters xxx")
    assert len(post["text"]) == 5_000
