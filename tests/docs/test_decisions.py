"""Decision records are short, numbered, and in the index once."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs/decisions"
RECORDS = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("[0-9]*.md"))}
LONGEST = 250


def test_records_have_a_number_a_title_and_at_most_250_words() -> None:
    for name, text in RECORDS.items():
        assert re.fullmatch(r"\d{3}(-[a-z0-9]+)+\.md", name)
        assert re.match(rf"# {name[:3]}: \S", text), name
        assert len(text.split()) <= LONGEST, name
    numbers = [name[:3] for name in RECORDS]
    assert len(numbers) == len(set(numbers))


def test_the_index_lists_every_record_once_by_its_title() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    entries = re.findall(r"^- \[(.+)\]\(([^()]+\.md)\)$", index, re.MULTILINE)
    titles = [
        (text.split("\n")[0].removeprefix("# ").replace(": ", " ", 1), name) for name, text in RECORDS.items()
    ]
    assert sorted(entries) == sorted(titles)
