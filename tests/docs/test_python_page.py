"""Every snippet of docs/guides/python.md, in order; a block of text after one is what it prints."""

import contextlib
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/guides/python.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_every_snippet_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    for name in ("article.html", "posts.jsonl"):
        shutil.copy(ROOT / "data" / name, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert {kind for kind, _ in blocks} == {"python", "text"}
    names: dict[str, Any] = {"__name__": "page"}
    printed = ""
    shown = 0
    for kind, body in blocks:
        if kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(body, str(PAGE), "exec"), names)
            printed = output.getvalue()
        else:
            assert [line.rstrip() for line in printed.splitlines()] == body.splitlines()
            shown += 1
    assert shown >= 7
    assert (tmp_path / "ranked.csv").read_text(encoding="utf-8-sig").startswith("rank,score,id,text")
