"""`linker rank --article PAGE`, exactly so: where the posts come from when nobody named them."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from linker.cli.inputs import default_posts
from linker.common.errors import LinkerError

LINES = json.dumps({"id": "1", "text": "two otters on the river Brell!"}) + "\n"
Run = Callable[..., tuple[int, str, str]]


def test_posts_in_this_folder(here: Path, command: Run) -> None:
    (here / "posts.jsonl").write_text(LINES)
    code, out, err = command("rank", "--article", "Otters return to the Brell", "--model", "bm25")
    assert code == 0
    assert "otters" in out
    assert "posts: posts.jsonl (default; for others give --posts FILE)" in err.splitlines()


def test_no_posts_at_all(here: Path, command: Run) -> None:
    code, out, err = command("rank", "--article", "Otters return")
    assert (code, out) == (2, "")
    assert err.startswith("reading the article ...\nerror: no posts to rank: ")
    assert "\n  linker rank --article 'Otters return' --posts FILE\n" in err


@pytest.mark.parametrize("name", ["posts.csv", "posts.jsonl.gz", "posts.txt", "POSTS.TSV", "posts.parquet"])
@pytest.mark.parametrize("below", [".", "data"])
def test_files_called_posts(here: Path, name: str, below: str) -> None:
    path = here / below / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(b"x"))
    assert default_posts(["a.html"]) == str(Path(below, name))


@pytest.mark.parametrize(
    "name", ["posts.errors.jsonl", "posts.html", "my-posts.jsonl", ".posts.csv", "posts"]
)
def test_files_called_otherwise_are_not_taken(here: Path, name: str) -> None:
    (here / name).write_text("x")
    with pytest.raises(LinkerError, match="no posts to rank"):
        default_posts(["a.html"])


def test_this_folder_comes_before_data_and_of_several_none_is_taken(here: Path) -> None:
    (here / "data").mkdir()
    (here / "data" / "posts.jsonl").write_text(LINES)
    (here / "posts.csv").write_text("text\nx\n")
    assert default_posts([]) == "posts.csv"
    (here / "posts.jsonl").write_text(LINES)
    with pytest.raises(LinkerError) as caught:
        default_posts(["my page.html"])
    assert str(caught.value).splitlines() == [
        "2 files of posts in this folder; type one of",
        "  linker rank --article 'my page.html' --posts posts.csv",
        "  linker rank --article 'my page.html' --posts posts.jsonl",
    ]
