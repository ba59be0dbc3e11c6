"""All pages on corpora by one command: each measurement is given the options that it has."""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpus import pages

pytest.importorskip("lance", reason="the extra corpus")


class UnderstoodError(Exception):
    """Ends a module once its command line was understood."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for name in {*pages.POSTS_FROM, *pages.ARTICLES_FROM}:
        (folder / name).mkdir(parents=True)
        for kind in ("articles", "posts"):
            with gzip.open(folder / name / f"{kind}.jsonl.gz", "wt", encoding="utf-8") as file:
                for number in range(3):
                    row = {
                        "id": f"{name}{number}",
                        "article_id": f"{name}{number}",
                        "text": "a wolf " * number,
                    }
                    file.write(json.dumps(row) + "\n")
    return folder


def test_every_command_is_understood(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    understood = argparse.ArgumentParser.parse_args

    def parse(self: argparse.ArgumentParser, *given: Any) -> argparse.Namespace:
        understood(self, *given)
        raise UnderstoodError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse)
    monkeypatch.setattr(pages, "files_of_workers", lambda *_: ["posts-00.jsonl.gz"])
    work = tmp_path / "work"
    work.mkdir()
    modules = []
    for name, *arguments in pages.commands(data, work, [1_000, 20_000], minutes=0.5):
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        folder = Path(pages.ROOT, *name.split("."))
        module = importlib.import_module(f"{name}.__main__" if folder.is_dir() else name)
        with pytest.raises(UnderstoodError):
            module.main()
        modules.append(name)
    assert len(modules) == len(set(modules)) == 4
    articles = [
        json.loads(line) for line in (work / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [article["text"] for article in articles] == 2 * ["a wolf ", "a wolf a wolf "]  # none without text


def test_files_of_workers_share_the_posts_and_are_made_once(data: Path, tmp_path: Path) -> None:
    sets = [data / name for name in pages.POSTS_FROM]
    files = pages.files_of_workers(sets, tmp_path / "posts", 64)
    posts = []
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            posts.append([json.loads(line)["id"] for line in file])
    assert [len(ids) for ids in posts] == 16 * [4]
    assert len({one for ids in posts for one in ids}) == 64
    before = [Path(path).stat().st_mtime_ns for path in files]
    assert pages.files_of_workers(sets, tmp_path / "posts", 64) == files
    assert [Path(path).stat().st_mtime_ns for path in files] == before
