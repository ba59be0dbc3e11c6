"""`linker mine` as a user types it."""

import json
import re
import sys
from functools import partial
from pathlib import Path

import pytest

from linker.cli.main import main
from linker.common.errors import LinkerError
from linker.contrib.mine import app
from tests.helpers.cli import invoke
from tests.helpers.tweets import read_pairs, v1, write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    objects = [v1(100 * n + i, quotes=v1(n), replies_to=n) for n in range(1, 9) for i in range(1, 7)]
    write(tmp_path / "tweets" / "a.json.bz2", [*objects, *(v1(n) for n in range(1, 9)), b"{broken"])
    return tmp_path


run = partial(invoke, app)


@pytest.mark.parametrize("way", ["quotes", "replies", "coquotes", "coreplies"])
def test_each_way(folder: Path, way: str) -> None:
    assert run(way, "tweets", "--out", "pairs.jsonl.gz", "--workers", "1").strip().endswith("pairs.jsonl.gz")
    assert len(read_pairs(folder / "pairs.jsonl.gz")) == 8
    assert sorted(path.name for path in folder.iterdir()) == ["pairs.jsonl.gz", "pairs.report.json", "tweets"]


def test_the_table_on_standard_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["linker", "mine", "quotes", "tweets", "--out", "p.jsonl", "--workers", "1"]
    )
    with pytest.raises(SystemExit):
        main()
    captured = capsys.readouterr()
    assert captured.out == "p.jsonl\n"
    rows = [re.split(r"\s{2,}", line.strip()) for line in captured.err.splitlines()]
    table = {row[0]: row[1:] for row in rows}
    assert table["lines read"] == ["57"]
    assert table["broken JSON"] == ["1", "1.8%"]
    assert table["surplus of the same tweet"] == ["40", "83.3%"]


def test_options_are_heeded(folder: Path) -> None:
    common = ["quotes", "tweets/a.json.bz2", "--out", "pairs.jsonl", "--workers", "1"]
    run(*common, "--max-pairs", "3")
    assert len(read_pairs(folder / "pairs.jsonl")) == 3
    assert json.loads((folder / "pairs.report.json").read_text())["settings"] == {
        "kind": "quotes",
        "min_length": 20,
        "languages": ["en"],
        "max_pairs": 3,
    }
    run(*common, "--lang", "fr")
    assert read_pairs(folder / "pairs.jsonl") == []
    run(*common, "--lang", "fr", "--lang", "en")
    assert len(read_pairs(folder / "pairs.jsonl")) == 8
    run(*common, "--lang", "any", "--min-length", "60")
    assert read_pairs(folder / "pairs.jsonl") == []


def test_benchmarks(folder: Path) -> None:
    run("quotes", "tweets", "--out", "train.jsonl.gz", "--workers", "1")
    run(
        *("benchmarks", "tweets", "--out", "sets", "--train", "train.jsonl.gz", "--queries", "6"),
        *("--workers", "1"),
    )
    assert sorted(path.name for path in (folder / "sets").iterdir()) == [
        *("benchmarks.report.json", "cq.jsonl.gz", "cr.jsonl.gz", "dq.jsonl.gz", "dr.jsonl.gz", "train")
    ]
    kept = read_pairs(folder / "sets" / "train" / "train.jsonl.gz")
    queries = {query["query_id"] for query in read_pairs(folder / "sets" / "dq.jsonl.gz")}
    assert len(queries) == 6
    assert kept
    assert not queries & {pair["parent_id"] for pair in kept}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["quotes", "nowhere", "--out", "p.jsonl"], "nowhere: file not found"),
        (["quotes", "tweets", "--out", "tweets/p.jsonl"], "among the archives"),
        (["quotes", "tweets", "--out", "tweets"], "is a folder"),
        (["quotes", "tweets/a.json.bz2", "--out", "tweets/a.json.bz2"], "would overwrite an input"),
        (["quotes", "tweets", "--out", "p.jsonl", "--lang", "any", "--lang", "en"], "--lang any"),
        (["benchmarks", "tweets", "--out", "tweets/a.json.bz2"], "is a file"),
        (["benchmarks", "tweets", "--out", "s", "--train", "no.jsonl"], r"no\.jsonl: file not found"),
        (["benchmarks", "tweets", "--out", "s", "--min-length", "60"], "no reranking set can be made"),
    ],
)
def test_wrong_input_is_reported_before_any_file_is_written(
    folder: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(LinkerError, match=message):
        run(*arguments)
    assert not [*folder.glob("p.jsonl"), *folder.glob("s/*.gz")]
