"""What a release needs: one version number everywhere, a changelog by kind, and a process whose steps exist."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from linker.version import __version__

ROOT = Path(__file__).parents[1]
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    headings = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$", text("CHANGELOG.md"), re.MULTILINE)
    version, day = next(heading for heading in headings if heading[0] != "Unreleased")
    assert version == __version__
    citation = dict(re.findall(r"^([a-z-]+): (\S+)$", text("CITATION.cff"), re.MULTILINE))
    assert citation["version"] == __version__
    assert citation["date-released"] == day
    assert date.fromisoformat(day).year >= 2026


def test_the_publish_workflow_reads_the_same_two_places() -> None:
    workflow = text(".github/workflows/publish.yml")
    assert re.findall(r"sed -n '.*?' (\S+?)[)| ]", workflow) == ["linker/version.py", "CHANGELOG.md"]
    assert re.search(r'^__version__ = "(.*)"$', text("linker/version.py"), re.MULTILINE)


def test_changes_are_listed_by_kind() -> None:
    sections = re.split(r"^## ", text("CHANGELOG.md"), flags=re.MULTILINE)[1:]
    assert sections
    for section in sections:
        kinds = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert set(kinds) <= set(KINDS)
        assert len(kinds) == len(set(kinds))


def test_the_release_process_names_targets_that_exist() -> None:
    process = text("RELEASE_PROCESS.md")
    targets = set(re.findall(r"`make ([a-z-]+)`", process))
    assert len(targets) > 3
    for target in targets:
        assert re.search(rf"^{target}:", text("Makefile"), re.MULTILINE), target


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_issue_templates_are_forms(path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.stem == "config":
        assert form == {"blank_issues_enabled": False}
        return
    assert set(form) == {"name", "description", "labels", "body"}
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    assert all(field["type"] == "textarea" and field["attributes"]["label"] for field in form["body"])
