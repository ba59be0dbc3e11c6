"""`linker rank --article URL`, exactly so: where the posts come from when nobody named them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import linker.cli.default_posts
from linker.cli.default_posts import default_posts
from linker.cli.main import main
from linker.common.errors import LinkerError
from tests.helpers.article_pages import ARTICLE_HTML, serving
from tests.helpers.forked import run_linker

TITLE = "Otters return to the Brell after forty years"
POSTS = [
    "two otters on the river Brell!",
    "what a goal, that striker",
    "my dog met the otters below the weir",
]
LINES = "".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(POSTS))
Rank = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A page on loopback."""
    with serving() as site:
        yield site.on("/otters", ARTICLE_HTML)


@pytest.fixture
def rank(tmp_path: Path, url: str) -> Rank:
    """Runs `linker rank --article URL` in an empty folder, through a shell."""

    def run(
        shell: str = "linker rank --article URL < /dev/null", **options: Any
    ) -> subprocess.CompletedProcess[str]:
        command = shell.replace("linker", f"'{sys.executable}' -m linker.cli.main").replace("URL", url)
        root = str(Path(linker.cli.default_posts.__file__).parents[2])
        environment = {**os.environ, "PYTHONPATH": root, "NO_COLOR": "1"}
        return subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            **options,
        )

    return run


def best(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[2]


def test_posts_in_this_folder(rank: Rank, tmp_path: Path, url: str) -> None:
    (tmp_path / "posts.jsonl").write_text(LINES)
    done = rank("linker rank --article URL")
    assert "otters" in best(done)
    first, second = done.stderr.splitlines()[1:3]
    assert first == f'article: "{TITLE}", 139 words, 2021-05-14, {url}'
    assert second == "posts: posts.jsonl (default; for others give --posts FILE)"


def test_piped_posts(rank: Rank, tmp_path: Path) -> None:
    (tmp_path / "tweets.jsonl").write_text(LINES)
    done = rank("cat tweets.jsonl | linker rank --article URL")
    assert "otters" in best(done)
    assert "posts: standard input (default; for others give --posts FILE)" in done.stderr.splitlines()


@pytest.mark.parametrize("end", ["< /dev/null", "<&-", "< empty"])
def test_no_posts_at_all(rank: Rank, tmp_path: Path, url: str, end: str) -> None:
    (tmp_path / "empty").write_text("")
    done = rank(f"linker rank --article URL {end}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("fetching the article ...\nerror: no posts to rank: ")
    assert f"\n  linker rank --article {url} --posts FILE\n" in done.stderr
    assert "Traceback" not in done.stderr


# In this process, for speed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, with nothing on standard input."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)
    return tmp_path


def a_corpus(folder: Path, model: str = "m") -> None:
    (folder / "posts.lance").mkdir(parents=True)
    (folder / "corpus.json").write_text(json.dumps({"model": model}))


@pytest.mark.parametrize("name", ["posts.csv", "posts.jsonl.gz", "posts.txt", "POSTS.TSV", "posts.parquet"])
@pytest.mark.parametrize("below", [".", "data"])
def test_files_called_posts(folder: Path, name: str, below: str) -> None:
    path = folder / below / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(b"x"))
    found = default_posts(["a.html"])
    assert (found.corpus, found.files) == (None, [str(Path(below, name))])
    assert str(Path(below, name)) in found.note


@pytest.mark.parametrize(
    "name", ["posts.errors.jsonl", "posts.html", "my-posts.jsonl", ".posts.csv", "posts"]
)
def test_files_called_otherwise_are_not_taken(folder: Path, name: str) -> None:
    (folder / name).write_text("x")
    with pytest.raises(LinkerError, match="no posts to rank"):
        default_posts(["a.html"])


def test_a_corpus_comes_before_files_and_this_folder_before_data(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "posts.jsonl").write_text(LINES)
    assert default_posts([]).files == ["data/posts.jsonl"]
    (folder / "posts.csv").write_text("text\nx\n")
    assert default_posts([]).files == ["posts.csv"]
    a_corpus(folder / "tweets")
    found = default_posts([])
    assert (found.corpus, found.files) == (Path("tweets"), [])
    assert found.note == "posts: tweets, a corpus in this folder (default; for others give --posts FILE)"
    assert default_posts([], corpora=False).files == ["posts.csv"]


def test_this_folder_may_be_the_corpus(folder: Path) -> None:
    a_corpus(folder)
    assert default_posts([]).corpus == Path(".")


def test_a_file_that_is_only_called_like_the_note_of_a_corpus(folder: Path) -> None:
    (folder / "corpus.json").write_text("[]")
    with pytest.raises(LinkerError, match="no posts to rank"):
        default_posts([])


def test_several_candidates_are_listed_and_none_is_taken(folder: Path) -> None:
    (folder / "posts.csv").write_text("text\nx\n")
    (folder / "posts.jsonl").write_text(LINES)
    with pytest.raises(LinkerError) as caught:
        default_posts(["my page.html"])
    assert str(caught.value).splitlines() == [
        "2 files of posts in this folder; type one of",
        "  linker rank --article 'my page.html' --posts posts.csv",
        "  linker rank --article 'my page.html' --posts posts.jsonl",
    ]
    a_corpus(folder / "one")
    a_corpus(folder / "two")
    with pytest.raises(
        LinkerError,
        match=r"2 corpora in this folder(.|\n)*search one --article a.html\n(.|\n)*search two ",
    ):
        default_posts(["a.html"])


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """Pipe something in."""
    read, write = os.pipe()
    os.write(write, content)
    os.close(write)
    monkeypatch.setattr("sys.stdin", os.fdopen(read, "r"))


def test_standard_input_with_the_article_on_it_holds_no_posts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped(monkeypatch, b"Otters return")
    with pytest.raises(LinkerError, match="no posts to rank"):
        default_posts(["-"])


def test_a_stub_is_refused_with_exit_code_2_unless_forced(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "posts.jsonl").write_text(LINES)
    (folder / "page.html").write_text("<html><body><p>Otters return.</p></body></html>")
    for force, code in (((), 2), (("--force",), 0)):
        monkeypatch.setattr(
            "sys.argv", ["linker", "rank", "--article", "page.html", "--model", "bm25", *force]
        )
        with pytest.raises(SystemExit) as ended:
            main()
        assert int(ended.value.code or 0) == code
        err = capsys.readouterr().err
        assert ("add --force" in err) == (code == 2)


def test_a_corpus_in_this_folder(rank: Rank, tmp_path: Path) -> None:
    pytest.importorskip("lance")
    (tmp_path / "tweets.jsonl").write_text(LINES)
    built = run_linker(
        tmp_path, *["corpus", "build", "tweets.jsonl", "--out", "tweets", "--model", "distilled"]
    )
    assert built.returncode == 0, built.stderr
    done = rank("linker rank --article URL")
    assert "otters" in best(done)
    assert "posts: tweets, a corpus in this folder (default; for others give --posts FILE)" in done.stderr
