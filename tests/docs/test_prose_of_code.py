"""Docstrings, comments and messages are written by STYLE.md: the field's terms, American spelling."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.prose import faults, prose_of

ROOT = Path(__file__).parents[2]
#: Strings that are data: words of other people's texts and columns.
DATA = {
    "articles/incomplete_pages.py": ("CONSENT",),
    "data/io/known_columns.py": ("KNOWN_NAMES", "TITLES", "FULLER"),
    "models/lexical.py": ("ENGLISH",),
    "ranking/words.py": ("_COMMON",),
}
FILES = sorted((ROOT / "linker").rglob("*.py"))
CPP = sorted((ROOT / "linker").rglob("cpp/*"))


def prose(source: str, data: tuple[str, ...] = ()) -> Iterator[tuple[int, str]]:
    """Yield the docstrings, comments and strings of a program, with their first lines; `data` is left out."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: ")
    tree = ast.parse(source)
    skipped = {
        id(node)
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        and {target.id for target in _targets(statement) if isinstance(target, ast.Name)} & set(data)
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
            yield node.lineno, "".join(map(str, parts))
            skipped.update(map(id, node.values))
        elif isinstance(node, ast.Constant) and id(node) not in skipped and " " in str(node.value):
            yield node.lineno, str(node.value)  # without a space it would be a name or a key


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def faults_of(source: str, data: tuple[str, ...] = ()) -> list[str]:
    """Return the findings in a program, each with the line where its docstring, comment or string begins."""
    return [f"line {line}: {fault}" for line, text in prose(source, data) for fault in faults(prose_of(text))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_is_in_the_terms_and_the_spelling_of_the_style_guide(path: Path) -> None:
    data = DATA.get(path.relative_to(ROOT / "linker").as_posix(), ())
    assert faults_of(path.read_text(encoding="utf-8"), data) == []


@pytest.mark.parametrize("path", CPP, ids=lambda path: path.name)
def test_comments_of_the_kernels_are_in_the_spelling_of_the_style_guide(path: Path) -> None:
    comments = [line.partition("//")[2] for line in path.read_text(encoding="utf-8").split("\n")]
    assert faults("\n".join(comments)) == []


def test_all_files_are_found() -> None:
    assert len(FILES) > 200
    assert len(CPP) >= 7
    assert all((ROOT / "linker" / name).is_file() for name in DATA)


@pytest.mark.parametrize(
    "source",
    [
        '"""All are told at once."""',
        "x = 1  # made anew",
        'def f():\n    raise ValueError(f"{x}: there is no such folder")',
        'help = "the colour of the line"',
    ],
)
def test_discouraged_phrases_are_found_in_docstrings_comments_and_strings(source: str) -> None:
    assert len(faults_of(source)) >= 1


def test_names_quoted_code_and_data_are_left_out() -> None:
    assert faults_of('told = {"said": 1}\nx = f"use `told anew`"\n') == []
    assert faults_of('WORDS = "said told anew"', ("WORDS",)) == []
