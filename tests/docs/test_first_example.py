"""The first Python example of the README prints what the README shows."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\s+```text\n(?P<output>.*?)```", re.DOTALL)


def test_the_first_example_prints_what_the_readme_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    example = EXAMPLE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert example
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(example["code"], "README.md", "exec"), {})
    shown, printed = (
        [line.split("  ", 1) for line in text.splitlines()] for text in (example["output"], output.getvalue())
    )
    assert len(shown) == 3
    assert [post for _, post in printed] == [post for _, post in shown]
    # Processors that multiply bfloat16 give slightly different scores.
    assert [float(score) for score, _ in printed] == pytest.approx(
        [float(score) for score, _ in shown], abs=0.5
    )
