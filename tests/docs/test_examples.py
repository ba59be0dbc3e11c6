"""Examples of README and docs do what the pages show."""

import contextlib
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from linker.config import EXPERIMENT, check, load_config

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\s+```text\n(?P<output>.*?)```", re.DOTALL)
PAGE = ROOT / "docs/guides/python.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def printed_by(code: str, names: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(code, "page", "exec"), names)
    return output.getvalue()


def test_the_first_example_prints_what_the_readme_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    example = EXAMPLE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert example
    texts = example["output"], printed_by(example["code"], {})
    shown, printed = ([line.split("  ", 1) for line in text.splitlines()] for text in texts)
    assert len(shown) == 3
    assert [post for _, post in printed] == [post for _, post in shown]
    # Processors that multiply bfloat16 give slightly different scores.
    expected = [float(score) for score, _ in shown]
    assert [float(score) for score, _ in printed] == pytest.approx(expected, abs=0.5)


def test_every_snippet_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    for name in ("article.html", "posts.jsonl"):
        shutil.copy(ROOT / "data" / name, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert {kind for kind, _ in blocks} == {"python", "text"}
    names: dict[str, Any] = {"__name__": "page"}
    printed, shown = "", 0
    for kind, body in blocks:
        if kind == "python":
            printed = printed_by(body, names)
        else:
            assert [line.rstrip() for line in printed.splitlines()] == body.splitlines()
            shown += 1
    assert shown >= 7
    assert (tmp_path / "ranked.csv").read_text(encoding="utf-8-sig").startswith("rank,score,id,text")


def test_configs_on_pages_are_right_in_any_folder(tmp_path: Path) -> None:
    places = [*(ROOT / "docs/getting-started").glob("*.md"), ROOT / "docs/guides/config.md"]
    pages = "\n".join(page.read_text(encoding="utf-8") for page in places)
    found = re.findall(r"<!-- file: (\S+) -->\n```jsonnet\n(.*?)```", pages, re.DOTALL)
    assert len(found) == 2
    for name, body in found:
        (tmp_path / name).write_text(body, encoding="utf-8")
        assert check(EXPERIMENT, load_config(tmp_path / name)) == []
