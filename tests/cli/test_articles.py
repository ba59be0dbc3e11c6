"""What command lines say about the articles that they read."""

import json
from pathlib import Path

import pytest

from linker.cli.inputs import ArticleSources, check_files
from linker.common.errors import Faults, LinkerError

SHORT = "<html><head><title>Notice</title></head><body><p>The keepers meet at noon.</p></body></html>"


def test_one_line_per_article(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.txt").write_text("Bridge closed\n\nThe council closed it.")
    (here / "b.json").write_text(
        '{"title": "A\\u001b[2J\\nB", "text": "x y", "published": "2031-05-14T08:00:00Z"}'
    )
    ArticleSources(["a.txt", "b.json", "otters return", "a.txt"]).load()
    assert capsys.readouterr().err.splitlines() == [
        'article: "Bridge closed", 6 words, no date, a.txt',
        'article: "A?[2J B", 4 words, 2031-05-14, b.json',  # no escape sequence reaches the terminal
        'article: "otters return", 2 words, no date, text on the command line',
    ]


def test_many_articles_are_summed_up(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "many.json").write_text(json.dumps([{"title": f"T{n}", "text": "x"} for n in range(1012)]))
    assert len(ArticleSources(["many.json"]).load()) == 1012
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "and 1,002 more articles from many.json"


def test_a_folder_says_how_many_were_read_and_which_were_not(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "stories").mkdir()
    (here / "stories" / "a.txt").write_text("Bridge closed")
    (here / "stories" / "b.html").write_text(SHORT)
    (article,) = ArticleSources(["stories"]).load()
    assert article.text == "Bridge closed"
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "stories: 1 article in this folder, 1 could not be read"
    assert lines[1].startswith("skipped: stories/b.html: only 5 words were found")
    assert lines[2:] == ['article: "Bridge closed", 2 words, no date, stories/a.txt']
    assert len(ArticleSources(["stories"], force=True).load()) == 2


def test_articles_have_ids_of_their_own(here: Path) -> None:
    for name in ("x", "y"):
        (here / name).mkdir()
        (here / name / "a.txt").write_text(f"story {name}")
    articles = ArticleSources(["x/a.txt", "y/a.txt", "first text", "second text"]).load()
    assert [one.id for one in articles] == ["a.txt", "a.txt-2", "text", "text-2"]


def test_everything_that_is_wrong_is_reported_at_once(here: Path) -> None:
    (here / "stub.html").write_text(SHORT)
    (here / "good.txt").write_text("Bridge closed")
    faults = Faults()
    check_files(["none.html"], ["a.csv", "b.csv"], here, faults)
    with pytest.raises(LinkerError) as caught:
        ArticleSources(["none.html", "good.txt", "stub.html", "ftp://x/y"]).load(faults)
    head, *lines = str(caught.value).splitlines()
    assert head == "6 problems:"
    starts = [
        "a.csv: file not found",
        "b.csv: file not found",
        f"{here}: is a folder",
        "none.html: file not found",
        "stub.html: only",
    ]
    for line, start in zip(lines, [*starts, "ftp://x/y: ftp addresses"], strict=True):
        assert line.startswith(f"  {start}")
    assert "add --force" in lines[4]


def test_what_is_not_a_linker_error_passes_through() -> None:
    faults = Faults()
    with pytest.raises(ZeroDivisionError), faults:
        1 / 0  # noqa: B018
    faults.raise_if_any()
