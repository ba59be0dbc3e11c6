"""What linker says of a file adds up: records = posts + left out + bad, in one line, for every format."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linker.data.io.records import read_posts
from tests.joints.test_one_identity import WRITERS

ROWS = [{"id": f"k{number}", "text": f"ferry number {number}"} for number in range(6)]
#: Two repeats and a record without text, among six posts.
FAULTY = [*ROWS[:3], ROWS[0], {"id": "k9", "text": ""}, *ROWS[3:], ROWS[5]]


def said(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    capsys.readouterr()
    posts = read_posts(str(path), on_error="skip")
    lines = capsys.readouterr().err.splitlines()
    return len(posts), [line.split(": ", 1)[1] for line in lines if line.startswith(str(path))]


@pytest.mark.parametrize("name", WRITERS)
def test_posts_left_out_and_bad_ones_are_all_records(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    WRITERS[name](tmp_path / f"p.{name}", FAULTY)
    read, lines = said(tmp_path / f"p.{name}", capsys)
    assert read == 6
    assert "6 posts of 9 rows; 2 duplicates left out, 1 bad line" in lines
    errors = (tmp_path / f"p.{name}.errors.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(errors) == 1
    # A file without faults needs no numbers.
    WRITERS[name](tmp_path / f"p.{name}", ROWS)
    read, lines = said(tmp_path / f"p.{name}", capsys)
    assert read == 6
    assert not [line for line in lines if re.search(r"left out|bad| of ", line)]
