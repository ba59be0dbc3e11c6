"""Decision records have a number, a title, a valid status and a line in the index, and their links exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs/decisions"
RECORDS = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
NAME = re.compile(r"(\d{3})-[a-z0-9]+(?:-[a-z0-9]+)*\.md")
LINK = re.compile(r"\[(\d{3})\]\(([^)]+)\)")
DATE = r"(?: \(\d{4}-\d{2}-\d{2}\))?"
# `accepted`, `rejected`, or what replaced the record; then an optional date and one sentence about the scope.
STATUS = re.compile(
    r"Status: (accepted|rejected|(?:accepted; amended|superseded) by (?:\d{3})(?:, \d{3})*)"
    + DATE
    + r"(?:\. .+\.|\.)?"
)
ENTRY = re.compile(r"- \[(\d{3}) (.+)\]\(([^()]+\.md)\): (.+)")


def plain(line: str) -> str:
    """Return the line with links reduced to their text."""
    return LINK.sub(r"\1", line)


def faults(name: str, text: str, names: set[str]) -> list[str]:
    """Return what is wrong with the record in the file of this name, beside records of the other names."""
    named = NAME.fullmatch(name)
    if named is None:
        return [f"{name}: not of the form NNN-subject.md"]
    lines = text.split("\n")
    found = []
    if not re.fullmatch(rf"# {named[1]}: \S.*", lines[0]):
        found.append(f"{name}: the first line is not '# {named[1]}: Title'")
    if len(lines) < 5 or lines[1] or lines[3] or not STATUS.fullmatch(plain(lines[2])):
        found.append(f"{name}: line 3 is not a valid status line between empty lines")
    if re.search(r"\bby \d{3}|, \d{3}", LINK.sub("", lines[2]) if len(lines) > 2 else ""):
        found.append(f"{name}: the status line names a record without a link")
    for number, target in LINK.findall(text):
        if target not in names or not target.startswith(number):
            found.append(f"{name}: [{number}]({target}) is not a record of that number")
        if len(lines) > 2 and f"({target})" in lines[2] and target <= name and " by " in lines[2]:
            found.append(f"{name}: replaced by an earlier record, {target}")
    return found


def index() -> list[tuple[str, str, str, str]]:
    """Return number, title, file and status of each entry of the index."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    return [(m[1], m[2], m[3], m[4]) for line in text.splitlines() if (m := ENTRY.fullmatch(line))]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_record_is_complete(path: Path) -> None:
    assert faults(path.name, path.read_text(encoding="utf-8"), {each.name for each in RECORDS}) == []


def test_numbers_are_unique() -> None:
    numbers = [path.name[:3] for path in RECORDS]
    assert [number for number in sorted(set(numbers)) if numbers.count(number) > 1] == []


def test_index_lists_every_record_once() -> None:
    assert sorted(file for _, _, file, _ in index()) == [path.name for path in RECORDS]


def test_index_agrees_with_the_records() -> None:
    for number, title, file, status in index():
        lines = (FOLDER / file).read_text(encoding="utf-8").split("\n")
        assert lines[0] == f"# {number}: {title}"
        found = STATUS.fullmatch(plain(lines[2]))
        assert found is not None, file
        assert found[1] == status, file


def test_amended_and_superseded_records_are_named_by_what_changed_them() -> None:
    for path in RECORDS:
        status = path.read_text(encoding="utf-8").split("\n")[2]
        for _, target in LINK.findall(status) if " by " in status else []:
            assert path.name in (FOLDER / target).read_text(encoding="utf-8"), (
                f"{target} has no link to {path.name}"
            )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("010-A_title.md", "# 010: A title\n\nStatus: accepted\n\nText."),
        ("010-title.md", "# 011: A title\n\nStatus: accepted\n\nText."),
        ("010-title.md", "# 010\n\nStatus: accepted\n\nText."),
        ("010-title.md", "# 010: A title\n\n**What.** No status.\n\nText."),
        ("010-title.md", "# 010: A title\n\nStatus: in use\n\nText."),
        ("010-title.md", "# 010: A title\n\nStatus: superseded by 020\n\nText."),
        ("010-title.md", "# 010: A title\n\nStatus: superseded by [020](020-missing.md)\n\nText."),
        ("010-title.md", "# 010: A title\n\nStatus: superseded by [005](005-earlier.md)\n\nText."),
        ("010-title.md", "# 010: A title\n\nStatus: accepted\n\nSee [020](021-other.md)."),
    ],
)
def test_faulty_records_are_noticed(name: str, text: str) -> None:
    assert faults(name, text, {"005-earlier.md", "010-title.md", "021-other.md"})


def test_a_correct_record_has_no_faults() -> None:
    text = (
        "# 010: A title\n\nStatus: superseded by [021](021-other.md) (2026-11-22). Except for files.\n\nText."
    )
    assert faults("010-title.md", text, {"010-title.md", "021-other.md"}) == []
