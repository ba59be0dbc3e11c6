"""Pages are written by STYLE.md: the field's terms, American spelling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.prose import british, discouraged, faults, prose_of

ROOT = Path(__file__).parents[2]
# Folders of docs/ that are still to be rewritten.
EXEMPT: tuple[str, ...] = ()
# Without STYLE.md, which lists the discouraged phrases.
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "data/README.md",
    *sorted(
        page for page in ROOT.glob("docs/**/*.md") if not page.relative_to(ROOT).as_posix().startswith(EXEMPT)
    ),
]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_in_the_terms_and_the_spelling_of_the_style_guide(page: Path) -> None:
    assert faults(prose_of(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebooks_are_in_the_terms_and_the_spelling_of_the_style_guide(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    prose = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert faults(prose_of(prose)) == []


def test_the_pages_are_found() -> None:
    assert len(PAGES) > 40
    assert len(NOTEBOOKS) > 5


@pytest.mark.parametrize(
    "text",
    [
        "All are told at once.",
        "made\nanew",
        "The model comes along.",
        "'x' is no label; there is no such folder",
        "Training goes\non.",
        "the curve of finds",
    ],
)
def test_discouraged_phrases_are_found(text: str) -> None:
    assert [*discouraged(text)]


def test_findings_have_the_line_and_a_better_word() -> None:
    assert [*discouraged("one\nis told")] == ["line 2: 'told'; write: reported, shown, logged"]
    assert [*british("a\n\nthe Colour of labelled posts")] == [
        "line 3: 'Colour'; write: color",
        "line 3: 'labelled'; write: labeled",
    ]


def test_plain_english_passes() -> None:
    assert (
        faults("linker finds the posts, and search finds more. Tell apart? Understand: ongoing work.") == []
    )


def test_code_and_addresses_are_not_prose() -> None:
    page = "# T\n\n```\ntold\n```\n\n`said` [link](colour.md) <!-- dear --> https://x.org/colour\n\nis told\n"
    assert faults(prose_of(page)) == ["line 9: 'told'; write: reported, shown, logged"]
    assert prose_of(page).count("\n") == page.count("\n")
